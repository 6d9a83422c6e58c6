/**
 * Writes docs/errors.md: every code, who raises it, what its message says, and what to do. The codes come from src/errors.ts,
 * the functions from the docstrings in src/, the events from the vectors of sessions, the messages from the built modules.
 *
 *     npm run docs
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { AnyNode } from 'acorn';
import { readVectorFile } from '../judge/src/vectors.ts';
import { LOCAL_ADVICE, REMOTE_ADVICE } from './error-advice.ts';
import { isNamed, parseModule, walk } from './syntax.ts';

const ROOT = new URL('..', import.meta.url);
const PAGE = new URL('docs/errors.md', ROOT);

type ErrorClass = 'LocalError' | 'RemoteError';

/** A code with its class, such as `RemoteError bad-hex`. */
type Key = `${ErrorClass} ${string}`;

/** Values by key, in the order in which they were added. */
class Index extends Map<string, Set<string>> {
  add(key: Key, value: string): void {
    this.set(key, (this.get(key) ?? new Set()).add(value));
  }
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.startsWith('hub-protocol'))
    .sort()
    .map((name) => readFileSync(new URL(`${folder}/${name}`, ROOT), 'utf8'));
}

interface Code {
  readonly code: string;
  /** The comment beside it. */
  readonly comment: string;
  /** The comment above it and those after it. */
  readonly group: string;
}

/** The codes of one class, from src/errors.ts. */
function codesOf(type: 'LocalCode' | 'RemoteCode'): Code[] {
  const source = readFileSync(new URL('src/errors.ts', ROOT), 'utf8');
  const [, list] = new RegExp(`export type ${type} =\\n([\\s\\S]*?);`).exec(source)!;
  let group = '';
  return list!.split('\n').flatMap((line) => {
    const [, heading] = /^ {2}\/\/ (.*)$/.exec(line) ?? [];
    const [, code, comment] = /^ {2}\| '([\w-]+)'[;]?(?: \/\/ (.*))?$/.exec(line) ?? [];
    if (heading !== undefined) group = heading;
    return code === undefined ? [] : [{ code, comment: comment ?? '', group }];
  });
}

// Who throws: the `@throws` of public functions and methods.

interface Documented {
  readonly owner: string;
  readonly name: string;
  readonly throws: string;
}

/** Functions, classes (for their constructors) and methods with their `@throws`. */
function documented(): Documented[] {
  const found: Documented[] = [];
  for (const source of filesIn('src', '.ts')) {
    let owner = '';
    const declaration =
      /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*)?^( *)(?:export )?(?:(?:abstract |override |static )*)(function|class|constructor|\w+(?=\())\s*(\w*)/gm;
    for (const [, text = '', indent, word, name] of source.matchAll(declaration)) {
      const prose = text.replace(/\n\s*\*/g, '').replace(/\s+/g, ' ');
      const own = prose
        .split('@throws ')
        .slice(1)
        .map((part) => part.split(/ @\w/)[0]!);
      const [, model] = /, as \{@link ClientSession\.(\w+)\} does/.exec(prose) ?? [];
      const throws = model === undefined ? own.join(' ') : `as ${model}`;
      if (indent === '' && word === 'class') owner = name!;
      if (indent === '' && word === 'function') found.push({ owner: '', name: name!, throws });
      if (indent === '  ' && owner !== '' && throws !== '') {
        found.push({ owner, name: word === 'constructor' ? '' : word!, throws });
      }
    }
  }
  return found;
}

/** The public names that are values, from the two entries that programs use. */
function publicNames(): string[] {
  const source = ['index', 'recording', 'binary'].map((entry) =>
    readFileSync(new URL(`src/${entry}.ts`, ROOT), 'utf8'),
  );
  const lists = [...source.join('').matchAll(/^export (?!type)\{([^}]*)\}/gm)];
  return lists.flatMap(([, list]) =>
    list!.split(',').flatMap((item) => (/^\s*\w+\s*$/.test(item) ? [item.trim()] : [])),
  );
}

const ALL = documented();

/** The keys in a `@throws`, with those of the functions to which it refers. */
function keysIn(throws: string, seen: readonly Documented[] = []): Key[] {
  const keys: Key[] = [];
  let errorClass: ErrorClass = 'LocalError';
  const words =
    /\b(LocalError|RemoteError)\b|`([a-z0-9-]+)`|(?:\bas|codes of) (?:\{@link )?`?(\w+)(?:` or `(\w+)`)?/g;
  for (const [, className, code, ...names] of throws.matchAll(words)) {
    if (className !== undefined) errorClass = className as ErrorClass;
    const codes = errorClass === 'LocalError' ? LOCAL_ADVICE : REMOTE_ADVICE;
    if (code !== undefined && code in codes) keys.push(`${errorClass} ${code}`);
    for (const each of ALL.filter((one) => names.includes(one.name || one.owner))) {
      if (!seen.includes(each)) keys.push(...keysIn(each.throws, [...seen, each]));
    }
  }
  return keys;
}

