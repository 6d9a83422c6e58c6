/**
 * Message 1 under a prologue with one mistake. Under XXpsk2 its payload is sealed with a key derived from the ephemeral public
 * key before it, so the message alone shows which prologue it was bound to; under KKpsk0 with the keys of the vector.
 */
import type { Fields } from '../adapter.ts';
import {
  bytesToUtf8,
  canonicalJson,
  concatBytes,
  equalBytes,
  hexToBytes,
  type JsonObject,
  OFFERED_PATTERNS,
  OFFERED_SUITES,
  ownField,
  type Pattern,
  parseEnvelope,
  parseJson,
  protocolName,
  type Suite,
  utf8ToBytes,
} from '../protocol.ts';
import type { Causes } from '../verdict.ts';
import { mistakenNames } from './noise-mistakes.ts';
import { NoiseWithMistake, publicKeyOf } from './noise-with-mistake.ts';

const EPHEMERAL = 32;

/** The payloads that the hub sent, in order. */
type Payloads = readonly JsonObject[];

interface Candidate {
  readonly cause: string;
  /**
   * The prologue without the protocol name.
   * @param wholes - the latest HELLO and the latest HANDSHAKE, as envelopes
   */
  bind(hellos: Payloads, offers: Payloads, wholes: readonly [JsonObject, JsonObject]): Uint8Array[];
}

const HELLO_FIELDS = ['node_id'];
const OFFER_FIELDS = ['max_protocol_version', 'noise'];

const last = (payloads: Payloads): JsonObject => payloads[payloads.length - 1]!;
const ordinary = (payload: JsonObject): Uint8Array => utf8ToBytes(JSON.stringify(payload));
const envelope = (type: string, payload: JsonObject): Uint8Array =>
  canonicalJson({ msg_type: type, payload, metadata: {}, route: [] });

/** The canonical form of only these fields of a payload. */
function only(payload: JsonObject, names: readonly string[]): Uint8Array {
  const present = names.filter((name) => ownField(payload, name) !== undefined);
  return canonicalJson(Object.fromEntries(present.map((name) => [name, payload[name]!])));
}

// The words of mistakes/json.ts: both must give the same cause.
const RIGHT = 'they are HELLO, HANDSHAKE, protocol name';
const UNSORTED = 'key order: keys are not sorted';

const FIRST = 'it binds the first HELLO; the latest one before the HANDSHAKE counts';
export const FIRST_BOUND: string = `prologue: ${FIRST}`;

const CANDIDATES: readonly Candidate[] = [
  {
    cause: 'it binds only the fields of HELLO that are needed; it binds all, unknown ones included',
    bind: (hellos, offers) => [only(last(hellos), HELLO_FIELDS), canonicalJson(last(offers))],
  },
  {
    cause: 'it binds only the fields of HANDSHAKE that are needed; it binds all, unknown ones included',
    bind: (hellos, offers) => [canonicalJson(last(hellos)), only(last(offers), OFFER_FIELDS)],
  },
  {
    cause: 'it binds only the fields that are needed; it binds all, unknown ones included',
    bind: (hellos, offers) => [only(last(hellos), HELLO_FIELDS), only(last(offers), OFFER_FIELDS)],
  },
  {
    cause: FIRST,
    bind: (hellos, offers) => [canonicalJson(hellos[0]!), canonicalJson(last(offers))],
  },
  {
    cause: `its parts are HANDSHAKE, HELLO, protocol name; ${RIGHT}`,
    bind: (hellos, offers) => [canonicalJson(last(offers)), canonicalJson(last(hellos))],
  },
  {
    cause: `its parts are HANDSHAKE, protocol name; ${RIGHT}`,
    bind: (_hellos, offers) => [canonicalJson(last(offers))],
  },
  { cause: `its parts are HELLO, protocol name; ${RIGHT}`, bind: (hellos) => [canonicalJson(last(hellos))] },
  { cause: `its parts are protocol name; ${RIGHT}`, bind: () => [] },
  {
    cause: 'it binds whole envelopes; it binds their payloads',
    bind: (hellos, offers) => [envelope('hello', last(hellos)), envelope('shake', last(offers))],
  },
  {
    cause: 'it binds whole envelopes; it binds their payloads',
    bind: (_hellos, _offers, wholes) => wholes.map((whole) => canonicalJson(whole)),
  },
  {
    cause: 'it binds the whole envelope of HELLO; it binds its payload',
    bind: (_hellos, offers, [hello]) => [canonicalJson(hello), canonicalJson(last(offers))],
  },
  {
    cause: 'it binds the whole envelope of HANDSHAKE; it binds its payload',
    bind: (hellos, _offers, [, offer]) => [canonicalJson(last(hellos)), canonicalJson(offer)],
  },
  {
    cause: UNSORTED,
    bind: (hellos, offers) => [ordinary(last(hellos)), ordinary(last(offers))],
  },
];

