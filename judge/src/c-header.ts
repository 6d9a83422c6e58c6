/** `--c`: the vectors that a device needs, and the constants of the protocol, as a header of C99 with `static const` arrays. */
import type { Fields } from './adapter.ts';
import { applies, type Profile } from './profile.ts';
import {
  MAX_CHUNK,
  MAX_ENVELOPE,
  MAX_MESSAGE,
  OFFERED_PATTERNS,
  OFFERED_SUITES,
  utf8ToBytes,
} from './protocol.ts';
import { listTasks, type Task } from './run-vectors.ts';
import { refusalCodes } from './vectors.ts';

/** The operations with vectors in C. */
export const C_OPERATIONS = ['psk', 'prologue', 'handshake', 'seal', 'split', 'session'] as const;

const MOST_SESSIONS = 20;
const MOST_SEALED = 8; // messages of a vector
const LONGEST = 4096; // bytes of a value

const TYPES = `\
typedef struct { const unsigned char *data; size_t length; } hp_bytes;
typedef struct { int id; hp_bytes password, node_id, salt, psk; } hp_psk;
typedef struct { int id; hp_bytes hello, handshake, protocol_name, prologue; } hp_prologue;
typedef struct { hp_bytes payload, message; } hp_message;
typedef struct {
  int id;
  const char *pattern, *suite;
  hp_bytes prologue, psk, init_static, init_ephemeral, resp_static, resp_ephemeral;
  hp_bytes init_static_public, resp_static_public, handshake_hash;
  size_t message_count;
  hp_message messages[3];
} hp_handshake;
typedef struct {
  int id;
  const char *suite;
  hp_bytes key;
  unsigned long long counter;
  size_t count;
  hp_message messages[${MOST_SEALED}]; /* the payload and what it is sealed as, under the counter and those after it */
} hp_sealed;
typedef struct { int id; const char *kind; unsigned long length; size_t frame_count; struct { int marker; unsigned long length; } frames[4]; } hp_split;
typedef struct { const char *type, *error; hp_bytes text, bytes; } hp_event;
typedef struct { const char *what; hp_bytes text, bytes; size_t event_count; hp_event events[6]; } hp_step;
typedef struct { int id; hp_bytes static_key, ephemeral_key, psk, pin, node_id; size_t step_count; hp_step steps[12]; } hp_session;
`;

/** @param only - the operations, or all of C_OPERATIONS */
export function cHeader(version: string, only?: readonly string[], profile?: Profile): string {
  const wanted = C_OPERATIONS.filter((name) => only === undefined || only.includes(name));
  const tasks = listTasks(wanted)
    .filter((task) => profile === undefined || applies(task, profile))
    .filter(({ test }) => test.result === 'valid' && JSON.stringify(test).length < 4 * LONGEST);
  const parts = wanted.map((operation) => {
    const rows = tasks
      .filter((task) => task.operation === operation)
      .flatMap((task) => ROWS[operation](task));
    const own = operation === 'session' ? rows.slice(0, MOST_SESSIONS) : rows;
    const type = operation === 'seal' ? 'sealed' : operation;
    return `static const hp_${type} hp_${type}_vectors[] = {\n${own.join(',\n')}\n};\n`;
  });
  return `\
/* Vectors and constants of HiveMind protocol 3, by hub-protocol-judge ${version} --c. Do not edit. */
#ifndef HUB_PROTOCOL_VECTORS_H
#define HUB_PROTOCOL_VECTORS_H
#include <stddef.h>

${constants()}
${TYPES}
#define HP_COUNT(vectors) (sizeof(vectors) / sizeof((vectors)[0]))

${parts.join('\n')}
#endif
`;
}

function constants(): string {
  const numbers = {
    PROTOCOL_VERSION: 3,
    MAX_NOISE_MESSAGE: 65535,
    MAX_FRAME: 65519,
    ...{ MAX_CHUNK, MAX_MESSAGE, MAX_ENVELOPE },
    ...{ KEY_LENGTH: 32, TAG_LENGTH: 16, PSK_PASSES: 3, PSK_MEMORY_KIB: 65536, PSK_LANES: 1 },
    ...{ MARKER_JSON: 0, MARKER_BINARY: 1, MARKER_FIRST_JSON: 2, MARKER_FIRST_BINARY: 3 },
    ...{ MARKER_MIDDLE: 4, MARKER_FINAL: 5, CLOSE_HANDSHAKE: 1008, CLOSE_SESSION: 1002 },
  };
  const texts = Object.fromEntries([
    ...OFFERED_PATTERNS.map((name) => [`PATTERN_${name.toUpperCase()}`, name]),
    ...OFFERED_SUITES.map((name) => [`SUITE_${name.split('_')[1]!.toUpperCase()}`, name]),
    ...[...refusalCodes()].sort().map((code) => [`ERROR_${code.replace(/-/g, '_').toUpperCase()}`, code]),
  ]);
  const defined = (values: object): string =>
    Object.entries(values)
      .map(([name, value]) => `#define HP_${name} ${JSON.stringify(value)}\n`)
      .join('');
  return defined(numbers) + defined(texts);
}

