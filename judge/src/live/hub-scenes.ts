/** The scenes of --listen, in which the judge is a hub. */
import { OFFERED_SUITES, randomBytes } from '../protocol.ts';
import { Declined, Failure } from '../verdict.ts';
import { flip } from './envelopes.ts';
import { HABIT_SCENES } from './habit-scenes.ts';
import type { HubChanges, JudgeHub } from './hub.ts';
import { choice, type Scene, SceneOver } from './play.ts';
import { TRANSPORT_SCENES } from './transport-scenes.ts';
import { LAST_OF_WEBSOCKET, MASKS, WEBSOCKET_SCENES } from './websocket-scenes.ts';

type HubScene = Scene<JudgeHub>;

/** A handshake with these changes, which the client must complete, and a message that it sends back. */
function works(name: string, comment: string, changes: HubChanges): HubScene {
  return {
    name,
    comment,
    async play(hub, connection) {
      const talk = await hub.greet(connection, changes);
      await talk.expectEcho('json', 20);
    },
  };
}

/** A handshake with these changes, which the client must not continue. */
function refused(name: string, comment: string, changes: () => HubChanges): HubScene {
  return {
    name,
    comment,
    async play(hub, connection) {
      await hub.greet(connection, changes());
    },
  };
}

/** An optional suite is offered beside the required one first, then alone: the client's own order decides. */
function suiteScene(suite: string, isRequired: boolean): HubScene {
  const comment = isRequired ? 'The offer has this suite only.' : 'The offer has this suite too, then only.';
  const scene = works(`suite ${suite}`, comment, { suites: [...new Set([suite, OFFERED_SUITES[0]!])] });
  return {
    ...scene,
    async play(hub, connection, next) {
      await scene.play(hub, connection, next);
      if (hub.lastSuite === suite) return;
      const preferred = hub.lastSuite;
      const link = await next();
      await works(suite, comment, { suites: [suite] })
        .play(hub, link, next)
        .catch((error) => {
          const isRefusal =
            error instanceof Failure && error.difference.where === 'message 1' && link.isClosed;
          throw isRefusal
            ? new Declined(`not reached, since the client prefers ${preferred} and refuses offers without it`)
            : error;
        });
    },
  };
}

const XX = ['XXpsk2'];

const TELLING =
  'close reason: it reveals to the hub why message 2 was refused; it is the same for every cause, or empty';
const KK_AGAIN =
  'pin: after a KKpsk0 that failed the client tries KKpsk0 again; it drops the pin, or at least uses XXpsk2 next, which shows what was wrong';

/** Fields that end up in the prologue only if its canonical JSON is exact. */
const UNKNOWN_FIELDS =
  '"h\u00fcb \ud83c\udfe0":1.0,"\ue000":12345678901234567890,"\ud83d\ude00":-0.0,"__proto__":{"a":null},"c":"\\b\\u0001/<"';

