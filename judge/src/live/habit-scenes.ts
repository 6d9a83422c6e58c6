/** Scenes of several connections, which show the habits of a client: whether it pauses, and which PSKs it keeps. */
import { randomBytes } from '../protocol.ts';
import { Declined, Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';
import type { JudgeHub } from './hub.ts';
import { choice, type Scene, SceneOver } from './play.ts';

const REDIALS = 4;
const AT_ONCE = 250; // milliseconds for all of them

const NO_PAUSE =
  'back-off: the client dials again immediately, however often its connections end; thousands of them keep a hub from starting';
const PSK_KEPT =
  'psk: the client keeps a PSK that does not open message 2; after the password was changed, it would never find out';

const ROUNDS = [2, 3]; // each with a hub that is new to the client
/** How many times longer a client takes with a derived PSK than with a stored one, if this can be measured. */
const RATIO = 4;
const NOISE = 40; // milliseconds

/** How long the client takes for a handshake with another hub, in milliseconds. */
async function timed(hub: JudgeHub, link: Connection, another: number): Promise<number> {
  await hub.greet(link, { patterns: ['XXpsk2'], another }).catch((error) => {
    throw link.isClosed ? new Declined() : error; // a client that trusts one hub only
  });
  return hub.lastTime;
}

const ONE_PSK =
  'psk: the client uses the PSK of one hub for another; derive it anew, since the node id is its salt, and store each PSK for its node id';
const ONE_PIN =
  'pin: the client compares the key of one hub with the pin of another; a pin belongs to the node id for which it was stored';

const NO_NEW_HUB =
  'the client does not begin a handshake with a hub that is new to it: it trusts pinned hubs only, or has no PSK for this one';

/**
 * Greets a client for a hub that is new to it.
 * @param isRenamed - whether this hub has the static key of the judge’s own
 * @param cause - why a client ends the handshake
 */
async function greetNew(
  hub: JudgeHub,
  another: number,
  isRenamed: boolean,
  next: () => Promise<Connection>,
  cause: string,
): Promise<void> {
  hub.another(another, isRenamed); // this takes time, so the connection before is not used
  const link = await next();
  const talk = await hub.greet(link, { patterns: ['XXpsk2'], another }).catch((error) => {
    const { where } = error instanceof Failure ? error.difference : { where: undefined };
    if (where === 'message 1') throw new Declined(NO_NEW_HUB);
    // A client may send message 3 before it looks at the key.
    const isRefused = where === 'message 3' || where === 'the sealed HELLO';
    if (isRefused && link.isClosed) throw new Failure(error.difference, [cause]);
    throw error;
  });
  await talk.expectEcho('json', 20);
}

export const HABIT_SCENES: readonly Scene<JudgeHub>[] = [
  {
    name: 'another-hub',
    comment: 'A hub with another node id has another PSK.',
    play: (hub, _connection, next) => greetNew(hub, 4, true, next, ONE_PSK),
  },
  {
    name: 'another-hub-key',
    comment: 'A hub with another node id has no pin yet, whatever its address.',
    play: (hub, _connection, next) => greetNew(hub, 5, false, next, ONE_PIN),
  },
  choice({
    name: 'back-off',
    comment: 'A client whose connections end as they begin pauses before it dials again.',
    async play(_hub, _connection, next) {
      const start = performance.now();
      for (let i = 0; i < REDIALS; i++) await next();
      const time = Math.round(performance.now() - start);
      if (time >= AT_ONCE) return;
      const got = `${REDIALS} connections in ${time} ms`;
      throw new Failure({ where: 'connections that end immediately', expected: 'pauses between them', got }, [
        NO_PAUSE,
      ]);
    },
  }),
  choice({
    name: 'forgotten-psk',
    comment:
      'A PSK that does not open message 2 is forgotten: the client derives it again, which takes time.',
    async play(hub, _connection, next) {
      let isKept = true;
      for (const another of ROUNDS) {
        hub.another(another); // this takes time, too, so this connection is not used
        const derived = await timed(hub, await next(), another);
        const stored = Math.min(
          await timed(hub, await next(), another),
          await timed(hub, await next(), another),
        );
        const link = await next();
        await hub.greet(link, { patterns: ['XXpsk2'], another, psk: randomBytes(32) }).catch((error) => {
          if (!(error instanceof SceneOver)) throw error;
        });
        const after = await timed(hub, await next(), another);
        const isTold = derived > RATIO * stored + NOISE; // if not, it stores none, or derives in no time
        if (isTold && after > stored + (derived - stored) / RATIO) return;
        isKept &&= isTold;
      }
      if (!isKept) throw new Declined();
      const difference = {
        where: 'the PSK after message 2 did not open',
        expected: 'derived again',
        got: 'the stored one',
      };
      throw new Failure(difference, [PSK_KEPT]);
    },
  }),
];