/** Who raises each code. */
function raisers(): Index {
  const index = new Index();
  const names = publicNames();
  for (const each of ALL) {
    const { owner, name, throws } = each;
    const isPublic = owner === '' ? names.includes(name) : names.includes(owner) || owner === 'Transport';
    if (!isPublic) continue;
    const shown = owner === '' ? `${name}()` : name === '' ? `new ${owner}()` : `${owner}.${name}()`;
    for (const key of keysIn(throws, [each])) index.add(key, `\`${shown}\``);
  }
  addEvents(index);
  return index;
}

const SESSIONS: { readonly [role: string]: string } = { client: '`ClientSession`', hub: '`HubSession`' };

/** Errors that travel in events: those that the vectors show, and those that no peer can cause at will. */
function addEvents(index: Index): void {
  const events = new Map<string, Set<string>>();
  const note = (key: Key, type: string, role: string): void => {
    const sessions = events.get(`${key} ${type}`) ?? new Set();
    events.set(`${key} ${type}`, sessions.add(SESSIONS[role]!));
  };
  for (const { role, tests } of ['session', 'envelopes'].flatMap(
    (file) => readVectorFile(file).testGroups,
  ) as never[] as {
    role: string;
    tests: { steps: { events?: { type: string; error?: string }[] }[] }[];
  }[]) {
    for (const { type, error } of tests.flatMap(({ steps }) => steps.flatMap((step) => step.events ?? []))) {
      if (error !== undefined)
        note(`${error in REMOTE_ADVICE ? 'RemoteError' : 'LocalError'} ${error}`, type, role);
    }
  }
  for (const role of ['client', 'hub']) {
    for (const code of ['crypto-failed', 'bad-random']) note(`LocalError ${code}`, 'close', role);
    for (const code of ['message-too-long', 'nonce-exhausted']) note(`RemoteError ${code}`, 'close', role);
  }
  note('LocalError static-key-fresh', 'static-key-fresh', 'client');
  for (const [key, sessions] of events) {
    const [errorClass, code, type] = key.split(' ') as [ErrorClass, string, string];
    // What ends a session comes in `close`, and again in `ended`.
    if (type === 'ended' && events.has(`${errorClass} ${code} close`)) continue;
    index.add(`${errorClass} ${code}`, `the event \`${type}\` of ${[...sessions].join(' and ')}`);
  }
}

// What the messages say.

/** The text of a message, with `…` for what is inserted; `undefined` if it is not a text. */
function textOf(node: AnyNode | undefined, constants: ReadonlyMap<string, AnyNode>): string | undefined {
  if (node?.type === 'Literal') return String(node.value);
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('…');
  if (node?.type === 'Identifier') return textOf(constants.get(node.name), constants);
  if (node?.type !== 'BinaryExpression') return undefined;
  const [left, right] = [textOf(node.left as AnyNode, constants), textOf(node.right, constants)];
  return left === undefined || right === undefined ? undefined : left + right;
}

/** The messages of each code, from the built modules. */
function messages(): Index {
  const index = new Index();
  for (const source of filesIn('dist', '.js')) {
    const tree = parseModule(source);
    const constants = new Map<string, AnyNode>();
    walk(tree, (node) => {
      if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init)
        constants.set(node.id.name, node.init);
      return true;
    });
    // In `case 'timeout': return new RemoteError(code, …)` the code is that of the case.
    const collect = (root: AnyNode, label?: string): void =>
      walk(root, (node) => {
        if (node.type === 'SwitchCase' && node.test?.type === 'Literal') {
          for (const statement of node.consequent) collect(statement, String(node.test.value));
          return false;
        }
        if (node.type !== 'NewExpression' || !isNamed(node.callee, 'LocalError', 'RemoteError')) return true;
        const [code, message] = node.arguments;
        const name = code?.type === 'Literal' ? String(code.value) : label;
        const text = textOf(message, constants);
        const errorClass = (node.callee as { name: ErrorClass }).name;
        if (name !== undefined && text !== undefined) index.add(`${errorClass} ${name}`, text);
        return true;
      });
    collect(tree);
  }
  return index;
}

