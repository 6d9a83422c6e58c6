/** The public declarations of the library and of the client: every exported name, with its members and docstrings, read from their .d.ts. */
import { readdirSync, readFileSync } from 'node:fs';
import swc from '@swc/core';

const ROOT = new URL('..', import.meta.url);

/** A parsed docstring. */
export interface Doc {
  readonly text: string;
  readonly params: ReadonlyMap<string, string>;
  readonly returns: string | undefined;
  readonly throws: readonly string[];
  readonly see: readonly string[];
  readonly examples: readonly string[];
}

/** A field or method of an interface or class. */
export interface Member {
  readonly name: string;
  readonly kind: 'field' | 'method' | 'getter' | 'constructor';
  readonly isOptional: boolean;
  /** Of a field or getter. */
  readonly type: string;
  /** Of a method or constructor: the declaration in one line. */
  readonly signature: string;
  readonly params: readonly string[];
  readonly paramTypes: readonly string[];
  readonly doc: Doc | undefined;
  /** The fields of an object type that has no name. */
  readonly members: readonly Member[];
}

/** A name that the package exports. */
export interface PublicName {
  readonly name: string;
  readonly kind: 'function' | 'class' | 'interface' | 'type' | 'value';
  /** The entry of the package that exports it. */
  readonly entry: string;
  /** The path of the file that declares it: in src/, or from the root for a name of the client. */
  readonly source: string;
  /** The declaration, with the docstrings inside it. */
  readonly code: string;
  readonly doc: Doc | undefined;
  readonly params: readonly string[];
  readonly paramTypes: readonly string[];
  /** For classes and interfaces, including inherited members; for other types, the members of their object types. */
  readonly members: readonly Member[];
  /** For unions of events, the members of each event. */
  readonly events: readonly (readonly Member[])[];
}

/** A node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly span: { readonly start: number; readonly end: number };
  // biome-ignore lint/suspicious/noExplicitAny: the fields of a node depend on its type
  readonly [field: string]: any;
}

interface Declaration {
  readonly node: Node;
  readonly doc: Doc | undefined;
}

/** A flat file of declarations, or several that are read as one. */
class DeclarationFile {
  readonly declarations: Map<string, Declaration> = new Map();
  readonly exported: Set<string> = new Set();
  private readonly bytes: Buffer;
  private readonly offset: number;

  constructor(...paths: string[]) {
    const texts = paths.map((path) => readFileSync(new URL(path, ROOT), 'utf8'));
    // The spans of syntax nodes count bytes from the end of an earlier parse: the semicolon marks the start.
    this.bytes = Buffer.from(`;${texts.join('\n')}`);
    const { body, span } = swc.parseSync(this.bytes.toString(), { syntax: 'typescript' });
    this.offset = span.start;
    let end = span.start;
    for (const statement of body as unknown as Node[]) {
      const node: Node = statement.declaration ?? statement;
      const name: string | undefined = (node.identifier ?? node.id ?? node.declarations?.[0].id)?.value;
      if (node.type === 'ExportNamedDeclaration') {
        for (const { orig, exported } of node.specifiers) this.exported.add((exported ?? orig).value);
      } else if (name !== undefined) {
        if (statement.declaration !== undefined) this.exported.add(name);
        this.declarations.set(name, { node, doc: this.docBetween(end, node.span.start) });
      }
      end = statement.span.end;
    }
  }

  textOf({ span }: Node): string {
    return this.slice(span.start, span.end);
  }

