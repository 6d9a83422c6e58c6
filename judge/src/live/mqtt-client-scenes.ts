/** The scenes of `--mqtt hub`, in which the judge is a client and the broker. */
import type { JudgeClient } from './client.ts';
import { CLIENT_SCENES } from './client-scenes.ts';
import type { HubConnection } from './mqtt-hub.ts';
import { choice, type Scene } from './play.ts';

type MqttScene = Scene<JudgeClient, HubConnection>;

/** Over MQTT there is no text, and nothing is closed. An access key that was never issued has its own topics. */
const OF_WEB_SOCKETS = [
  'text',
  'repeats',
  'close-reasons',
  'unknown-access-key',
  'ping',
  'fragments',
  'unmasked-client',
];

const OWN: readonly MqttScene[] = [
  {
    name: 'unknown-access-key',
    comment: 'A client with an access key that was never issued meets silence.',
    accessKey: 'never-issued',
    async play(_client, connection) {
      await connection.expectNothing('HELLO of an access key that was never issued');
    },
  },
  {
    name: 'offline',
    comment: 'A hub ends the session of a client that is `offline`: messages of that session are not opened.',
    async play(client, connection) {
      const talk = await client.greet(connection);
      await talk.expectEcho('json', 20);
      await connection.sayOffline();
      talk.sendJson('"after"');
      await connection.expectClose('offline');
    },
  },
  choice({
    name: 'client-restarted',
    comment: 'A HELLO in the clear on an encrypted session ends it.',
    async play(client, connection) {
      const talk = await client.greet(connection);
      await talk.expectEcho('json', 20);
      connection.announce();
      talk.sendJson('"after"');
      await connection.expectClose('HELLO in the clear');
    },
  }),
  choice({
    name: 'retained',
    comment: 'A retained message on `in` belongs to no session, and is ignored.',
    async play(client, connection) {
      const talk = await client.greet(connection);
      await talk.expectEcho('json', 20);
      await connection.sendRetained(new Uint8Array(40));
      await talk.expectEcho('json', 20);
    },
  }),
];

const last = CLIENT_SCENES.length - 1;

export const MQTT_CLIENT_SCENES: readonly MqttScene[] = [
  ...CLIENT_SCENES.slice(0, last).filter(({ name }) => !OF_WEB_SOCKETS.includes(name)),
  ...OWN,
  CLIENT_SCENES[last]!,
];
