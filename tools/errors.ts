/** Writes docs/reference/errors.md from src/errors-table.ts: every code, what it means, and what to do. */
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

// The functions that throw: the `@throws` of public functions and methods.

interface Documented {
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
  if (kind === 'function') return [{ name, throws: throwsOf(doc) }];
  if (kind !== 'class') return [];
  return members
    .filter((member) => member.kind === 'constructor' || member.kind === 'method')
    .map((member) => ({
      name: member.kind === 'constructor' ? name : member.name,
      throws: throwsOf(member.doc),
    }));
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

/** What most codes of a peer need. */
const USUAL = 'Check that the address belongs to a hub, and update the peer.';

const INTRODUCTION = `# Errors

Every error is a \`LocalError\` or a \`RemoteError\`. Both have a \`code\` from the closed lists below, for programs, and a
\`message\`, for people. In the files for devices the message is the code, with the name of an argument if there is one, as in
\`bad-argument: crypto\`. \`cause\` holds what injected code threw.

- **LocalError**: the caller made a mistake, or this side has a fault.
- **RemoteError**: the peer, or somebody between the two, sent or did something wrong. Where a code says nothing else to do, check that the address
  belongs to a hub, and update the peer.

Functions throw errors. A session does not throw for what its peer sends: it returns the event \`close\` with the \`error\`, and
\`closed()\` returns \`ended\` with the same one, or with what the end of the connection means
([How a connection ends](sessions.md#how-a-connection-ends)). No message contains a key, a password or a plaintext.
`;

function section(errorClass: ErrorClass, name: string): string {
  const { group, means, todo } = ROWS[errorClass][name]!;
  const lines = [
    `### ${code(name)}`,
    '',
    `${sentence(means)}.${todo === USUAL ? '' : ` **To do:** ${todo}`}`,
  ];
  if (group !== undefined) lines.unshift(`**${group}**`, '');
  const [anchor] = Object.entries(SECTIONS).find(([, codes]) => codes.some((code) => code === name)) ?? [];
  if (anchor !== undefined) lines.push(`[It does not connect](../guides/it-does-not-connect.md#${anchor})`);
  return lines.join('\n');
}

/** Capitalizes a sentence, unless it starts with the name of a function. */
function sentence(text: string): string {
  return /^\w+\(/.test(text) ? text : `${text[0]!.toUpperCase()}${text.slice(1)}`;
}

/** The codes that a docstring's `@throws` name, including those of the functions that they refer to. */
export function codesIn(throws: string): string[] {
  return keysIn(throws).map((key) => key.split(' ')[1]!);
}

/** The whole page. */
function errorsPage(): string {
  const sections = (errorClass: ErrorClass): string[] =>
    Object.keys(ROWS[errorClass]).map((code) => section(errorClass, code));
  return `${[
    INTRODUCTION.trimEnd(),
    '<!-- drawn: errors -->',
    '## LocalError',
    ...sections('LocalError'),
    '## RemoteError',
    ...sections('RemoteError'),
    '<!-- end -->',
  ].join('\n\n')}\n`;
}

/** The codes of both classes. */
export const CODES: readonly Key[] = (['LocalError', 'RemoteError'] as const).flatMap((errorClass) =>
  Object.keys(ROWS[errorClass]).map((code): Key => `${errorClass} ${code}`),
);

export function errors(): Drawn {
  return { 'docs/reference/errors.md': errorsPage() };
}
