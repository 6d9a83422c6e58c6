/** Classifies messages as inputs of a session. */
import { RemoteError } from '../errors.ts';
import * as errors from '../errors-table.ts';
import { type Envelope, parseEnvelope } from '../wire/envelope.ts';
import { isJsonObject, ownField } from '../wire/json.ts';
import type { Input } from './transitions.ts';

/** The inputs that are envelopes. */
type EnvelopeInput = 'hello' | 'offer' | 'noise-with-choice' | 'noise' | 'other';

/** The kind of input of an envelope before the session is encrypted. */
export function inputOf({ type, payload }: Envelope): EnvelopeInput {
  if (type === 'hello') return 'hello';
  if (type !== 'shake') return 'other';
  const noise = ownField(payload, 'noise');
  if (!isJsonObject(noise) || ownField(noise, 'msg') === undefined) return 'offer';
  const opens = ownField(noise, 'pattern') !== undefined || ownField(noise, 'suite') !== undefined;
  return opens ? 'noise-with-choice' : 'noise';
}

/**
 * Whether an input repeats a part of the handshake once the session is encrypted. Over MQTT, where cleartext arrives as
 * bytes, a greeting is not a repeat: a hub greets only a client that it does not know, so it has lost the session.
 */
export function isLateRepeat(input: Input, isText: boolean): boolean {
  return isText ? input !== 'other' : input === 'noise-with-choice' || input === 'noise';
}

/** The error for an input that a state neither handles nor ignores. */
export function unexpected(input: Input, state: string): RemoteError {
  if (input !== 'other' && state === 'awaiting-hello') {
    return errors.handshakeBeforeHello();
  }
  return errors.unexpectedMessage(state);
}

/**
 * Whether bytes may be a JSON object: they start with `{` or white space. About one sealed message in 50 (5 of 256
 * values) does so by chance.
 */
export function mayBeJson(data: Uint8Array): boolean {
  return '{ \n\r\t'.indexOf(String.fromCharCode(data[0]!)) >= 0;
}

/** The kind of input of a cleartext message once the session is encrypted; `undefined` if it is not an envelope. */
export function lateInputOf(data: string | Uint8Array): EnvelopeInput | undefined {
  try {
    return inputOf(parseEnvelope(data));
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return undefined;
  }
}
