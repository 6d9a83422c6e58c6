/**
 * Payloads: their length in a handshake message, visible whatever the keys are, and the fields of a client's sealed HELLO; and
 * what a session makes of an envelope.
 */
import type { Fields } from '../adapter.ts';
import { isJsonObject, type Json } from '../protocol.ts';
import type { Causes } from '../verdict.ts';

const TAG = 16; // bytes: a difference of this length is more likely a tag than a payload

/** The excess length of a message in hexadecimal, in bytes, if it can be its payload; else 0. */
export function excessOf(right: string, got: string): number {
  const excess = (got.length - right.length) / 2;
  return /^(?:[\da-f]{2})*$/.test(got) && excess % TAG !== 0 ? excess : 0;
}

/** The mistakes that show in the length of a message whose payload was given, in bytes. */
export function mistakesInPayload(right: string, got: string, length: number): Causes {
  const excess = excessOf(right, got);
  if (excess === 0 || length + excess < 0) return [];
  return [
    length + excess === 0
      ? 'payload: it is left out; a handshake message ends with it'
      : 'payload: it is not the given one, since its length differs',
  ];
}

/** The mistakes in a HELLO; none if it has all fields that a hub needs. */
export function mistakesInHello(value: unknown): Causes {
  const { msg_type: type, payload } = (value ?? {}) as { msg_type?: unknown; payload?: Json };
  const fields = isJsonObject(payload) ? payload : {};
  const { session, site_id: siteId, pubkey } = fields;
  const sessionId = isJsonObject(session) ? session.session_id : undefined;
  // Clients without an RSA key send an empty string, or null.
  const lacks = Object.entries({
    pubkey: pubkey === null ? '' : pubkey,
    'session.session_id': sessionId,
    site_id: siteId,
  })
    .filter(([, field]) => typeof field !== 'string')
    .map(([name]) => name);
  if (type !== 'hello') return ['HELLO: the first sealed message of a client has msg_type hello'];
  return lacks.length === 0 ? [] : [`HELLO: the sealed HELLO lacks ${lacks.join(', ')}`];
}

type Events = readonly (Fields | null)[];

const ODD_DIGITS =
  'msg: an odd number of digits is read; it is refused, as is everything but pairs of digits';
const VERSION =
  'message 1: a hub refuses it without max_protocol_version; it checks the version only if there is one';
const UNNAMED = 'message 3: it is refused as one without pattern and suite; only message 1 names them';
const HELLO_AGAIN =
  'HELLO: a later message of this type is taken for the client’s HELLO; only the first sealed message can be it';

/** What only a Noise message that was read can lead to. */
const AFTER_READING = [
  ...['prologue-differs', 'psk-differs', 'kk-failed', 'low-order-key'],
  ...['static-key-not-authentic', 'payload-not-authentic', 'message-too-short', 'message-too-long'],
];

/** Fields of every envelope that is sent, which no rule lets a reader demand. */
const UNREAD = ['metadata', 'route'];

const unreadCause = (field: string): string =>
  `envelopes: one without \`${field}\` is refused; only msg_type and payload are read`;

/** @param step - of the vector, with what is received */
export function mistakesInReading(step: Fields, expected: Events, got: Events, isHub: boolean): Causes {
  const isMessage = (index: number): boolean => expected[index]?.type === 'message';
  if (isHub && got.some((event, index) => event?.type === 'hello' && isMessage(index))) return [HELLO_AGAIN];
  const envelope = envelopeOf(step);
  const [right, error] = [closeOf(expected), closeOf(got)];
  if (envelope === undefined || error === undefined) return [];
  const noise = fieldsOf(envelope.payload.noise);
  if (right === 'bad-hex')
    return isOdd(noise?.msg) && AFTER_READING.includes(String(error)) ? [ODD_DIGITS] : [];
  if (right !== undefined) return [];
  if (error === 'bad-envelope') return lacking(envelope).map(unreadCause);
  if (!isHub || typeof noise?.msg !== 'string') return [];
  const isFirst = noise.pattern !== undefined;
  if (error === 'protocol-version')
    return isFirst && envelope.payload.max_protocol_version === undefined ? [VERSION] : [];
  return error === 'bad-payload' && !isFirst && noise.suite === undefined ? [UNNAMED] : [];
}

/** Whether passing a test in which all of these steps are as they should be rules out the mistake. */
export function refutesReading(steps: readonly Fields[], cause: string): boolean {
  return steps.some((step) => {
    const envelope = closeOf((step.events as Events | undefined) ?? []) === undefined && envelopeOf(step);
    return envelope && lacking(envelope).some((field) => cause === unreadCause(field));
  });
}

function closeOf(events: Events): unknown {
  return events.find((event) => event?.type === 'close')?.error;
}

type Envelope = Fields & { readonly payload: Fields };

function envelopeOf({ do: what, text }: Fields): Envelope | undefined {
  if (what !== 'receive' || typeof text !== 'string') return undefined;
  try {
    const value = fieldsOf(JSON.parse(text));
    const payload = fieldsOf(value?.payload);
    return payload && typeof value?.msg_type === 'string' ? { ...value, payload } : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function lacking(envelope: Envelope): string[] {
  return UNREAD.filter((field) => envelope[field] === undefined);
}

function isOdd(msg: unknown): boolean {
  return typeof msg === 'string' && /^[\da-f]+$/i.test(msg) && msg.length % 2 === 1;
}
