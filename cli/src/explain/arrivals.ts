/** Compares the messages that one side sent with those that arrived at the other. */
import { equalBytes } from 'hub-protocol-judge/internals';
import { payloadDifference } from './differences.ts';
import type { Case, Cause } from './evidence.ts';
import { ENCRYPTED, OVER, type Passed, type Recording } from './recording.ts';

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
  for (const [index, sent] of client.messages.entries()) {
    const arrived = hub.messages[index];
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
  const [toClient, toHub] = [deliver(hub, client), deliver(client, hub)];
  const cause = undelivered(toClient) ?? undelivered(toHub) ?? sealed(client, hub) ?? sealed(hub, client);
  if (cause === undefined && toClient.isWhole && toHub.isWhole)
    examined.agree('messages', 'the cleartext messages arrived as they were sent, and in that order');
  return cause;
}

/** The cleartext that one side sent, compared with what arrived at the other. */
interface Delivery {
  readonly writer: Recording;
  readonly reader: Recording;
  /** The first message that did not arrive. */
  readonly missing: Passed | undefined;
  /** Whether a later one arrived. */
  readonly isOvertaken: boolean;
  /** The length in bytes of what the reader received last, if the writer did not send that. */
  readonly foreign: number | undefined;
  /** Whether everything that the reader received was sent, in that order, and the reader waited for nothing more. */
  readonly isWhole: boolean;
}

function deliver(writer: Recording, reader: Recording): Delivery {
  const places = new Map<string, number[]>(); // the indexes of each content, the last first
  for (let index = writer.sent.length - 1; index >= 0; index--) {
    const { content } = writer.sent[index]!;
    const others = places.get(content);
    if (others === undefined) places.set(content, [index]);
    else others.push(index);
  }
  const arrived = new Set<number>();
  let [due, isWhole] = [0, true]; // the index after the last message that arrived
  let foreign: number | undefined;
  for (const { content, length } of reader.received) {
    const indexes = places.get(content);
    const index = indexes?.pop();
    foreign = indexes === undefined ? length : undefined;
    isWhole &&= index === undefined ? indexes !== undefined : index >= due;
    if (index === undefined) continue;
    arrived.add(index);
    due = Math.max(due, index + 1);
  }
  // Bytes that are not UTF-8, where cleartext is due.
  const unreadable = reader.hidden.find(
    ({ isText, state }) => !isText && !ENCRYPTED.includes(state) && !OVER.includes(state),
  );
  foreign = unreadable?.length ?? foreign;
  const at = writer.sent.findIndex(
    // Over MQTT a client sends a HELLO before the hub has a session.
    ({ type }, index) => !arrived.has(index) && !(writer.role === 'client' && type === 'hello'),
  );
  const isOvertaken = at >= 0 && at < due;
  const isDue = at >= 0 && (isOvertaken || isWaiting(reader));
  return {
    writer,
    reader,
    missing: writer.sent[at],
    isOvertaken,
    foreign,
    isWhole: isWhole && unreadable === undefined && !isDue,
  };
}

/** A message that arrived changed, or not before a later one, or not at all. */
function undelivered({ writer, reader, missing, isOvertaken, foreign }: Delivery): Cause | undefined {
  const { failure } = reader;
  const isOwn = failure?.isOwn === true && !ENCRYPTED.includes(failure.state);
  if (foreign !== undefined && (isOwn || (missing !== undefined && isWaiting(reader)))) {
    return notSent(writer, reader, missing, foreign);
  }
  if (missing === undefined) return undefined;
  const what = describe(missing);
  if (isOwn && isOvertaken) {
    return {
      name: 'message-order',
      certainty: 'certain',
      text: `a message of the ${writer.role} had not arrived when the next one did, so it was lost or overtaken: ${what}`,
    };
  }
  return isWaiting(reader) ? neverArrived(writer, reader, what) : undefined;
}

/** The reader received something that the writer did not send. */
function notSent(writer: Recording, reader: Recording, missing: Passed | undefined, foreign: number): Cause {
  const isSealed = writer.sealedLengths.includes(foreign);
  const isAsLong = missing?.length === foreign;
  const what = missing === undefined ? 'the next message' : describe(missing);
  if (isSealed && missing !== undefined) {
    return {
      name: 'message-order',
      certainty: isAsLong ? 'likely' : 'certain',
      text: `an encrypted message of the ${writer.role} arrived before a cleartext one, which was lost or overtaken: ${what}${isAsLong ? '. Or that one was changed on the way, since it has the same length' : ''}`,
    };
  }
  return {
    name: 'message-changed',
    certainty: 'certain',
    text: `the ${reader.role} received ${foreign} bytes that the ${writer.role} did not send, where ${what} was due: it was changed on the way, or somebody sent another message`,
  };
}

function neverArrived(writer: Recording, reader: Recording, what: string): Cause {
  const isRefused = writer.role === 'client' && writer.failure?.closeCode === REFUSED;
  const text = `a message of the ${writer.role} never arrived while the ${reader.role} waited: ${what}`;
  return isRefused
    ? { name: 'message-lost', certainty: 'likely', text: `${text}. Or the hub closed before it could arrive` }
    : { name: 'message-lost', certainty: 'certain', text };
}

/** The code with which a hub closes a connection that it refuses. */
const REFUSED = 1008;

/** Compares the transport messages, of which the recordings have the lengths. */
function sealed(writer: Recording, reader: Recording): Cause | undefined {
  if (reader.failure === undefined) return undefined;
  const sent = writer.sealedLengths;
  const arrived = reader.hidden.filter(({ isText, state }) => !isText && ENCRYPTED.includes(state));
  const at = arrived.findIndex(({ length }, index) => length !== sent[index]);
  if (at < 0) {
    const isLost = isWaiting(reader) && reader.isReady && arrived.length < sent.length;
    return isLost ? neverArrived(writer, reader, transportMessage(arrived.length)) : undefined;
  }
  const { length } = arrived[at]!;
  if (!reader.failure.isOwn) return undefined;
  return sent.includes(length)
    ? {
        name: 'message-order',
        certainty: 'likely',
        text: `where ${transportMessage(at)} of the ${writer.role} was due, another one of it arrived: one was lost, repeated or overtaken on the way. Or it was changed, and happens to have the length of the other`,
      }
    : {
        name: 'message-changed',
        certainty: 'certain',
        text: `${transportMessage(at)} of the ${writer.role} was changed on the way: no message that it sent has the ${length} bytes that arrived`,
      };
}

function transportMessage(index: number): string {
  return `the transport message number ${index + 1}`;
}

function isWaiting({ failure }: Recording): boolean {
  return failure !== undefined && !failure.isOwn;
}

function describe({ type }: Passed): string {
  return {
    hello: 'HELLO',
    offer: 'HANDSHAKE with the offer',
    message: 'a Noise message',
    other: 'an envelope',
  }[type];
}
