/** Compares the messages that one side sent with those that arrived at the other. */
import { equalBytes } from '../protocol.ts';
import { payloadDifference } from './differences.ts';
import type { Case, Cause } from './evidence.ts';
import type { Passed, Recording } from './recording.ts';

const EPHEMERAL_KEY = 32; // bytes

/** Compares the hub's payloads with the client's view of them, if both are known. */
export function changedPayload(examined: Case): Cause | undefined {
  const { client, hub } = examined.views;
  if (client === undefined || hub === undefined) return undefined;
  const difference =
    payloadDifference('HELLO', hub.hello, client.hello) ??
    payloadDifference('HANDSHAKE', hub.offer, client.offer);
  if (difference === undefined) {
    examined.agree('payloads', 'the client saw HELLO and HANDSHAKE as the hub sent them');
    return undefined;
  }
  const { name, text, ...place } = difference;
  const where = `The first byte that differs is byte ${place.offset} of the canonical JSON of ${place.payload}`;
  return { name, certainty: 'certain', text: `${text}. ${where}`, place };
}

/** Finds messages of one recording that arrived in the other one changed, too late, or not at all. */
export function changedMessage(examined: Case): Cause | undefined {
  const { client, hub } = examined.evidence;
  if (client === undefined || hub === undefined) return undefined;
  for (let index = 0; index < 3; index++) {
    const [sent, arrived] = [client.messages[index], hub.messages[index]];
    if (sent === undefined || arrived === undefined || equalBytes(sent, arrived)) continue;
    let offset = 0;
    while (sent[offset] === arrived[offset]) offset++;
    const name = `message ${index + 1}`;
    // A message starts with an ephemeral key, which differs in each connection.
    return offset < EPHEMERAL_KEY && index < 2
      ? {
          name: 'message-changed',
          certainty: 'likely',
          text: `${name} has different ephemeral keys in the two recordings: they are of two connections, or somebody replaced the message`,
        }
      : {
          name: 'message-changed',
          certainty: 'certain',
          text: `${name} was changed on the way, from byte ${offset} on`,
        };
  }
  const cause = missing(hub, client) ?? missing(client, hub);
  if (cause === undefined)
    examined.agree('messages', 'the cleartext messages arrived as they were sent, and in that order');
  return cause;
}

/** A message that did not arrive, or not before a later one. */
function missing(writer: Recording, reader: Recording): Cause | undefined {
  const arrived = arrivals(writer, reader);
  const last = [...arrived].reduce((last, index) => Math.max(last, index), -1);
  const at = writer.sent.findIndex((_, index) => !arrived.has(index));
  const isWaiting = reader.failure !== undefined && !reader.failure.isOwn;
  if (at < 0 || !(at < last || isWaiting)) return undefined;
  const message = describe(writer.sent[at]!);
  return reader.failure?.isOwn
    ? {
        name: 'message-order',
        certainty: 'certain',
        text: `a message of the ${writer.role} had not arrived when the next one did: ${message}`,
      }
    : {
        name: 'message-lost',
        certainty: 'certain',
        text: `a message of the ${writer.role} never arrived while the ${reader.role} waited: ${message}`,
      };
}

/** The indexes of received messages among the sent ones. Equal messages are matched one to one. */
function arrivals(writer: Recording, reader: Recording): Set<number> {
  const places = new Map<string, number[]>(); // the indexes of each text, the last first
  for (let index = writer.sent.length - 1; index >= 0; index--) {
    const { text } = writer.sent[index]!;
    const others = places.get(text);
    if (others === undefined) places.set(text, [index]);
    else others.push(index);
  }
  const arrived = new Set<number>();
  for (const { text } of reader.received) {
    const index = places.get(text)?.pop();
    if (index !== undefined) arrived.add(index);
  }
  return arrived;
}

function describe({ type }: Passed): string {
  return {
    hello: 'HELLO',
    offer: 'HANDSHAKE with the offer',
    message: 'a Noise message',
    other: 'an envelope',
  }[type];
}
