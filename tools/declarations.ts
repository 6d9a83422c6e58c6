/**
 * Puts the declarations of a module, and of everything that it names, into one `.d.ts` without imports, to be copied
 * together with a single file.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import swc from '@swc/core';

/** A declaration at the top level of a file, and the names of types and values that it uses. */
interface Declaration {
  readonly file: string;
  readonly name: string;
  readonly text: string;
  readonly uses: ReadonlySet<string>;
}

/** A name in another file. `*` means all its exports. */
interface Foreign {
  readonly file: string;
  readonly name: string;
}

interface DeclarationFile {
  readonly declarations: Map<string, Declaration>;
  readonly imports: Map<string, Foreign>;
  readonly exports: Map<string, Foreign>;
  readonly everythingOf: string[];
}

/** The fields of syntax nodes that name something. */
interface Syntax {
  readonly type?: string;
  readonly value?: string;
  readonly left?: Syntax;
  readonly typeName?: Syntax;
  readonly exprName?: Syntax;
  readonly expression?: Syntax;
  readonly superClass?: Syntax | null;
}

/**
 * @param entry - the path of a `.d.ts` that the compiler wrote
 * @param publicTypes - another `.d.ts`, whose exported types are exported too if the entry uses them
 * @param hasComments - whether docstrings stay
 */
export function flatDeclarations(
  entry: string,
  publicTypes: string = entry,
  hasComments: boolean = true,
): string {
  const files = new Map<string, DeclarationFile>();
  const fileAt = (path: string): DeclarationFile => {
    const known = files.get(path) ?? readDeclarations(path);
    files.set(path, known);
    return known;
  };
  const find = (path: string, name: string): Declaration | undefined => {
    const { declarations, imports, exports, everythingOf } = fileAt(path);
    const own = declarations.get(name);
    if (own !== undefined) return own;
    const foreign = imports.get(name) ?? exports.get(name);
    if (foreign !== undefined) return find(foreign.file, foreign.name);
    for (const file of everythingOf) {
      const found = find(file, name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const exported = new Set(exportedNames(entry));
  const reached = new Set([...exported].map((name) => find(entry, name)!));
  for (const { file, uses } of reached) {
    for (const name of uses) {
      const used = find(file, name);
      if (used !== undefined) reached.add(used);
    }
  }
  for (const name of exportedNames(publicTypes)) {
    const declaration = find(publicTypes, name)!;
    if (reached.has(declaration) && /^\s*(?:interface|type) /m.test(withoutComments(declaration.text)))
      exported.add(name);
  }

  const codes = new Map<string, string>();
  const texts: string[] = [];
  for (const { name, file, text } of reached) {
    const code = withoutComments(text);
    if (!codes.has(name)) texts.push(hasComments ? text : code);
    else if (codes.get(name) !== code)
      throw new Error(`${file}: another file declares ${name}, too; rename one of them`);
    codes.set(name, code);
  }
  return `${texts.join('\n')}\nexport { ${[...exported].sort().join(', ')} };\n`;
}

/** The exported names of a `.d.ts` that the compiler wrote. */
export function exportedNames(path: string): string[] {
  const { exports, everythingOf } = readDeclarations(path);
  return [...exports.keys(), ...everythingOf.flatMap(exportedNames)];
}

function readDeclarations(path: string): DeclarationFile {
  // The spans of syntax nodes count bytes from the end of an earlier parse: the semicolon marks the start.
  const bytes = Buffer.from(`;${readFileSync(path, 'utf8')}`);
  const { body, span } = swc.parseSync(bytes.toString(), { syntax: 'typescript' });
  const textOf = (from: number, to: number): string =>
    bytes
      .subarray(from - span.start, to - span.start)
      .toString()
      .trim();
  const resolve = (source: string): string => {
    const file = join(dirname(path), source.replace(/\.ts$/, '.d.ts'));
    if (!existsSync(file)) throw new Error(`${path} imports ${source}, which cannot be put into one file`);
    return file;
  };
  const found: DeclarationFile = {
    declarations: new Map(),
    imports: new Map(),
    exports: new Map(),
    everythingOf: [],
  };
  let end = span.start + 1;
  for (const node of body) {
    const start = end; // a declaration includes the comment before it
    end = node.span.end;
    if (node.type === 'ImportDeclaration') {
      for (const { type, local, ...specifier } of node.specifiers) {
        if (type !== 'ImportSpecifier') throw new Error(`${path}: ${type} cannot be put into one file`);
        const { imported } = specifier as swc.NamedImportSpecifier;
        found.imports.set(local.value, {
          file: resolve(node.source.value),
          name: imported?.value ?? local.value,
        });
      }
    } else if (node.type === 'ExportAllDeclaration') {
      found.everythingOf.push(resolve(node.source.value));
    } else if (node.type === 'ExportNamedDeclaration') {
      const file = node.source ? resolve(node.source.value) : path;
      for (const specifier of node.specifiers) {
        const { orig, exported } = specifier as swc.NamedExportSpecifier;
        if (exported) throw new Error(`${path} renames ${orig.value}, which cannot be put into one file`);
        found.exports.set(orig.value, { file, name: orig.value });
      }
    } else if (node.type !== 'EmptyStatement') {
      const isExported = node.type === 'ExportDeclaration';
      const declared = (isExported ? node.declaration : node) as swc.Declaration;
      const name = nameOf(declared);
      // Removes `export`, and adds `declare` to anything but types.
      const comment = textOf(start, node.span.start);
      const code = textOf(node.span.start, end).replace(/^export (?:declare )?|^declare /, '');
      const text = `${comment === '' ? '' : `${comment.slice(comment.lastIndexOf('/**'))}\n`}${/^(?:interface|type) /.test(code) ? '' : 'declare '}${code}`;
      const previous = found.declarations.get(name)?.text;
      found.declarations.set(name, {
        file: path,
        name,
        text: previous === undefined ? text : `${previous}\n${text}`,
        uses: usesOf(declared),
      });
      if (isExported) found.exports.set(name, { file: path, name });
    }
  }
  return found;
}

function nameOf(node: swc.Declaration): string {
  if (node.type === 'VariableDeclaration') return (node.declarations[0]!.id as swc.Identifier).value;
  const name = 'identifier' in node ? node.identifier : 'id' in node ? node.id : undefined;
  return (name as swc.Identifier).value;
}

/** The names that types and `extends` refer to, wherever they are in a declaration. */
function usesOf(declaration: object): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, typeName, exprName, expression, superClass } = node as Syntax;
    if (type === 'TsImportType') throw new Error('import() of a type cannot be put into one file');
    if (type === 'TsTypeReference') names.add(leftmost(typeName!));
    if (type === 'TsTypeQuery') names.add(leftmost(exprName!));
    if (type === 'TsExpressionWithTypeArguments') names.add(leftmost(expression!));
    if (superClass) names.add(leftmost(superClass));
    Object.values(node).forEach(visit);
  };
  visit(declaration);
  return names;
}

function leftmost(name: Syntax): string {
  return name.left ? leftmost(name.left) : name.value!;
}

function withoutComments(text: string): string {
  return text
    .replace(/('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")|\/\*[\s\S]*?\*\//g, (_, quoted = '') => quoted)
    .replace(/^[ \t]*\n/gm, '')
    .trim();
}
