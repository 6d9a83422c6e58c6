/**
 * Writes docs/reference/errors.md: every code, what it means, what to do, and who raises it if that is this side.
 * All but who raises it is in src/errors-table.ts. The functions that throw come from docstrings, the events from the vectors
 * of sessions.
 */
import { readVectorFile } from 'hub-protocol-judge/internals';
import type { ErrorCode } from '../src/errors.ts';
import { type ErrorRow, LOCAL_ERRORS, REMOTE_ERRORS } from '../src/errors-table.ts';
import { publicNames } from './declared.ts';
import { code, type Drawn } from './draw.ts';

type ErrorClass = 'LocalError' | 'RemoteError';

/** A code with its class, such as `RemoteError bad-hex`. */
type Key = `${ErrorClass} ${string}`;

const ROWS: { readonly [errorClass in ErrorClass]: { readonly [code: string]: ErrorRow } } = {
  LocalError: LOCAL_ERRORS,
  RemoteError: REMOTE_ERRORS,
};

/** Values by key, in the order in which they were added. */
class Index extends Map<string, Set<string>> {
  add(key: Key, value: string): void {
    this.set(key, (this.get(key) ?? new Set()).add(value));
  }
}

// The functions that throw: the `@throws` of public functions and methods.

interface Documented {
  /** The name of a function, `new` and the name of a class, or the names of a class and a method. */
  readonly shown: string;
  /** The name that docstrings refer to it by. */
  readonly name: string;
  readonly throws: string;
}

/** The functions, constructors and methods that programs call, with their `@throws`. */
const ALL: readonly Documented[] = publicNames().flatMap(({ kind, name, doc, members }): Documented[] => {
  const throwsOf = (one: typeof doc): string => {
    const [, model] = /, as \{@link \w+\.(\w+)\} does/.exec(one?.text ?? '') ?? [];
    return model === undefined ? (one?.throws ?? []).join(' ') : `as ${model}`;
  };
  if (kind === 'function') return [{ shown: `${name}()`, name, throws: throwsOf(doc) }];
  if (kind !== 'class') return [];
  return members
    .filter((member) => member.kind === 'constructor' || member.kind === 'method')
    .map((member) =>
      member.kind === 'constructor'
        ? { shown: `new ${name}()`, name, throws: throwsOf(member.doc) }
        : { shown: `${name}.${member.name}()`, name: member.name, throws: throwsOf(member.doc) },
    );
});

/** The keys in a `@throws`, with the keys of the functions that it refers to. */
function keysIn(throws: string, seen: readonly Documented[] = []): Key[] {
  const keys: Key[] = [];
  let errorClass: ErrorClass = 'LocalError';
  const words =
    /\b(LocalError|RemoteError)\b|`([a-z0-9-]+)`|(?:\bas|codes of) (?:\{@link )?`?(\w+)(?:` or `(\w+)`)?/g;
  for (const [, className, code, ...names] of throws.matchAll(words)) {
    if (className !== undefined) errorClass = className as ErrorClass;
    if (code !== undefined && code in ROWS[errorClass]) keys.push(`${errorClass} ${code}`);
    for (const each of ALL.filter((one) => names.includes(one.name))) {
      if (!seen.includes(each)) keys.push(...keysIn(each.throws, [...seen, each]));
    }
  }
  return keys;
}

/** The sources of each code. */
function raisers(): Index {
  const index = new Index();
  for (const each of ALL) {
    for (const key of keysIn(each.throws, [each])) index.add(key, code(each.shown));
  }
  addEvents(index);
  return index;
}

const SESSIONS: { readonly [role: string]: string } = { client: '`ClientSession`', hub: '`HubSession`' };

/** Errors in events: the ones that the vectors show, and the ones that no peer can cause at will. */
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
        note(`${error in REMOTE_ERRORS ? 'RemoteError' : 'LocalError'} ${error}`, type, role);
    }
  }
  for (const role of ['client', 'hub']) {
    for (const code of ['crypto-failed', 'bad-random']) note(`LocalError ${code}`, 'close', role);
    for (const code of ['message-too-long', 'frame-too-long', 'nonce-exhausted'])
      note(`RemoteError ${code}`, 'close', role);
  }
  for (const { type, role, tests } of readVectorFile('tables').testGroups as never[] as {
    type: string;
    role: string;
    tests: { error: string }[];
  }[]) {
    if (type === 'Ending') for (const { error } of tests) note(`RemoteError ${error}`, 'ended', role);
  }
  // Those of choices, which no vector shows.
  for (const code of ['envelope-too-large', 'handshake-before-hello', 'unknown-hub', 'text-after-ready'])
    note(`RemoteError ${code}`, 'close', 'client');
  for (const code of ['no-hello', 'bad-hello']) note(`RemoteError ${code}`, 'hello', 'hub');
  note('LocalError static-key-fresh', 'static-key-fresh', 'client');
  for (const fault of ['not-readable', 'not-writable', 'not-private', 'replaced'])
    index.add(`LocalError keyring-${fault}`, '`hub-protocol-client`');
  for (const [key, sessions] of events) {
    const [errorClass, code, type] = key.split(' ') as [ErrorClass, string, string];
    // An error that ends a session comes in `close`, and again in `ended`.
    if (type === 'ended' && events.has(`${errorClass} ${code} close`)) continue;
    index.add(`${errorClass} ${code}`, `the event \`${type}\` of ${[...sessions].join(' and ')}`);
  }
}

