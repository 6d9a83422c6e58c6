/** No secret of an identity or a keyring is shown, wherever it was issued and whatever shows it. */
import { type AssertionError, deepStrictEqual } from 'node:assert';
import { Console } from 'node:console';
import { Writable } from 'node:stream';
import { inspect, isDeepStrictEqual } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { selectEndpoint } from '../../src/identity/endpoint.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { serializeIdentity } from '../../src/identity/serialize.ts';
import { createKeyring, storePsk, updateKeyring } from '../../src/keyring/keyring.ts';
import { brokerEndpoint } from '../../src/mqtt-topics/broker-endpoint.ts';
import { deriveTopics } from '../../src/mqtt-topics/topics.ts';
import { ClientSession } from '../../src/session/client-session.ts';
import { NODE_ID } from '../world/keys.ts';
import { clientOptions, HELLO, OFFER } from '../world/pair.ts';
import { fc, runs } from '../world/property.ts';
import { plain } from './plain.ts';

const RUNS = runs(100);

/** How a secret can be written. */
const FORMS: ((secret: string) => string)[] = [
  (secret) => secret,
  encodeURIComponent,
  (secret) => Buffer.from(secret).toString('base64'),
  (secret) => Buffer.from(secret).toString('base64url'),
  (secret) => Buffer.from(secret).toString('hex'),
  (secret) => Buffer.from(secret).toString('hex').toUpperCase(),
  (secret) => JSON.stringify(secret).slice(1, -1),
  (secret) => inspect(secret, { breakLength: Number.POSITIVE_INFINITY }).slice(1, -1),
];

const KNOWN_FORMS = new Map<string, string[]>();
function formsOf(secret: string): string[] {
  const forms = KNOWN_FORMS.get(secret) ?? [...new Set(FORMS.map((form) => form(secret)))];
  KNOWN_FORMS.set(secret, forms);
  return forms;
}

const EVERYTHING = {
  depth: Number.POSITIVE_INFINITY,
  breakLength: Number.POSITIVE_INFINITY,
  maxStringLength: null,
  maxArrayLength: null,
};

/** What the methods of a console write. */
function printed(print: (console: Console) => void): string {
  const chunks: string[] = [];
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  print(new Console({ stdout, inspectOptions: EVERYTHING }));
  return chunks.join('');
}

/** The message of a failed assertion, which shows both sides. */
function assertionMessage(value: unknown): string {
  try {
    deepStrictEqual(value, Symbol('something else'));
    return '';
  } catch (error) {
    return (error as AssertionError).message;
  }
}

/** Everything that tools show of a value without reading its fields by name. */
function shown(value: unknown): string {
  const isRecord = typeof value === 'object' && value !== null;
  const views = [
    `${value}`,
    JSON.stringify(value),
    inspect(value, EVERYTHING),
    inspect(value, { ...EVERYTHING, customInspect: false }),
    printed((console) => console.dir(value, EVERYTHING)),
    printed((console) => console.table(value)),
    printed((console) => console.table([value])),
    assertionMessage(value),
    isRecord && !(value instanceof Error) ? inspect(structuredClone(value), EVERYTHING) : '',
    isRecord ? inspect({ ...value }, EVERYTHING) : '',
  ];
  return views.join('\n').replace(/\n {4}at .*/g, '');
}

function assertHidden(secrets: string[], value: unknown, what: string): void {
  const text = shown(value);
  for (const secret of secrets) {
    for (const form of formsOf(secret)) assert.not.ok(text.includes(form), `${what} shows ${form}: ${text}`);
  }
}

/** What a call returns or throws. */
function outcome(call: () => unknown): { result?: unknown; error?: unknown } {
  try {
    return { result: call() };
  } catch (error) {
    return { error };
  }
}

// Arbitrary characters around a core that occurs nowhere by chance.
const character = fc.constantFrom(...'aZ0-_/+%=&?#@:"\'\\ \n\0\x7fé€😀');
const around = fc.string({ maxLength: 6, unit: character });
const secretText = fc
  .tuple(around, fc.stringMatching(/^[0-9a-zA-Z]{10}$/), around)
  .map((parts) => parts.join(''));
const secretBytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((key) => new Set(key).size > 8);

