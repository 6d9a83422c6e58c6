/** Messages on their way out of a session. */
import { type Bytes, utf8ToBytes } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isPlainJson } from '../wire/engine-check.ts';
import { parseJson } from '../wire/parse-json.ts';

/** A message that is sealed one transport message at a time. */
export interface OutgoingMessage {
  /** The number of transport messages, at least 1. */
  readonly count: number;
  /**
   * Seals the next transport message. Write it before you seal another.
   * @returns the transport message, of at most 65535 bytes, or `undefined` once all have been returned
   * @throws LocalError `session-over` if the session has ended in the meantime; `nonce-exhausted` and `crypto-failed`,
   *   which end it; `wrong-state` in a callback of the session
   */
  next(): Bytes | undefined;
}

/** All transport messages of a message. */
export function allOf(message: OutgoingMessage): Bytes[] {
  const messages: Bytes[] = [];
  for (let next = message.next(); next !== undefined; next = message.next()) messages.push(next);
  return messages;
}

/**
 * A string that contains JSON, as UTF-8.
 * @throws LocalError `not-json`, `lone-surrogate`
 */
export function encodeText(text: string): Uint8Array {
  const bytes = utf8ToBytes(text);
  if (isPlainJson(bytes)) return bytes;
  try {
    parseJson(bytes);
  } catch {
    throw new LocalError(
      'not-json',
      'a string is sent as it is, so it must be JSON: wrap other text in an object',
    );
  }
  return bytes;
}