/** More messages than these are all alike, and name an argument or a state. */
const MOST_MESSAGES = 3;

const INTRODUCTION = `# Errors

Whatever goes wrong is a \`LocalError\` or a \`RemoteError\`. Both have a \`code\` from the closed lists below, which programs read,
and a \`message\` for a person; in the files for devices the message is the code, with the argument where there is one, as in
\`bad-argument: crypto\`. \`cause\` holds what injected code threw.

- **LocalError**: the caller's mistake, or a fault of this side.
- **RemoteError**: what the peer sent or did, or somebody in between.

Functions throw errors. A session does not throw for what its peer sends: it returns the event \`close\` with the \`error\`, and
\`closed()\` returns \`ended\` with the same one, or with what the end of the connection means
([How a connection ends](sessions.md#how-a-connection-ends)). No message contains a key, a password or a plaintext.
\`…\` stands for what a message inserts.

<!-- written by tools/errors.ts -->
`;

function section({ code, comment }: Code, errorClass: ErrorClass, raised: Index, said: Index): string {
  const key: Key = `${errorClass} ${code}`;
  const advice = (errorClass === 'LocalError' ? LOCAL_ADVICE : REMOTE_ADVICE) as {
    readonly [code: string]: string;
  };
  const all = [...(said.get(key) ?? [])];
  const lines = [`### \`${code}\``, ''];
  if (comment !== '') lines.push(`${sentence(comment)}.`, '');
  lines.push(`- Raised by: ${listed([...(raised.get(key) ?? [])])}`);
  if (all.length <= MOST_MESSAGES)
    lines.push(...all.map((text) => `- Message: ${text.replace(/[<>|*_]/g, '\\$&')}`));
  lines.push(`- To do: ${advice[code]}`);
  return lines.join('\n');
}

/** With a capital, unless it starts with the name of a function. */
function sentence(text: string): string {
  return /^\w+\(/.test(text) ? text : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** More functions and methods than these check nothing but their arguments. */
const MOST_RAISERS = 40;

/** Those who raise an error: functions, then the methods of each class, then events. */
function listed(names: readonly string[]): string {
  if (names.length > MOST_RAISERS) return `all ${names.length} functions and methods that check an argument`;
  const methods = new Map<string, Set<string>>();
  const others: string[] = [];
  for (const name of names) {
    const [, owner, method] = /^`(\w+)\.(\w+\(\))`$/.exec(name) ?? [];
    if (owner === undefined) {
      others.push(name);
      continue;
    }
    const sessions = Object.values(SESSIONS).map((session) => session.replace(/`$/, `.${method}\``));
    const isShared = sessions.includes(name) && sessions.every((each) => names.includes(each));
    const shown = isShared ? 'sessions' : `\`${owner}\``;
    methods.set(shown, (methods.get(shown) ?? new Set()).add(`\`${method}\``));
  }
  const ofClasses = [...methods].map(([owner, all]) => `${[...all].join(', ')} of ${owner}`);
  const isEvent = (name: string): boolean => name.startsWith('the event');
  return [...others.filter((name) => !isEvent(name)), ...ofClasses, ...others.filter(isEvent)].join('; ');
}

/** The codes that a docstring's `@throws` name, those of the functions to which they refer included. */
export function codesIn(throws: string): string[] {
  return keysIn(throws).map((key) => key.split(' ')[1]!);
}

/** The whole page. */
export function errorsPage(): string {
  const [raised, said] = [raisers(), messages()];
  const local = codesOf('LocalCode').map((code) => section(code, 'LocalError', raised, said));
  const remote: string[] = [];
  let group = '';
  for (const code of codesOf('RemoteCode')) {
    if (code.group !== group) remote.push(`**${code.group[0]!.toUpperCase()}${code.group.slice(1)}**`);
    group = code.group;
    remote.push(section(code, 'RemoteError', raised, said));
  }
  return [INTRODUCTION.trimEnd(), '## LocalError', ...local, '## RemoteError', ...remote].join('\n\n') + '\n';
}

/** The codes of both classes, and those that nothing is known to raise. */
export function codes(): { readonly all: readonly Key[]; readonly raisedByNobody: readonly Key[] } {
  const raised = raisers();
  const all = [
    ...codesOf('LocalCode').map(({ code }): Key => `LocalError ${code}`),
    ...codesOf('RemoteCode').map(({ code }): Key => `RemoteError ${code}`),
  ];
  return { all, raisedByNobody: all.filter((key) => !raised.has(key)) };
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, errorsPage());