/** The known mistakes in prologue and payload that lead a client to write the envelope `got` after these steps. */
export function mistakesInMessage1(steps: readonly Fields[], got: unknown): Causes {
  try {
    const { noise } = parseEnvelope(String(got)).payload as { noise: { [field: string]: string } };
    const message = hexToBytes(noise.msg!);
    if (message === undefined) return [];
    const received = steps.filter((step) => step.do === 'receive' && step.text !== undefined);
    const envelopes = received.map(({ text }) => parseEnvelope(String(text)));
    const payloads = (wanted: string): Payloads =>
      envelopes.filter(({ type }) => type === wanted).map(({ payload }) => payload);
    const [hellos, offers] = [payloads('hello'), payloads('shake')];
    const whole = (wanted: string): JsonObject => {
      const at = envelopes.map(({ type }) => type).lastIndexOf(wanted);
      return parseJson(String(received[at]!.text)) as JsonObject;
    };
    const [pattern, suite] = [noise.pattern as Pattern, noise.suite as Suite];
    const nameOf = (pattern: Pattern, suite: Suite): Uint8Array => utf8ToBytes(protocolName(pattern, suite));
    const keys = pattern === 'KKpsk0' ? keysOf(steps, last(hellos)) : undefined;
    if (pattern === 'KKpsk0' && keys === undefined) return [];
    const opened = (...parts: Uint8Array[]): Uint8Array | undefined =>
      payloadOf(message, concatBytes(parts), suite, keys);
    const right = [canonicalJson(last(hellos)), canonicalJson(last(offers))];
    if (opened(...right) !== undefined) return [`prologue: its parts are HELLO, HANDSHAKE; ${RIGHT}`];
    const payload = opened(...right, nameOf(pattern, suite));
    if (payload !== undefined) return mistakesInPayload(payload);
    const other = OFFERED_PATTERNS.flatMap((pattern) =>
      OFFERED_SUITES.map((suite) => ({ pattern, suite })),
    ).find((names) => opened(...right, nameOf(names.pattern, names.suite)) !== undefined);
    if (other !== undefined) {
      return [
        other.pattern === pattern
          ? `prologue: it names ${other.suite} where ${suite} is used; the suite that is used counts`
          : `prologue: it names ${other.pattern} where ${pattern} is used; the pattern that is used counts`,
      ];
    }
    const names = mistakenNames(protocolName(pattern, suite));
    const named = names.find(({ name }) => opened(...right, utf8ToBytes(name)) !== undefined);
    if (named !== undefined) return [named.cause];
    const found = CANDIDATES.filter(
      ({ bind }) =>
        opened(...bind(hellos, offers, [whole('hello'), whole('shake')]), nameOf(pattern, suite)) !==
        undefined,
    );
    if (found.length > 0) return [...new Set(found.map(causeOf))];
    const lacking = [
      ...without(last(hellos)).map(
        ([name, rest]) => [`${name || 'the empty name'} of HELLO`, rest, right[1]!] as const,
      ),
      ...without(last(offers)).map(
        ([name, rest]) => [`${name || 'the empty name'} of HANDSHAKE`, right[0]!, rest] as const,
      ),
    ];
    return lacking
      .filter(([, ...parts]) => opened(...parts, nameOf(pattern, suite)) !== undefined)
      .map(([field]) => `prologue: it lacks ${field}; it binds all fields`);
  } catch {
    return []; // it is not a message 1, or follows something that is not an envelope
  }
}