/** The section of docs/guides/it-does-not-connect.md for the errors of a connection. */
const SECTIONS: { readonly [anchor: string]: readonly ErrorCode[] } = {
  '1-nothing-listens-or-the-name-is-unknown-not-reachable': ['not-reachable'],
  '2-the-certificate-or-the-clock-certificate-refused': ['certificate-refused'],
  '3-something-else-answers-not-a-hub': ['not-a-hub'],
  '4-the-mqtt-broker-refuses-broker-refused': ['broker-refused'],
  '5-the-hub-refuses-access-key-password-key': [
    ...(['access-refused', 'psk-differs', 'client-key-refused', 'hub-key-changed', 'unknown-hub'] as const),
    ...([
      'protocol-version',
      'kk-refused',
      'kk-failed',
      'negotiation-refused',
      'refused',
      'unavailable',
    ] as const),
  ],
  '6-the-connection-is-lost-dropped-timeout': ['dropped', 'timeout', 'text-after-ready'],
};

const INTRODUCTION = `# Errors

Every error is a \`LocalError\` or a \`RemoteError\`. Both have a \`code\` from the closed lists below, for programs, and a
\`message\`, for people. In the files for devices the message is the code, with the name of an argument if there is one, as in
\`bad-argument: crypto\`. \`cause\` holds what injected code threw.

- **LocalError**: the caller made a mistake, or this side has a fault.
- **RemoteError**: the peer, or somebody between the two, sent or did something wrong.

Functions throw errors. A session does not throw for what its peer sends: it returns the event \`close\` with the \`error\`, and
\`closed()\` returns \`ended\` with the same one, or with what the end of the connection means
([How a connection ends](sessions.md#how-a-connection-ends)). No message contains a key, a password or a plaintext.

<!-- written by tools/errors.ts: npm run docs -->
`;

function section(errorClass: ErrorClass, name: string, raised: Index): string {
  const { group, means, todo } = ROWS[errorClass][name]!;
  const lines = [`### ${code(name)}`, '', `${sentence(means)}. **To do:** ${todo}`];
  if (group !== undefined) lines.unshift(`**${group}**`, '');
  const [anchor] = Object.entries(SECTIONS).find(([, codes]) => codes.some((code) => code === name)) ?? [];
  if (anchor !== undefined) lines.push(`[It does not connect](../guides/it-does-not-connect.md#${anchor})`);
  if (errorClass === 'LocalError') {
    lines.push('', `Raised by: ${listed([...(raised.get(`${errorClass} ${name}`) ?? [])])}`);
  }
  return lines.join('\n');
}

/** Capitalizes a sentence, unless it starts with the name of a function. */
function sentence(text: string): string {
  return /^\w+\(/.test(text) ? text : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** If more functions and methods than this raise a code, they only check their arguments. */
const MOST_RAISERS = 40;

/** The sources of an error: functions, then the methods of each class, then events. */
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

/** The codes that a docstring's `@throws` name, including those of the functions that they refer to. */
export function codesIn(throws: string): string[] {
  return keysIn(throws).map((key) => key.split(' ')[1]!);
}

/** The whole page. */
function errorsPage(): string {
  const raised = raisers();
  const sections = (errorClass: ErrorClass): string[] =>
    Object.keys(ROWS[errorClass]).map((code) => section(errorClass, code, raised));
  return `${[
    INTRODUCTION.trimEnd(),
    '## LocalError',
    ...sections('LocalError'),
    '## RemoteError',
    ...sections('RemoteError'),
  ].join('\n\n')}\n`;
}

/** The codes of both classes, and the codes without a known source. */
export function codes(): { readonly all: readonly Key[]; readonly raisedByNobody: readonly Key[] } {
  const raised = raisers();
  const all = (['LocalError', 'RemoteError'] as const).flatMap((errorClass) =>
    Object.keys(ROWS[errorClass]).map((code): Key => `${errorClass} ${code}`),
  );
  return { all, raisedByNobody: all.filter((key) => !raised.has(key)) };
}

export function errors(): Drawn {
  return { 'docs/reference/errors.md': errorsPage() };
}
