/** What RFC 6455 asks of a WebSocket that somebody wrote: pings, fragments, long lengths, masks, and the accept key. */
import { Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';
import type { Talk } from './talk.ts';
import type { TransportScene } from './transport-scenes.ts';

const PING = 'WebSocket: a ping is not answered with a pong (RFC 6455, section 5.5.2)';
const NO_MASK =
  'WebSocket: frames of a client are masked with zeros (RFC 6455, section 5.3: take random bytes)';
const SAME_MASK =
  'WebSocket: all frames of a client have the same mask (RFC 6455, section 5.3: take new random bytes for each)';

/** Waits for the answer to a ping. */
export async function expectPong(connection: Connection): Promise<void> {
  if (await connection.ping()) return;
  throw new Failure({ where: 'a ping', expected: 'a pong with the same bytes', got: 'none' }, [PING]);
}

/** For both sides. */
export const WEBSOCKET_SCENES: readonly TransportScene[] = [
  {
    name: 'ping',
    comment: 'A ping is answered with a pong.',
    async play(talk, connection) {
      await expectPong(connection);
      await talk.expectEcho('json', 20);
    },
  },
  {
    name: 'fragments',
    comment: 'A sealed message in three fragments, with a ping between them, is one message.',
    async play(talk, connection) {
      connection.splitsNext = true;
      await talk.expectEcho('binary', 1000);
      await expectPong(connection);
    },
  },
];

/** For a client: the masks of its frames. */
export const MASKS: TransportScene = {
  name: 'masks',
  comment: 'A client masks each frame with four new random bytes.',
  async play(talk: Talk, connection: Connection) {
    for (let i = 0; i < 4; i++) await talk.expectEcho('json', 20);
    const masks = new Set(connection.masks);
    if (masks.size !== 1) return;
    const [mask] = masks;
    const causes = [mask === '00000000' ? NO_MASK : SAME_MASK];
    const got = `${mask} in all ${connection.masks.length} frames`;
    throw new Failure({ where: 'the masks of frames', expected: 'a new one for each', got }, causes);
  },
};

/** Reads the masks of the frames in a stream of bytes, whatever its pieces are. */
export class MaskReader {
  readonly masks: string[] = [];
  #head: number[] = [];
  /** Bytes of the current frame's payload that are still to come. */
  #left = 0;

  push(bytes: Uint8Array): void {
    let at = 0;
    while (at < bytes.length) {
      const skipped = Math.min(this.#left, bytes.length - at);
      at += skipped;
      this.#left -= skipped;
      if (at === bytes.length) return;
      this.#head.push(bytes[at++]!);
      this.#readHead();
    }
  }

  #readHead(): void {
    const head = this.#head;
    const short = (head[1] ?? 0) & 0x7f;
    const extra = short === 126 ? 2 : short === 127 ? 8 : 0;
    const isMasked = ((head[1] ?? 0) & 0x80) !== 0;
    if (head.length < 2 + extra + (isMasked ? 4 : 0)) return;
    const long = head.slice(2, 2 + extra).reduce((length, byte) => 256 * length + byte, 0);
    this.#left = extra === 0 ? short : long;
    if (isMasked) this.masks.push(Buffer.from(head.slice(2 + extra)).toString('hex'));
    this.#head = [];
  }
}