/** A payload without each of its fields, one at a time; not without those that are null, which other mistakes leave out. */
function without(payload: JsonObject): [name: string, rest: Uint8Array][] {
  const names = Object.keys(payload);
  const given = names.filter((name) => payload[name] !== null);
  return given.map((name) => [
    name,
    only(
      payload,
      names.filter((other) => other !== name),
    ),
  ]);
}

const causeOf = ({ cause }: Candidate): string => (cause === UNSORTED ? cause : `prologue: ${cause}`);

export const HUB_PROLOGUE =
  'prologue: a hub binds only the fields of its HELLO or HANDSHAKE that are needed; it binds all, unknown ones included';

/**
 * Whether a hub in these steps binds more than the fields that are needed. A hub that binds only these refuses each right message 1
 * in such steps, and no other.
 */
export function bindsMore(steps: readonly Fields[]): boolean {
  try {
    const { events } = steps.find((step) => step.do === 'start')!;
    const [hello, offer] = (events as Fields[]).map(({ text }) => parseEnvelope(String(text)).payload);
    const right = concatBytes([canonicalJson(hello!), canonicalJson(offer!)]);
    return !equalBytes(concatBytes([only(hello!, HELLO_FIELDS), only(offer!, OFFER_FIELDS)]), right);
  } catch {
    return false; // no hub has started
  }
}

interface Keys {
  readonly psk: Uint8Array;
  readonly staticKey: Uint8Array;
  readonly ephemeralKey: Uint8Array;
  readonly pin: Uint8Array;
}

/** The keys of a client in KKpsk0 with the hub of this HELLO. */
function keysOf([open, ...steps]: readonly Fields[], hello: JsonObject): Keys | undefined {
  const stored = (name: string): unknown =>
    (open?.[name] as Fields | undefined)?.[String(ownField(hello, 'node_id'))];
  const psk = stored('psks') ?? steps.find((step) => step.do === 'psk')?.psk;
  const all = [psk, open?.staticKey, open?.ephemeralKey, stored('pins')].map((key) =>
    hexToBytes(String(key)),
  );
  const [pskBytes, staticKey, ephemeralKey, pin] = all;
  return pskBytes && staticKey && ephemeralKey && pin && { psk: pskBytes, staticKey, ephemeralKey, pin };
}

const PAYLOAD = '{"binarize":false,"encodings":[]}';

/** The mistakes in the payload of a message that is otherwise right. */
function mistakesInPayload(payload: Uint8Array): Causes {
  const text = bytesToUtf8(payload) ?? 'not UTF-8';
  return text === PAYLOAD ? [] : [`message 1: its payload is ${text || 'empty'}; it is ${PAYLOAD}`];
}

/** The payload of message 1, if it opens under this prologue. With keys it is of KKpsk0. */
function payloadOf(
  message: Uint8Array,
  prologue: Uint8Array,
  suite: Suite,
  keys: Keys | undefined,
): Uint8Array | undefined {
  const noise = new NoiseWithMistake({}, keys === undefined ? 'XXpsk2' : 'KKpsk0', suite);
  const preMessages = keys === undefined ? [] : [publicKeyOf(keys.staticKey), keys.pin];
  noise.mixPrologue(prologue, preMessages);
  if (keys !== undefined) noise.mixKeyAndHash(keys.psk);
  noise.mixEphemeral(message.slice(0, EPHEMERAL));
  for (const privateKey of keys === undefined ? [] : [keys.ephemeralKey, keys.staticKey])
    noise.mixKey(noise.sharedSecret(privateKey, keys!.pin));
  return noise.decryptAndHash(message.slice(EPHEMERAL));
}