export const HUB_SCENES: readonly HubScene[] = [
  works('first-contact', 'XXpsk2, then the client’s HELLO as its first sealed message.', { patterns: XX }),
  {
    name: 'reconnect',
    comment: 'A client that pinned the hub’s key uses KKpsk0 where it is offered.',
    async play(hub, connection) {
      const talk = await hub.greet(connection, { patterns: ['XXpsk2', 'KKpsk0'] });
      await talk.expectEcho('json', 20);
      if (talk.pattern !== 'KKpsk0') throw new Declined();
    },
  },
  ...OFFERED_SUITES.map((suite, index) => suiteScene(suite, index === 0)),
  works('unknown-fields', 'Fields that the client does not know are part of the prologue.', {
    fields: UNKNOWN_FIELDS,
  }),
  works('split-greeting', 'HELLO and the offer arrive in fragments, with pings between them.', {
    fragments: true,
  }),
  choice(
    works('large-offer', 'HELLO and the offer have 200 KiB each.', {
      fields: `"x":"${'x'.repeat(200 * 1024)}"`,
    }),
  ),
  choice(works('repeated-offer', 'HELLO and the offer, repeated, change nothing.', { repeats: true })),
  ...[...TRANSPORT_SCENES, ...WEBSOCKET_SCENES, MASKS].map(
    ({ play, ...scene }): HubScene => ({
      ...scene,
      play: async (hub, connection) => play(await hub.greet(connection), connection),
    }),
  ),
  refused('version', 'The client refuses a hub below protocol 3.', () => ({
    version: '2',
    refused: 'the offer',
  })),
  refused('no-suite', 'The client refuses a hub without a common suite.', () => ({
    suites: ['448_ChaChaPoly_SHA512'],
    refused: 'the offer',
  })),
  refused('no-pattern', 'The client refuses a hub without a common pattern.', () => ({
    patterns: ['NNpsk0'],
    refused: 'the offer',
  })),
  refused('no-node-id', 'The client refuses a HELLO without a node id.', () => ({
    patterns: XX,
    hello: '{}',
    refused: 'HELLO',
  })),
  choice(
    refused('offer-first', 'The client refuses an offer before HELLO.', () => ({
      offerFirst: true,
      refused: 'the offer',
    })),
  ),
  refused('damaged-static-key', 'The static key in message 2 does not open.', () => ({
    patterns: XX,
    message2: (message) => flip(message, 40),
  })),
  refused('damaged-payload', 'The payload of message 2 does not open.', () => ({
    patterns: XX,
    message2: (message) => flip(message, message.length - 1),
  })),
  refused('truncated-message-2', 'Message 2 is cut short.', () => ({
    patterns: XX,
    message2: (message) => message.subarray(0, 60),
  })),
  choice(
    refused('low-order-key', 'The ephemeral key in message 2 is of low order.', () => ({
      patterns: XX,
      isAccomplice: true,
    })),
  ),
  refused('wrong-password', 'The hub has another password: it gets no message 3.', () => ({
    patterns: XX,
    psk: randomBytes(32),
  })),
  refused('changed-key', 'The hub has another key than the pinned one: it is refused.', () => ({
    patterns: XX,
    staticKey: randomBytes(32),
    mayGetMessage3: true,
  })),
  refused('changed-key-again', 'The pin stays: another key is refused the next time, too.', () => ({
    patterns: XX,
    staticKey: randomBytes(32),
    mayGetMessage3: true,
  })),
  choice(
    refused('changed-key-early', 'A hub with another key than the pinned one gets no message 3.', () => ({
      patterns: XX,
      staticKey: randomBytes(32),
    })),
  ),
  {
    name: 'failed-kk',
    comment: 'Message 2 of KKpsk0 does not open: the client goes no further.',
    async play(hub, connection) {
      const message2 = (message: Uint8Array): Uint8Array => flip(message, message.length - 1);
      await hub.greet(connection, { patterns: ['XXpsk2', 'KKpsk0'], expects: 'KKpsk0', message2 });
    },
  },
  {
    name: 'after-failed-kk',
    comment:
      'After a KKpsk0 that failed the client uses XXpsk2, though KKpsk0 is offered, and its pin counts or is new.',
    async play(hub, connection) {
      const talk = await hub.greet(connection, { patterns: ['XXpsk2', 'KKpsk0'] });
      await talk.expectEcho('json', 20);
      if (talk.pattern === 'XXpsk2') return;
      const difference = { where: 'pattern after a failed KKpsk0', expected: 'XXpsk2', got: talk.pattern };
      throw new Failure(difference, [KK_AGAIN]);
    },
  },
  choice({
    name: 'close-reasons',
    comment: 'The close reason is the same for every message 2 that the client refuses.',
    async play(hub, connection, next) {
      for (const at of [40, 96]) {
        const link = at === 40 ? connection : await next();
        const message2 = (message: Uint8Array): Uint8Array => flip(message, at);
        await hub.greet(link, { patterns: XX, message2 }).catch((error) => {
          if (!(error instanceof SceneOver)) throw error;
        });
      }
      if (hub.reasons.size <= 1) return;
      const got = [...hub.reasons].map((reason) => JSON.stringify(reason)).join(', ');
      throw new Failure({ where: 'close reasons', expected: 'one, or none', got }, [TELLING]);
    },
  }),
  ...HABIT_SCENES,
  works('still-there', 'After all that, the client still has its static key and its pin.', { patterns: XX }),
  ...LAST_OF_WEBSOCKET,
];
