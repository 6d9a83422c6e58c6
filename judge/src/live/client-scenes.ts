/** The scenes of --connect, in which the judge is a client. */
import { OFFERED_SUITES, randomBytes, utf8ToBytes } from '../protocol.ts';
import { Failure } from '../verdict.ts';
import type { ClientChanges, JudgeClient } from './client.ts';
import { flip } from './envelopes.ts';
import { choice, type Scene, SceneOver } from './play.ts';
import { TRANSPORT_SCENES } from './transport-scenes.ts';
import { UNMASKED, WEBSOCKET_SCENES } from './websocket-scenes.ts';

type ClientScene = Scene<JudgeClient>;

/** A handshake with these changes, which the hub must complete, and a message that it sends back. */
function works(name: string, comment: string, changes: ClientChanges): ClientScene {
  return {
    name,
    comment,
    async play(client, connection) {
      const talk = await client.greet(connection, changes);
      await talk.expectEcho('json', 20);
    },
  };
}

/** A handshake with these changes, which the hub must refuse by closing the connection. */
function refused(name: string, comment: string, changes: () => ClientChanges): ClientScene {
  return {
    name,
    comment,
    async play(client, connection) {
      await client.greet(connection, changes());
    },
  };
}

/** A hub's possible words about a fault in the cleartext. */
const NEGOTIATION = /pattern|suite|offer|version|negotiat/i;
const TELLING =
  'close reason: it reveals to the peer why the handshake failed; it is the same for every cause, or empty';
const ADMISSION =
  'admission: an access key that was never issued is let in; refuse the connection, or close it before message 2';

export const CLIENT_SCENES: readonly ClientScene[] = [
  works('first-contact', 'XXpsk2, then messages both ways.', {}),
  works('reconnect', 'The hub offers KKpsk0 to a client whose key it knows.', { pattern: 'KKpsk0' }),
  ...OFFERED_SUITES.map((suite, index) => {
    const outcome = index === 0 ? 'The required suite works.' : 'This suite works where it is offered.';
    return works(`suite ${suite}`, outcome, { suite });
  }),
  choice(works('repeated-message', 'Message 1, repeated, changes nothing.', { repeats: true })),
  ...[...TRANSPORT_SCENES, ...WEBSOCKET_SCENES, UNMASKED].map(
    ({ play, ...scene }): ClientScene => ({
      ...scene,
      play: async (client, connection) => play(await client.greet(connection), connection),
    }),
  ),
  refused('not-offered-pattern', 'Message 1 names a pattern that was not offered.', () => ({
    claim: { pattern: 'NNpsk0' },
    refused: 'message 1',
  })),
  refused('not-offered-suite', 'Message 1 names a suite that was not offered.', () => ({
    claim: { suite: '448_ChaChaPoly_SHA512' },
    refused: 'message 1',
  })),
  refused('other-prologue', 'The client bound another HELLO or HANDSHAKE into its prologue.', () => ({
    prologue: utf8ToBytes('another'),
    refused: 'message 1',
  })),
  refused('damaged-message-1', 'The payload of message 1 does not open.', () => ({
    message1: (message) => flip(message, message.length - 1),
    refused: 'message 1',
  })),
  refused('truncated-message-1', 'Message 1 is cut short.', () => ({
    message1: (message) => message.subarray(0, 31),
    refused: 'message 1',
  })),
  choice(
    refused('low-order-key', 'The ephemeral key in message 1 is of low order.', () => ({
      isAccomplice: true,
      refused: 'message 1',
    })),
  ),
  refused('damaged-message-3', 'Message 3 does not open.', () => ({
    message3: (message) => flip(message, 0),
    refused: 'message 3',
  })),
  {
    name: 'wrong-password',
    comment: 'A client with another password cannot read message 2.',
    async play(client, connection) {
      try {
        await client.greet(connection, { psk: randomBytes(32) });
      } catch (error) {
        const isExpected =
          error instanceof Failure && error.difference.got.startsWith('payload-not-authentic');
        if (isExpected) return;
        throw error;
      }
      const expected = 'a payload that only the psk opens';
      throw new Failure({ where: 'message 2', expected, got: 'one that another psk opens' });
    },
  },
  refused('other-static-key', 'The client has another static key than the pinned one.', () => ({
    staticKey: randomBytes(32),
    refused: 'message 3',
  })),
  refused('failed-kk', 'Message 1 of KKpsk0 does not open.', () => ({
    pattern: 'KKpsk0',
    message1: (message) => flip(message, message.length - 1),
    refused: 'message 1',
  })),
  works('after-failed-kk', 'After a KKpsk0 that failed the hub takes XXpsk2, and has kept its pin.', {}),
  choice({
    name: 'close-reasons',
    comment: 'The close reason is the same for every handshake that cryptography refused.',
    async play(client, connection) {
      const before = [...client.reasons];
      await client
        .greet(connection, { message1: (message) => flip(message, message.length - 1), refused: 'message 1' })
        .catch((error) => {
          if (!(error instanceof SceneOver)) throw error;
        });
      const reasons = [...new Set([...before, ...client.reasons])].filter(
        (reason) => !NEGOTIATION.test(reason),
      );
      if (reasons.length <= 1) return;
      const got = reasons.map((reason) => JSON.stringify(reason)).join(', ');
      throw new Failure({ where: 'close reasons', expected: 'one, or none', got }, [TELLING]);
    },
  }),
  {
    name: 'unknown-access-key',
    comment: 'A client with an access key that was never issued is not let in.',
    accessKey: 'never-issued',
    async play(client, connection) {
      if (connection.isClosed) return;
      await client.greet(connection, { refused: 'message 1' }).catch((error) => {
        const isRefusal = error instanceof SceneOver || connection.isClosed;
        if (!isRefusal) throw new Failure(error.difference, [ADMISSION]);
      });
    },
  },
  works('still-there', 'After all that, the hub still has its static key and its pin.', {}),
];
