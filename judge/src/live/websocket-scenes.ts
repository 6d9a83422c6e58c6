/** What RFC 6455 asks of a WebSocket that somebody wrote: pings, fragments, masks, and the accept key. */
import { Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';
import type { JudgeHub } from './hub.ts';
import { choice, type Scene } from './play.ts';
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
      await talk.expectEcho('json', 10); // a hub that has refused the judge answers no ping either
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

const TAKES_MASK =
  'WebSocket: a masked frame of a hub is taken; a client fails the connection (RFC 6455, section 5.1)';
const TAKES_NO_MASK =
  'WebSocket: a frame of a client without a mask is taken; a hub closes the connection (RFC 6455, section 5.1)';

/** Sends a sealed message whose frame has the wrong mask. Deployed libraries differ. */
async function mismask(talk: Talk, connection: Connection, cause: string): Promise<void> {
  await talk.expectEcho('json', 10);
  talk.sendChanged('"mask"', (sealed) => {
    connection.sendMismasked(sealed);
    return [];
  });
  await connection.expectClose('a frame with the wrong mask').catch((error) => {
    throw error instanceof Failure && error.causes.length === 0
      ? new Failure(error.difference, [cause])
      : error;
  });
}

/** For a hub: a client that does not mask. */
export const UNMASKED: TransportScene = {
  name: 'unmasked-client',
  comment: 'A frame of a client without a mask ends the connection.',
  isChoice: true,
  play: (talk, connection) => mismask(talk, connection, TAKES_NO_MASK),
};

const ACCEPTS_ANY =
  'WebSocket: the client does not check Sec-WebSocket-Accept, and talks to what may be no WebSocket (RFC 6455, section 4.1)';

/**
 * For a client, the last scenes: many programs take such a hub for broken and end. If a client does not come back, what is
 * left is not reached.
 */
export const LAST_OF_WEBSOCKET: readonly Scene<JudgeHub>[] = [
  {
    name: 'masked-hub',
    comment: 'A masked frame of a hub ends the connection.',
    async play(hub: JudgeHub, connection: Connection) {
      await mismask(await hub.greet(connection), connection, TAKES_MASK);
    },
  },
  {
    name: 'wrong-accept',
    comment: 'A wrong Sec-WebSocket-Accept fails the connection.',
    async play(hub: JudgeHub, _connection: Connection, next: () => Promise<Connection>) {
      hub.spoilsAccept = true;
      const link = await next().finally(() => {
        hub.spoilsAccept = false;
      });
      await hub.greet(link, { refused: 'a wrong Sec-WebSocket-Accept' }).catch((error) => {
        throw error instanceof Failure ? new Failure(error.difference, [ACCEPTS_ANY]) : error;
      });
    },
  },
].map((scene) => choice({ ...scene, mayEnd: true as const }));

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