/** Bytes of a value in hexadecimal, or of a text. */
const hex = (digits: string): string => value(Buffer.from(digits, 'hex'));
const text = (string: string): string => value(utf8ToBytes(string));
const NONE = '{0, 0}';
const name = (string: unknown): string => (string === undefined ? '0' : JSON.stringify(string));

/** A compound literal, which has the lifetime of the program outside of functions. */
function value(bytes: Uint8Array): string {
  return bytes.length === 0 ? NONE : `{(const unsigned char[]){${[...bytes].join(',')}}, ${bytes.length}}`;
}

type Row = (task: Task) => string[];

const ROWS: { readonly [operation in (typeof C_OPERATIONS)[number]]: Row } = {
  psk: ({ test: { tcId, password, nodeId, salt, psk } }) => [
    `{${tcId}, ${text(password)}, ${text(nodeId)}, ${hex(salt)}, ${hex(psk)}}`,
  ],
  prologue: ({ test: { tcId, hello, handshake, protocolName, prologue } }) => [
    `{${tcId}, ${text(hello)}, ${text(handshake)}, ${text(protocolName)}, ${hex(prologue)}}`,
  ],
  handshake: ({ type, test }) => (type === 'Handshake' ? [handshakeRow(test)] : []),
  seal: ({ test: { tcId, suite, key, counter, plaintexts, results } }) => {
    const messages = (plaintexts as string[]).slice(0, MOST_SEALED).map((plaintext, index) => {
      const { message } = results[index];
      return message === undefined ? '' : `{${hex(plaintext)}, ${hex(message)}}`;
    });
    return messages.includes('')
      ? []
      : [
          `{${tcId}, ${name(suite)}, ${hex(key)}, ${counter}ULL, ${messages.length}, {${messages.join(', ')}}}`,
        ];
  },
  split: ({ test: { tcId, kind, length, frames } }) => {
    const all = (frames as Fields[]).map(({ marker, length }) => `{${marker}, ${length}}`);
    return all.length > 4 ? [] : [`{${tcId}, ${name(kind)}, ${length}, ${all.length}, {${all.join(', ')}}}`];
  },
  session: ({ test }) => (test.steps[0].role === 'client' ? sessionRow(test.tcId, test.steps) : []),
};

function handshakeRow(test: Task['test']): string {
  const keys = ['prologue', 'psk', 'initStatic', 'initEphemeral', 'respStatic', 'respEphemeral'];
  const fields = [...keys, 'initStaticPublic', 'respStaticPublic', 'handshakeHash'].map((key) =>
    hex(test[key]),
  );
  const messages = (test.messages as Fields[]).map(
    ({ payload, message }) => `{${hex(String(payload))}, ${hex(String(message))}}`,
  );
  return `{${test.tcId}, ${name(test.pattern)}, ${name(test.suite)}, ${fields.join(', ')}, ${messages.length}, {${messages.join(', ')}}}`;
}

/** What a client opens a session with, in hexadecimal. */
interface ClientKeys {
  readonly staticKey: string;
  readonly ephemeralKey: string;
  readonly psks: { readonly [nodeId: string]: string };
  readonly pins: { readonly [nodeId: string]: string };
}

function sessionRow(tcId: number, [open, ...steps]: readonly Fields[]): string[] {
  if (steps.length > 12 || steps.some(({ events }) => Array.isArray(events) && events.length > 6)) return [];
  const { staticKey, ephemeralKey, psks, pins } = open as unknown as ClientKeys;
  const [nodeId] = Object.keys(psks);
  const psk = nodeId === undefined ? '' : psks[nodeId]!;
  const [pin] = Object.values(pins);
  const told = ({ type, error, text: own, bytes }: Fields): string =>
    `{${name(type)}, ${name(error)}, ${own === undefined ? NONE : text(String(own))}, ${bytes === undefined ? NONE : hex(String(bytes))}}`;
  const rows = steps.map(({ do: what, text: own, bytes, psk, events = [] }) => {
    const given = bytes ?? psk;
    const all = (events as Fields[]).map(told);
    const parts = [
      own === undefined ? NONE : text(String(own)),
      given === undefined ? NONE : hex(String(given)),
    ];
    return `{${name(what)}, ${parts.join(', ')}, ${all.length}, {${all.length > 0 ? all.join(', ') : '{0}'}}}`;
  });
  const keys = [hex(staticKey), hex(ephemeralKey), hex(psk), pin === undefined ? NONE : hex(pin)];
  const node = nodeId === undefined ? NONE : text(nodeId);
  return [`{${tcId}, ${keys.join(', ')}, ${node}, ${rows.length}, {${rows.join(',\n  ')}}}`];
}