  /** The members of a class body, an interface or an object type. */
  membersOf(body: readonly Node[], start: number): Member[] {
    const members: Member[] = [];
    let end = start;
    for (const node of body) {
      const doc = this.docBetween(end, node.span.start);
      end = node.span.end;
      const name = node.key?.type === 'Computed' ? this.textOf(node.key) : (node.key?.value ?? 'constructor');
      const isHidden = /^(?:private|protected)$/.test(node.accessibility) || node.type === 'PrivateProperty';
      if (isHidden || node.isStatic || node.type === 'TsIndexSignature') continue;
      const signature = withoutComments(this.textOf(node)).replace(/\s+/g, ' ').replace(/;$/, '');
      const callable = node.function ?? node;
      const kind = /^Constructor$/.test(node.type)
        ? 'constructor'
        : node.kind === 'getter'
          ? 'getter'
          : callable.params !== undefined
            ? 'method'
            : 'field';
      const annotation: Node | undefined =
        kind === 'getter' ? node.function.returnType.typeAnnotation : node.typeAnnotation?.typeAnnotation;
      members.push({
        name,
        kind,
        isOptional: node.optional === true,
        type: annotation === undefined ? '' : resolved(this, oneLine(this.textOf(annotation))),
        signature,
        params: (callable.params ?? []).map(nameOfParameter),
        paramTypes: (callable.params ?? []).map((parameter: Node) => typeOfParameter(this, parameter)),
        doc,
        members: kind === 'field' ? this.membersIn(annotation!, true) : [],
      });
    }
    return members;
  }

  /**
   * The members of all object types in a type.
   * @param isField - whether it is the type of a field, in which `Omit` and `Pick` stay as they are
   */
  membersIn(type: Node, isField = false): Member[] {
    if (type.type === 'TsTypeLiteral') return this.membersOf(type.members, type.span.start);
    if (type.type === 'TsParenthesizedType') return this.membersIn(type.typeAnnotation, isField);
    if (type.typeName !== undefined && !isField) {
      const { value } = type.typeName;
      return value === 'Omit' || value === 'Pick' ? this.membersNamed(value, type.typeParams.params) : [];
    }
    const parts: Node[] = /^Ts(Union|Intersection)Type$/.test(type.type) ? type.types : [];
    return parts.flatMap((part) => this.membersIn(part, isField));
  }

