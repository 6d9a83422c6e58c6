/** Compares what one side sent with what the other side has: the payloads that the prologue binds, and all messages. */
import {
  canonicalJson,
  equalBytes,
  isJsonObject,
  type Json,
  type JsonObject,
  ownField,
  stringifyJson,
} from 'hub-protocol-judge/internals';
import { shown } from '../shown.ts';
import type { Case, Cause } from './evidence.ts';
import type { Passed, Recording } from './recording.ts';

/** Compares the hub's payloads with the client's view of them, if both are known. */
export function changedPayload(examined: Case): Cause | undefined {
  const { client, hub } = examined.views;
  if (client === undefined || hub === undefined) return undefined;
  for (const [payload, sent, seen] of [
    ['HELLO', hub.hello, client.hello],
    ['HANDSHAKE', hub.offer, client.offer],
  ] as const) {
    const [ours, theirs] = [canonicalJson(sent), canonicalJson(seen)];
    if (equalBytes(ours, theirs)) continue;
    const offset = ours.findIndex((byte, at) => byte !== theirs[at]); // neither is the beginning of the other
    const { path, a, b } = firstDifference('', sent, seen)!;
    return {
      name: payload === 'HELLO' ? 'hello-changed' : 'offer-changed',
      certainty: 'certain',
      text:
        `in ${path} of ${payload} the hub sent ${say(a)}, and the client saw ${say(b)}: it was changed on the way, or the two do not ` +
        `belong to the same connection. The first byte that differs is byte ${offset} of the canonical JSON of ${payload}`,
      place: { payload, path, offset },
    };
  }
  examined.agree('payloads', 'the client saw HELLO and HANDSHAKE as the hub sent them');
  return undefined;
}

interface Place {
  readonly path: string;
  readonly a: Json | undefined;
  readonly b: Json | undefined;
}

function firstDifference(path: string, a: Json | undefined, b: Json | undefined): Place | undefined {
  const isList = Array.isArray(a) && Array.isArray(b);
  if (isList || (isJsonObject(a) && isJsonObject(b))) {
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    if (!isList) names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))); // as in canonical JSON
    for (const name of names) {
      const field = isList ? `[${name}]` : /^[\w-]{1,60}$/.test(name) ? `.${name}` : `[${shown(name)}]`;
      const of = (value: Json): Json | undefined =>
        Array.isArray(value) ? value[Number(name)] : ownField(value as JsonObject, name);
      const found = firstDifference(`${path}${field}`.replace(/^\./, ''), of(a), of(b));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const isSame = a !== undefined && b !== undefined && equalBytes(canonicalJson(a), canonicalJson(b));
  return isSame ? undefined : { path, a, b };
}

function say(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return shown(value);
  const json = stringifyJson(value);
  return json.length > 60 ? `${json.slice(0, 59)}…` : json;
}

/** Finds the message at which one side failed, or for which it waited, if it did not arrive as the other side sent it. */
export function changedMessage(examined: Case): Cause | undefined {
  const { client, hub } = examined.evidence;
  if (client === undefined || hub === undefined) return undefined;
  const [toClient, toHub] = [deliver(hub, client), deliver(client, hub)];
  if (toClient === 'whole' && toHub === 'whole')
    examined.agree('messages', 'the messages arrived as they were sent, and in that order');
  return [toClient, toHub].find((result) => typeof result === 'object');
}

/** `odd`: something arrived that was not sent, or not in its turn, and did no harm. */
function deliver(writer: Recording, reader: Recording): Cause | 'whole' | 'odd' {
  // Over MQTT a client sends a HELLO before the hub has a session.
  const counts = ({ type }: Passed): boolean => writer.role !== 'client' || type !== 'hello';
  const [sent, received] = [writer.sent.filter(counts), reader.received.filter(counts)];
  const at = received.findIndex(({ content }, index) => content !== sent[index]?.content);
  const { failure } = reader;
  if (at < 0) {
    const isDue = failure !== undefined && !failure.isOwn && received.length < sent.length;
    if (!isDue) return 'whole';
    const isRefused = writer.failure?.closeCode === REFUSED;
    return {
      name: 'message-lost',
      certainty: isRefused ? 'likely' : 'certain',
      text:
        `a message of the ${writer.role} never arrived while the ${reader.role} waited: ${describe(sent[received.length])}` +
        `${isRefused ? `. Or the ${reader.role} closed before it could arrive` : ''}`,
    };
  }
  if (failure?.isOwn !== true || at < received.length - 1) return 'odd';
  const due = describe(sent[at]);
  const { length, content } = received[at]!;
  const isAnother = sent.some((other) => other.content === content);
  return isAnother
    ? {
        name: 'message-order',
        certainty: sent[at]?.length === length ? 'likely' : 'certain',
        text: `where ${due} of the ${writer.role} was due, another message of it arrived: one was lost, repeated or overtaken on the way, or changed to the length of the other`,
      }
    : {
        name: 'message-changed',
        certainty: 'certain',
        text: `the ${reader.role} received ${length} bytes that the ${writer.role} did not send, where ${due} was due: it was changed on the way, or somebody sent another message, or the two recordings are of different connections`,
      };
}

/** The code with which a hub closes a connection that it refuses. */
const REFUSED = 1008;

function describe(message: Passed | undefined): string {
  if (message === undefined) return 'nothing';
  return {
    hello: 'HELLO',
    offer: 'HANDSHAKE with the offer',
    message: 'a Noise message',
    sealed: 'an encrypted message',
    other: 'an envelope',
  }[message.type];
}
