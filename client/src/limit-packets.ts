/** What a broker may send. MQTT.js would buffer up to 256 MiB for one packet, and takes seconds for 64 KiB of the shortest ones. */
import type { MqttClient } from 'mqtt';
import { GrowingBuffer } from './growing-buffer.ts';

/** The most packets in what a socket reads at once, which is at most 64 KiB. */
const MAX_PACKETS_AT_ONCE = 2000;
const PUBLISH = 3; // MQTT 3.1.1, section 2.2.1

interface Sharing {
  /**
   * Whether several peers send messages over this connection, so that none may end it for the others: a message that is too long is then
   * cut, and still too long for a session, and their number is no fault.
   */
  readonly isShared?: boolean;
  /** Is told what is kept of a packet that is not complete, in bytes. */
  readonly arriving?: (bytes: number) => void;
}

/**
 * Ends the connection to a broker that sends a packet that is too long, or too many at once. MQTT.js gets packets as a whole: it would
 * keep each piece of one by itself.
 * @param maxPacket - the most bytes of a packet after its length (MQTT 3.1.1, section 2.2.3)
 */
export function limitPackets(
  { stream }: MqttClient,
  maxPacket: number,
  { isShared = false, arriving = () => {} }: Sharing = {},
): void {
  const [read] = stream.listeners('data') as [(part: Uint8Array) => void]; // of MQTT.js
  let head: number[] = []; // the type of the packet, and its length as far as it was read
  let rest = 0; // of the packet, in bytes
  let excess = 0; // what then follows, and is not passed on
  let partial = new GrowingBuffer(maxPacket);
  /** What MQTT.js may read with a part: heads, and what follows them as a whole. `undefined` to end the connection. */
  const tolerable = (part: Uint8Array): Uint8Array[] | undefined => {
    const pieces: Uint8Array[] = [];
    let whole = 0; // pieces
    let count = 0;
    for (let at = 0; at < part.length; ) {
      if (rest + excess > 0) {
        const end = Math.min(at + (rest || excess), part.length);
        if (rest > 0) {
          pieces.push(part.subarray(at, end));
          rest -= end - at;
          if (rest === 0) whole = pieces.length;
        } else excess -= end - at;
        at = end;
        continue;
      }
      if (head.push(part[at++]!) === 1 && ++count > MAX_PACKETS_AT_ONCE && !isShared) return undefined;
      if (head.length === 1 || head.at(-1)! >= 128) {
        if (head.length > 4) return undefined;
        continue;
      }
      rest = head.slice(1).reduce((length, byte, i) => length + ((byte & 127) << (7 * i)), 0);
      if (rest > maxPacket) {
        if (!isShared || head[0]! >> 4 !== PUBLISH) return undefined;
        excess = rest - maxPacket;
        rest = maxPacket;
        head = [
          head[0]!,
          ...[0, 7, 14, 21].map((shift) => ((maxPacket >> shift) & 127) | (shift < 21 ? 128 : 0)),
        ];
      }
      pieces.push(Uint8Array.from(head));
      whole = pieces.length; // what is no MQTT is noticed at the head
      head = [];
    }
    const packets = pieces.splice(0, whole);
    if (whole > 0) {
      packets.unshift(partial.bytes);
      partial = new GrowingBuffer(maxPacket);
    }
    for (const piece of pieces) partial.add(piece);
    arriving(partial.room);
    return packets;
  };
  stream.on('data', (part: Uint8Array) => {
    const pieces = tolerable(part);
    if (pieces === undefined) stream.destroy();
    else if (pieces.length > 0) read.call(stream, Buffer.concat(pieces));
  });
  stream.removeListener('data', read);
}