  /** The members of a type that is named, also as a part of another one. */
  membersNamed(name: string, types: readonly Node[]): Member[] {
    const [of, keys] = types;
    if (name === 'Omit' || name === 'Pick') {
      const names: string[] = this.textOf(keys!).match(/\w+(?=')/g) ?? [];
      const all = this.membersNamed(of!.typeName?.value, of!.typeParams?.params ?? []);
      return all.filter((member) => names.includes(member.name) === (name === 'Pick'));
    }
    if (name === 'Told') return this.eventsOf('LinkEvent').find((event) => isEvent(event, this.textOf(of!)))!;
    const node = this.declarations.get(name)?.node;
    return node === undefined ? [] : allMembers(this, node);
  }

  /** The events of a union, each with its members. */
  eventsOf(union: string): Member[][] {
    const { typeAnnotation } = this.declarations.get(union)!.node;
    return (typeAnnotation.types as Node[]).map((type) =>
      type.typeName === undefined ? this.membersIn(type) : this.membersNamed(type.typeName.value, []),
    );
  }

  private slice(from: number, to: number): string {
    return this.bytes.subarray(from - this.offset, to - this.offset).toString();
  }

  private docBetween(from: number, to: number): Doc | undefined {
    const comments = this.slice(from, to).match(/\/\*\*[\s\S]*?\*\//g);
    return comments === null ? undefined : parseDoc(comments[comments.length - 1]!);
  }
}

function isEvent(members: readonly Member[], type: string): boolean {
  return members.some((member) => member.name === 'type' && member.type === type);
}

function nameOfParameter(parameter: Node): string {
  const pattern: Node = parameter.pat ?? parameter;
  return pattern.value ?? `...${pattern.argument.value}`;
}

function typeOfParameter(file: DeclarationFile, parameter: Node): string {
  const { typeAnnotation, argument }: Node = parameter.pat ?? parameter;
  return oneLine(file.textOf((typeAnnotation ?? argument.typeAnnotation).typeAnnotation));
}

/** The type parameters of a class by name, with the types that a subclass gives them. */
function substituted(member: Member, types: ReadonlyMap<string, string>): Member {
  const substitute = (text: string): string =>
    text
      .replace(/\b[A-Z]\w*\b/g, (name) => types.get(name) ?? name)
      .replace(/\((\w+) \| CommonEvent\)\[\]/g, '$1[]');
  return { ...member, type: substitute(member.type), signature: substitute(member.signature) };
}

/** Own members, then inherited members that are not redeclared. */
function allMembers(file: DeclarationFile, node: Node): Member[] {
  if (node.type === 'TsTypeAliasDeclaration') return file.membersIn(node.typeAnnotation);
  const isClass = node.type === 'ClassDeclaration';
  const own = isClass
    ? file.membersOf(node.body, node.identifier.span.end)
    : file.membersOf(node.body.body, node.body.span.start);
  const parents: { name: string; types: readonly Node[] }[] = isClass
    ? node.superClass
      ? [{ name: node.superClass.value, types: node.superTypeParams?.params ?? [] }]
      : []
    : node.extends.map(({ expression, typeArguments }: Node) => ({
        name: expression.value,
        types: typeArguments?.params ?? [],
      }));
  for (const { name, types } of parents) {
    const names: Node[] = file.declarations.get(name)?.node.typeParams?.parameters ?? [];
    const given = new Map(names.map(({ name }, i) => [name.value as string, file.textOf(types[i]!)]));
    for (const member of file.membersNamed(name, types)) {
      if (!own.some((one) => one.name === member.name)) own.push(substituted(member, given));
    }
  }
  return own;
}

const KINDS: { readonly [type: string]: PublicName['kind'] } = {
  FunctionDeclaration: 'function',
  ClassDeclaration: 'class',
  TsInterfaceDeclaration: 'interface',
  TsTypeAliasDeclaration: 'type',
  VariableDeclaration: 'value',
};

function publicName(file: DeclarationFile, name: string, entry: string, source: string): PublicName {
  const { node, doc } = file.declarations.get(name)!;
  const kind = KINDS[node.type]!;
  const hasMembers = kind !== 'function' && kind !== 'value';
  // The comment at the head of a file is not the docstring of its first declaration.
  const [head] = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(new URL(pathOf(source), ROOT), 'utf8')) ?? [''];
  return {
    name,
    kind,
    entry,
    source,
    code: resolved(file, file.textOf(node).replace(/^declare /, '')),
    doc: doc?.text === parseDoc(head).text ? undefined : doc,
    params: (node.params ?? []).map(nameOfParameter),
    paramTypes: (node.params ?? []).map((parameter: Node) => typeOfParameter(file, parameter)),
    members: hasMembers ? allMembers(file, node) : [],
    events: name === 'ClientEvent' ? file.eventsOf(name) : [],
  };
}

/** The path of the file that declares a name, from the root. */
export function pathOf(source: string): string {
  return source.startsWith('client/') ? source : `src/${source}`;
}

/** A type without names unknown to users: tables become the names in them, and unions their members. */
function resolved(file: DeclarationFile, code: string): string {
  const named = code.replace(/\b[A-Z]\w+\b/g, (name) => {
    const node = file.exported.has(name) ? undefined : file.declarations.get(name)?.node;
    const types: Node[] = node?.typeAnnotation?.types ?? [];
    const words = types.map((type) =>
      type.type === 'TsTypeReference' ? resolved(file, file.textOf(type)) : file.textOf(type),
    );
    return words.length > 0 && words.every((word) => word.startsWith("'")) ? words.join(' | ') : name;
  });
  return named.replace(/keyof typeof (\w+);/, (_, table: string) => {
    const { members } = file.declarations.get(table)!.node.declarations[0].id.typeAnnotation.typeAnnotation;
    return `${members.map(({ key }: Node) => `'${key.value}'`).join(' | ')};`;
  });
}

/** The fields and methods in a file of declarations, without those that are private, and the words of its string types. */
export function fieldsIn(path: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: Node): void => {
    if (typeof node !== 'object' || node === null || node.accessibility === 'private') return;
    if (typeof node.key?.value === 'string') names.add(node.key.value);
    if (node.type === 'StringLiteral') names.add(node.value);
    Object.values(node).forEach(visit);
  };
  visit(swc.parseSync(readFileSync(new URL(path, ROOT), 'utf8'), { syntax: 'typescript' }) as never);
  return names;
}

/** Every name that the package exports, in the order of src/index.ts, then the names that only the other entries export. */
export function publicNames(): PublicName[] {
  const types = new DeclarationFile('dist/types.d.ts');
  const names = new Map<string, PublicName>();
  const add = (file: DeclarationFile, name: string, entry: string, source: string): void => {
    if (!names.has(name)) names.set(name, publicName(file, name, entry, source));
  };
  for (const [module, entry] of CORE_ENTRIES) {
    for (const { name, source } of exportsOf(module)) add(types, name, entry, source);
  }
  for (const provider of ['js', 'noble', 'noble-aesgcm', 'node']) {
    const file = new DeclarationFile(`dist/crypto/${provider}.d.ts`);
    for (const name of file.exported) {
      add(file, name, `hub-protocol/${provider}`, `crypto/${provider}.ts`);
    }
  }
  return [...names.values()];
}

/**
 * Every exported name, and behind them the object types that their declarations use and no entry exports, such as the members of a
 * union. The entry of these is empty.
 */
export function documentedNames(): PublicName[] {
  const types = new DeclarationFile('dist/types.d.ts');
  const names = publicNames();
  const known = new Set(names.map(({ name }) => name));
  const sources = sourcesOfTypes();
  for (const { code, members } of names) {
    const used = `${code} ${members.map(({ type, signature }) => `${type} ${signature}`).join(' ')}`;
    for (const [name] of withoutComments(used).matchAll(/\b[A-Z]\w+\b/g)) {
      const [source, node] = [sources.get(name), types.declarations.get(name)?.node];
      if (known.has(name) || source === undefined || node === undefined) continue;
      known.add(name);
      if (KINDS[node.type] !== 'class') names.push(publicName(types, name, '', source));
    }
  }
  return names.filter(({ entry, members, code }) => entry !== '' || members.length > 0 || isUnion(code));
}

/** Whether a declaration is a union of other types. */
function isUnion(code: string): boolean {
  return /^type \w+ =[\s|]*[A-Z]\w+(?:\s*\|\s*[A-Z]\w+)+;/.test(withoutComments(code));
}

/** The file in src/ that declares each exported type. */
function sourcesOfTypes(): Map<string, string> {
  const files = readdirSync(new URL('src/', ROOT), { recursive: true, encoding: 'utf8' });
  return new Map(
    files
      .filter((file) => file.endsWith('.ts') && !file.endsWith('.d.ts'))
      .flatMap((file) => {
        const code = readFileSync(new URL(`src/${file}`, ROOT), 'utf8');
        return [...code.matchAll(/^export (?:interface|type) (\w+)/gm)].map(
          ([, name]) => [name!, file] as const,
        );
      }),
  );
}

/** The entries of the client, with the modules in client/dist/ that declare their names. */
const CLIENT_ENTRIES = [
  ['hub-protocol-client', ['client', 'options', 'keyring-file', 'ws']],
  ['hub-protocol-client/mqtt', ['mqtt']],
  ['hub-protocol-client/https', ['https']],
  ['hub-protocol-client/browser', ['keyring-storage', 'browser']],
  ['hub-protocol-client/react-native', ['keyring-storage', 'react-native']],
  ['hub-protocol-client/hub', ['hub-connection', 'derive-on-node', 'reports', 'hub']],
  ['hub-protocol-client/hub/mqtt', ['mqtt-hub']],
] as const;

/** Every name that the client exports, entry by entry. A function such as `connect` is there once for each entry that declares it. */
export function clientNames(): PublicName[] {
  const shared = ['client', 'options', 'keyring-file', 'hub-connection'];
  const names: PublicName[] = [];
  for (const [entry, modules] of CLIENT_ENTRIES) {
    const read = [...new Set([...shared, ...modules])].map((module) => `client/dist/${module}.d.ts`);
    const file = new DeclarationFile('dist/types.d.ts', ...read);
    const main = modules.at(-1)!;
    for (const module of modules) {
      for (const [declared, name] of namesOf(module, main)) {
        const known = names.find((other) => other.name === name);
        if (known !== undefined && (module !== main || known.kind !== 'function')) continue;
        const symbol = publicName(file, declared, entry, `client/src/${module}.ts`);
        names.push({ ...symbol, name, code: symbol.code.replace(declared, name) });
      }
    }
  }
  return names;
}

/** The names that a module of the client declares, each with the name under which an entry exports it. */
function namesOf(module: string, main: string): (readonly [declared: string, name: string])[] {
  const text = readFileSync(new URL(`client/dist/${module}.d.ts`, ROOT), 'utf8');
  const declared = [...text.matchAll(/^export (?:declare )?(?:function|class|interface|type) (\w+)/gm)];
  const names = declared.map(([, name]) => [name!, name!] as const);
  if (module === main) return names;
  const code = readFileSync(new URL(`client/dist/${main}.d.ts`, ROOT), 'utf8');
  const [, list] = new RegExp(`^export (?:type )?(\\*|\\{.*\\}) from './${module}\\.ts'`, 'm').exec(code)!;
  if (list === '*') return names;
  return names.flatMap(([name]) => {
    const [given, as = name] = new RegExp(`\\b${name}\\b(?: as (\\w+))?`).exec(list!) ?? [];
    return given === undefined ? [] : [[name, as]];
  });
}

/** The modules in src/ that are the entries of the core, with their import names. */
const CORE_ENTRIES = [
  ['index.ts', 'hub-protocol'],
  ['parts.ts', 'hub-protocol/parts'],
  ['recording.ts', 'hub-protocol/recording'],
  ['binary.ts', 'hub-protocol/binary'],
] as const;

/** The names that a module in src/ exports from others, in order, each with the file that declares it. */
export function exportsOf(module: string): { name: string; source: string }[] {
  const code = readFileSync(new URL(`src/${module}`, ROOT), 'utf8');
  return [...code.matchAll(/^export (?:type )?(\{[^}]*\}|\*) from '\.\/(.+)';/gm)].flatMap(
    ([, list, source]) => {
      const names =
        list === '*'
          ? [...readFileSync(new URL(`src/${source}`, ROOT), 'utf8').matchAll(/^export \w+ (\w+)/gm)].map(
              ([, name]) => name!,
            )
          : list!
              .replace(/\btype |[{}\s]/g, '')
              .split(',')
              .filter(Boolean);
      return names.map((name) => ({ name, source: source! }));
    },
  );
}