/** Generates an identity with secrets wherever there can be one, and lists them. */
function makeUp(g: fc.GeneratorValue): { fields: Record<string, unknown>; secrets: string[] } {
  const secrets: string[] = [];
  const secret = (): string => {
    const text = g(() => secretText);
    secrets.push(text);
    return text;
  };
  const oneOf = <T>(...values: T[]): T => values[g(fc.nat, { max: values.length - 1 })]!;
  const named = (names: string, value: unknown) => ({ [oneOf(...names.split('|'))]: value });
  const url = (scheme: string): string => {
    const written = oneOf(String, encodeURIComponent);
    const path = oneOf('', '/', '/p/q', '/@scope');
    const query = oneOf('?authorization=', '?a@b&authorization=', '#', '?x=1#');
    return `${scheme}://${written(secret())}:${written(secret())}@hub.example:1${path}${query}${written(secret())}`;
  };
  const unknown = (): unknown => {
    let value: unknown = secret();
    for (let depth = g(fc.nat, { max: 4 }); depth > 0; depth--) {
      value = oneOf([1, value], { [oneOf('token', '__proto__', 'toJSON')]: value }, { [secret()]: value });
    }
    return value;
  };
  const accessKey = secret();
  /** The access key in another field. */
  const stray = (): string => oneOf(...FORMS.slice(0, 6))(accessKey);

  const mqtt = {
    endpoint: oneOf(url('mqtt'), secret()),
    ...named('username|broker_username|brokerUsername', secret()),
    ...named('password|broker_password|brokerPassword', oneOf(secret(), null)),
    ...named('topic_prefix|topicPrefix', `hivemind/${secret()}`),
    ...named('c2s_topic|c2sTopic', secret()),
    ...named('s2c_topic|s2cTopic', secret()),
    ...named('status_topic|statusTopic', secret()),
    ...named('hub_id|hubId', stray()),
    vendor: unknown(),
  };
  const endpoints = {
    ...named('wss|ws', oneOf(url('wss'), `wss://hub/${stray()}`, secret())),
    ...named('https|http', url('https')),
    ...named('mqtt|mqtts', url('mqtts')),
    coap: unknown(),
  };
  const fields = {
    ...named('access_key|accessKey|api_key|key', accessKey),
    password: secret(),
    ...named('crypto_key|cryptoKey', secret()),
    ...named('public_key|publicKey', stray()),
    ...named('default_master|defaultMaster|hub_http_host|host|master', oneOf(url('https'), stray())),
    ...named('default_path|defaultPath|hub_http_path|path|uri_path', `/${stray()}?${secret()}`),
    ...named('data_plane_endpoints|dataPlaneEndpoints|endpoints', endpoints),
    protocols: { wss: { enabled: true, token: unknown() }, https: true, mqtt: true, quic: unknown() },
    mqtt,
    ...named('ai_disclosure|aiDisclosure', oneOf<unknown>(stray(), { en: stray() })),
    [stray()]: 1,
    vendor: unknown(),
  };
  return { fields, secrets };
}

test('nothing shows a secret of an identity', () => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const { fields, secrets } = makeUp(g);
      const identity = parseIdentity(JSON.stringify(fields));
      const { dataPlaneEndpoints, mqtt } = identity;
      const values = {
        identity,
        dataPlaneEndpoints,
        mqtt,
        list: [identity],
        redacted: redactIdentity(identity),
      };
      for (const [what, value] of Object.entries(values)) assertHidden(secrets, value, what);
      assertHidden(secrets, serializeIdentity(identity), 'serializeIdentity');
      const again = parseIdentity(serializeIdentity(identity, { secrets: true }));
      assert.is(isDeepStrictEqual(plain(again), plain(identity)), true); // without a message, which would show secrets
    }),
    RUNS,
  );
});

test('no error shows a secret of an identity', () => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const { fields, secrets } = makeUp(g);
      const identity = parseIdentity(JSON.stringify(fields));
      const text = JSON.stringify(fields);
      const names = Object.keys(fields);
      const spoilt = names[g(fc.nat, { max: names.length - 1 })]!;
      const calls: (() => unknown)[] = [
        () => parseIdentity(text.slice(0, g(fc.nat, { max: text.length }))),
        () => parseIdentity(`${text}${text}`),
        () => parseIdentity(text.replace('{', `{${JSON.stringify(spoilt)}:1,`)),
        () => parseIdentity({ ...fields, [spoilt]: [fields[spoilt]] }),
        () => parseIdentity({ ...fields, default_port: secrets[0] }),
        () => parseIdentity({ ...fields, protocols: { wss: secrets[0] } }),
        () => parseIdentity([fields]),
        ...(['wss', 'https', 'mqtt'] as const).map(
          (requested) => () => selectEndpoint(identity, { requested }),
        ),
        () => selectEndpoint(identity, { supported: [] }),
        () => brokerEndpoint(fields.mqtt as object),
        () => deriveTopics(fields.mqtt as object),
        () => deriveTopics({ ...(fields.mqtt as object), hub_id: secrets[1] }, { accessKey: secrets[0]! }),
      ];
      for (const call of calls) {
        // Addresses and topics that are returned contain secrets, and are documented as such.
        const { error } = outcome(call);
        if (error !== undefined) assertHidden(secrets, error, String(call));
      }
    }),
    RUNS,
  );
});

test('no event and no error of a session shows a secret of its identity or its keyring', () => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const { fields, secrets } = makeUp(g);
      const identity = parseIdentity(JSON.stringify(fields));
      const [staticKey, psk, other] = [g(() => secretBytes), g(() => secretBytes), g(() => secretBytes)];
      const { accessKey } = identity;
      const pin = { type: 'pin', nodeId: NODE_ID, key: new Uint8Array(32).fill(9) } as const;
      const created = createKeyring({ accessKey, staticKey });
      const devices = [
        created,
        storePsk(created, NODE_ID, psk),
        updateKeyring(storePsk(created, NODE_ID, psk), pin),
      ];
      const keys = [staticKey, psk].map((key) => Buffer.from(key));
      const hidden = [
        ...secrets,
        ...keys.flatMap((key) => [
          key.toString('hex'),
          key.toString('base64'),
          key.join(','),
          key.join(', '),
        ]),
      ];
      for (const device of devices) {
        assertHidden(hidden, device, 'the keyring');
        const client = new ClientSession({ ...clientOptions({ siteId: identity.siteId }), keyring: device });
        const events = [...client.start(), ...client.receive(HELLO), ...client.receive(OFFER)];
        const { error } = outcome(() => client.providePsk(other.subarray(1)));
        const ended = [...client.receive(secrets[0]!), ...client.closed(1008)];
        assertHidden(hidden, [...events, error, ...ended], 'the session');
        assertHidden(hidden, client, 'the session itself');
      }
    }),
    RUNS,
  );
});

test.run();
