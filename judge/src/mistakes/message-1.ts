/**
 * Message 1 of XXpsk2 under a prologue with one mistake. Its payload is sealed with a key derived from the ephemeral
 * public key before it, so the message alone shows which prologue it was bound to.
 */
import {
  bytesToUtf8,
  canonicalJson,
  concatBytes,
  hexToBytes,
  type JsonObject,
  ownField,
  parseEnvelope,
  protocolName,
  type Suite,
  utf8ToBytes,
} from '../protocol.ts';
import type { Causes } from '../verdict.ts';
import { NoiseWithMistake } from './noise-with-mistake.ts';

const EPHEMERAL = 32;

/** The payloads that the hub sent, in order. */
type Payloads = readonly JsonObject[];

interface Candidate {
  readonly cause: string;
  /** The prologue without the protocol name. */
  bind(hellos: Payloads, offers: Payloads): Uint8Array[];
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
    cause: 'it binds the first HELLO; the latest one before the HANDSHAKE counts',
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
    cause: UNSORTED,
    bind: (hellos, offers) => [ordinary(last(hellos)), ordinary(last(offers))],
  },
];

/** The known mistakes in prologue and payload that lead a client to write the envelope `got` after it received these texts. */
export function mistakesInMessage1(received: readonly { text?: unknown }[], got: unknown): Causes {
  try {
    const { noise } = parseEnvelope(String(got)).payload as { noise: { [field: string]: string } };
    const message = hexToBytes(noise.msg!);
    if (noise.pattern !== 'XXpsk2' || message === undefined) return [];
    const envelopes = received.map(({ text }) => parseEnvelope(String(text)));
    const payloads = (wanted: string): Payloads =>
      envelopes.filter(({ type }) => type === wanted).map(({ payload }) => payload);
    const [hellos, offers] = [payloads('hello'), payloads('shake')];
    const suite = noise.suite as Suite;
    const name = utf8ToBytes(protocolName('XXpsk2', suite));
    const fits = (...parts: Uint8Array[]): boolean =>
      payloadOf(message, concatBytes(parts), suite) !== undefined;
    if (fits(canonicalJson(last(hellos)), canonicalJson(last(offers)))) {
      return [`prologue: its parts are HELLO, HANDSHAKE; ${RIGHT}`];
    }
    const prologue = concatBytes([canonicalJson(last(hellos)), canonicalJson(last(offers)), name]);
    const payload = payloadOf(message, prologue, suite);
    if (payload !== undefined) return mistakesInPayload(payload);
    const found = CANDIDATES.filter(({ bind }) => fits(...bind(hellos, offers), name));
    return found.map(({ cause }) => (cause === UNSORTED ? cause : `prologue: ${cause}`));
  } catch {
    return []; // it is not a message 1, or follows something that is not an envelope
  }
}

const PAYLOAD = '{"binarize":false,"encodings":[]}';

/** The mistakes in the payload of a message that is otherwise right. */
function mistakesInPayload(payload: Uint8Array): Causes {
  const text = bytesToUtf8(payload) ?? 'not UTF-8';
  return text === PAYLOAD ? [] : [`message 1: its payload is ${text || 'empty'}; it is ${PAYLOAD}`];
}

/** The payload of message 1, if it opens under this prologue. */
function payloadOf(message: Uint8Array, prologue: Uint8Array, suite: Suite): Uint8Array | undefined {
  const noise = new NoiseWithMistake({}, 'XXpsk2', suite);
  noise.mixHash(prologue);
  noise.mixEphemeral(message.slice(0, EPHEMERAL));
  return noise.decryptAndHash(message.slice(EPHEMERAL));
}