export function parseDoc(comment: string): Doc {
  const body = comment
    .replace(/^\s*\/\*\*|\*\/\s*$/g, '')
    .replace(/^[ \t]*\* ?/gm, '')
    .trim();
  const [text = '', ...tags] = body.split(/^@(?=\w)/m);
  const params = new Map<string, string>();
  const found: { [tag: string]: string[] } = { returns: [], throws: [], see: [], example: [] };
  for (const each of tags) {
    const [, tag, content] = /^(\w+)\s?([\s\S]*)$/.exec(each.trimEnd())!;
    const [, name, meaning] = /^(\S+) - ([\s\S]*)$/.exec(content!) ?? [];
    if (tag === 'param' && name !== undefined) params.set(name, oneLine(meaning!));
    else if (found[tag!] === undefined) throw new Error(`@${tag} is not a tag that is used here: ${content}`);
    else found[tag!]!.push(tag === 'example' ? content! : oneLine(content!));
  }
  return {
    text: text.trim(),
    params,
    returns: found.returns![0],
    throws: found.throws!,
    see: found.see!,
    examples: found.example!,
  };
}

export function oneLine(text: string): string {
  return withoutComments(text).replace(/\s+/g, ' ').trim();
}

export function withoutComments(code: string): string {
  return code.replace(/\/\*\*[\s\S]*?\*\/\s*/g, '');
}
