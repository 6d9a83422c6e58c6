/** What a handshake message shows whatever the keys are: its ephemeral key and the length of its payload; and the fields of HELLO. */
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
  const wrong = Object.entries({
    pubkey: pubkey === null ? '' : pubkey,
    'session.session_id': sessionId,
    site_id: siteId,
  }).filter(([, field]) => typeof field !== 'string');
  if (type !== 'hello') return ['HELLO: the first sealed message of a client has msg_type hello'];
  const lacks = wrong.filter(([, field]) => field === undefined).map(([name]) => name);
  if (lacks.length > 0) return [`HELLO: the sealed HELLO lacks ${lacks.join(', ')}`];
  return wrong.map(([name, field]) => `HELLO: its ${name} is ${JSON.stringify(field)}; it is a string`);
}

const KEY_DIGITS = 64;

const OTHER_KEY =
  'ephemeral key: it is not the given one; the adapter hands ephemeralKey to the implementation, whose random bytes it may be';
const REVERSED = 'ephemeral key: its bytes are in reverse order';

/**
 * The mistakes in the ephemeral public key at the start of a handshake message, which no mistake in Noise itself changes.
 * @param right - the correct message in hexadecimal
 * @param got - the message that was written
 */
export function mistakesInEphemeralKey(right: string, got: string): Causes {
  const [key, other] = [right, got].map((digits) => digits.slice(0, KEY_DIGITS)) as [string, string];
  if (key === other || got.length !== right.length) return [];
  return [other === key.match(/../g)!.reverse().join('') ? REVERSED : OTHER_KEY];
}
