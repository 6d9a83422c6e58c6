/** `topics`: the MQTT topics, the broker and the client id of an identity. */

import type { Identity } from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { mqttConnectionOf } from '../connection.ts';
import { readAs, readIdentityFile } from '../files.ts';

const HIDDEN = '[access key]';

export const TOPICS: Command = {
  name: 'topics',
  summary: 'MQTT topics, broker and client id of an identity',
  usage: 'topics IDENTITY [options]',
  help: `\
Says where a client of this identity connects over MQTT, under which client id,
and on which topics.

  hub-protocol topics kiosk.json
  hub-protocol topics kiosk.json --secrets --json
      for a script that needs the topics themselves

Topics and client id contain the access key, which is a secret. Without
--secrets, ${HIDDEN} stands in its place.
`,
  options: {
    name: {
      type: 'string',
      argument: 'NAME',
      help: 'the name of the program, with which the client id starts (client)',
    },
    secrets: { type: 'boolean', help: 'print topics and client id with the access key' },
    'allow-plaintext': { type: 'boolean', help: 'accept a broker without TLS' },
  },
  run: topics,
};

function topics(args: Arguments): Result {
  const path = args.only('file of an identity');
  const identity = readIdentityFile(path);
  if (identity.mqtt === undefined) {
    throw new CannotRun(`${path} has no MQTT broker: it needs an address, a user name and a password of one`);
  }
  const name = args.text('name') ?? 'client';
  const secret = readAs(path, () =>
    mqttConnectionOf(identity, { name, allowPlaintext: args.flag('allow-plaintext') }),
  );
  const hide = hiding(identity);
  const json = args.flag('secrets')
    ? secret
    : {
        ...secret,
        publish: hide(secret.publish),
        subscribe: hide(secret.subscribe),
        status: hide(secret.status),
        client_id: `${name}-${HIDDEN}`,
      };
  const { broker } = json;
  const text = [
    `publish    ${json.publish}`,
    `subscribe  ${json.subscribe}`,
    `status     ${json.status}`,
    `QoS        ${json.qos}`,
    `broker     ${broker.url}  (port ${broker.port}, ${broker.tls ? 'with' : 'without'} TLS)`,
    `client id  ${json.client_id}`,
  ];
  return { status: 0, text: `${text.join('\n')}\n`, json };
}

/** A shorter secret can occur by chance: it hides a level only if it is the whole level. */
const SHORTEST = 6; // characters

/** Hides each level of a topic that is or contains a secret of the identity. */
function hiding({ accessKey, password, cryptoKey, mqtt }: Identity): (topic: string) => string {
  const secrets = [accessKey, password, cryptoKey, mqtt!.username, mqtt!.password].filter(
    (secret) => secret !== undefined,
  ) as string[];
  const isSecret = (level: string): boolean =>
    secrets.some((secret) => level === secret || (secret.length >= SHORTEST && level.includes(secret)));
  return (topic) =>
    topic
      .split('/')
      .map((level) => (isSecret(level) ? HIDDEN : level))
      .join('/');
}
