/** The scenes of `--mqtt client`, in which the judge is a hub and the broker. */
import { Failure } from '../verdict.ts';
import { envelope, flip } from './envelopes.ts';
import type { JudgeHub } from './hub.ts';
import { HUB_SCENES } from './hub-scenes.ts';
import type { ClientConnection, Presence } from './mqtt-client.ts';
import { choice, type Scene } from './play.ts';

type MqttScene = Scene<JudgeHub, ClientConnection>;

/**
 * Over MQTT, which does not distinguish text from bytes, a hub that greets on a session has lost it: that is
 * `hub-restarted`.
 */
const OF_WEB_SOCKETS = [
  'text',
  'repeats',
  'repeated-offer',
  'close-reasons',
  'ping',
  'fragments',
  'masks',
  'split-greeting',
];

const FORM = 'with QoS 1, retained';

function failure(where: string, expected: string, got: string, cause: string): Failure {
  return new Failure({ where, expected, got }, [cause]);
}

function checkForm({ payload, qos, retain }: Presence): void {
  if (qos === 1 && retain) return;
  const got = `with QoS ${qos}, ${retain ? 'retained' : 'not retained'}`;
  throw failure(`${payload} on status`, FORM, got, `presence: ${payload} is published ${FORM}`);
}

const OWN: readonly MqttScene[] = [
  {
    name: 'will',
    comment: 'The will is `offline` on the status topic, with QoS 1, retained.',
    async play(_hub, { peer, topics }) {
      const { will } = peer.connect;
      const expected = `offline on ${topics.status}, ${FORM}`;
      if (will === undefined) {
        throw failure(
          'the will in CONNECT',
          expected,
          'none',
          'will: it is missing, so a hub does not learn that the client is gone',
        );
      }
      const { topic, payload, qos, retain } = will;
      const text = String(payload);
      if (topic === topics.status && text === 'offline' && qos === 1 && retain) return;
      const got = `${text} on ${topic}, with QoS ${qos}, ${retain ? 'retained' : 'not retained'}`;
      throw failure('the will in CONNECT', expected, got, `will: it is offline on the status topic, ${FORM}`);
    },
  },
  {
    name: 'presence',
    comment: 'The client says `offline` before it announces itself, and `online` once the session is ready.',
    async play(hub, connection) {
      const { presence, before } = connection;
      const early = presence.slice(0, before);
      if (early.at(-1)?.payload !== 'offline') {
        const cause =
          'presence: the client does not say offline before HELLO, so that a hub that remembers an earlier session stays silent';
        throw failure(
          'status before HELLO',
          'offline',
          early.at(-1)?.payload ?? 'nothing',
          early.some(({ payload }) => payload === 'online') ? EARLY : cause,
        );
      }
      const talk = await hub.greet(connection);
      await talk.expectEcho('json', 20);
      if (!(await connection.says('online'))) {
        const cause = 'presence: the client does not say online when its session is ready';
        throw failure('status once the session is ready', 'online', 'nothing', cause);
      }
      presence.forEach(checkForm);
    },
  },
  {
    name: 'goodbye',
    comment: 'The client says `offline` before DISCONNECT, after which no will is published.',
    async play(hub, connection) {
      const talk = await hub.greet(connection);
      await talk.expectEcho('json', 20);
      talk.sendChanged('{}', (sealed) => [flip(sealed, sealed.length - 1)]);
      await connection.expectClose('a damaged message');
      if ((await connection.says('offline')) || !connection.peer.hasDisconnected) return;
      const cause =
        'presence: the client disconnects without saying offline, and its will is not published then';
      throw failure('status before DISCONNECT', 'offline', 'nothing', cause);
    },
  },
  choice({
    name: 'clean-session',
    comment: 'The client connects with a clean session, and always with the same client id.',
    async play(hub, { peer }) {
      const { clean, clientId } = peer.connect;
      if (!clean) {
        const cause =
          'clean session: the broker keeps messages of one session for the next, which cannot decrypt them';
        throw failure('CONNECT', 'a clean session', 'none', cause);
      }
      const earlier = hub.clientIds.find((id) => id !== clientId);
      if (earlier === undefined) return;
      const cause =
        'client id: it changes, so that the will of an earlier connection may end a later session';
      throw failure('the client id', earlier, clientId, cause);
    },
  }),
  choice({
    name: 'retained',
    comment: 'A retained message on `out` belongs to no session, and is ignored.',
    async play(hub, connection) {
      const talk = await hub.greet(connection);
      await talk.expectEcho('json', 20);
      await connection.peer.publish(connection.topics.out, new Uint8Array(40), true);
      await talk.expectEcho('json', 20);
    },
  }),
  {
    name: 'hub-restarted',
    comment:
      'A hub that has lost the session greets in the clear: the client ends the session and comes back.',
    async play(hub, connection) {
      const talk = await hub.greet(connection);
      await talk.expectEcho('json', 20);
      connection.send(envelope('hello', `{"node_id":${JSON.stringify(hub.nodeId)}}`));
      await connection.expectClose('a greeting in the clear');
    },
  },
  choice({
    name: 'silence',
    comment: 'A hub refuses by silence: a client whose KKpsk0 is not answered gives up by itself.',
    async play(hub, connection) {
      await hub.greet(connection, { patterns: ['XXpsk2', 'KKpsk0'], expects: 'KKpsk0', isSilent: true });
    },
  }),
  choice({
    name: 'after-silence',
    comment: 'After that it makes one attempt with XXpsk2, which shows what was wrong.',
    async play(hub, connection) {
      const talk = await hub.greet(connection, { patterns: ['XXpsk2', 'KKpsk0'] });
      await talk.expectEcho('json', 20);
      if (talk.pattern === 'XXpsk2') return;
      const cause =
        'silence: after a KKpsk0 without an answer the client tries KKpsk0 again; if its password or the hub’s key has changed, it does so forever';
      throw failure('pattern after silence', 'XXpsk2', talk.pattern, cause);
    },
  }),
];

const EARLY = 'presence: the client says online before its session is ready';

const last = HUB_SCENES.findIndex(({ name }) => name === 'still-there');

export const MQTT_HUB_SCENES: readonly MqttScene[] = [
  ...HUB_SCENES.slice(0, last).filter(({ name }) => !OF_WEB_SOCKETS.includes(name)),
  ...OWN,
  HUB_SCENES[last]!,
];
