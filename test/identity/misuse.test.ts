/** The functions for identities and MQTT throw nothing but LocalErrors, whatever their arguments are. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { LocalError } from '../../src/errors.ts';
import { authorizedUrl } from '../../src/identity/authorized-url.ts';
import { disclosureDue } from '../../src/identity/disclosure.ts';
import { selectEndpoint } from '../../src/identity/endpoint.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { serializeIdentity } from '../../src/identity/serialize.ts';
import { brokerEndpoint } from '../../src/mqtt-topics/broker-endpoint.ts';
import { clientId } from '../../src/mqtt-topics/client-id.ts';
import { presence } from '../../src/mqtt-topics/presence.ts';
import { deriveTopics } from '../../src/mqtt-topics/topics.ts';

const ISSUED = {
  access_key: 'ak',
  password: 'pw',
  host: 'hub',
  mqtt: { topic_prefix: 'a', endpoint: 'mqtts://b' },
};

// biome-ignore lint/suspicious/noExplicitAny: the arguments are deliberately of unexpected types
const CALLS: { readonly [name: string]: (value: any) => unknown } = {
  parseIdentity: (value) => parseIdentity(value),
  'parseIdentity: a field': (value) =>
    parseIdentity({ ...ISSUED, protocols: value, mqtt: value, site: value, ai_disclosure: value }),
  redactIdentity: (value) => redactIdentity(value),
  'redactIdentity: a field': (value) =>
    redactIdentity({ accessKey: 'ak', password: 'pw', aiDisclosure: value } as never),
  serializeIdentity: (value) => serializeIdentity(value),
  'serializeIdentity: secrets': (value) => serializeIdentity(value, { secrets: true }),
  'serializeIdentity: options': (value) => serializeIdentity(ISSUED as never, value),
  selectEndpoint: (value) => selectEndpoint(value),
  'selectEndpoint: options': (value) => selectEndpoint(ISSUED as never, value),
  'selectEndpoint: supported': (value) => selectEndpoint(ISSUED as never, { supported: value }),
  'selectEndpoint: requested': (value) => selectEndpoint(ISSUED as never, { requested: value }),
  'authorizedUrl: url': (value) => authorizedUrl(value, 'a', 'b'),
  'authorizedUrl: userAgent': (value) => authorizedUrl('wss://hub', value, 'b'),
  'authorizedUrl: accessKey': (value) => authorizedUrl('wss://hub', 'a', value),
  'authorizedUrl: options': (value) => authorizedUrl('wss://hub', 'a', 'b', value),
  disclosureDue: (value) => disclosureDue(value, { lastGiven: 'never' }),
  'disclosureDue: aiDisclosure': (value) => disclosureDue({ aiDisclosure: value }, { lastGiven: 'never' }),
  'disclosureDue: situation': (value) => disclosureDue({}, value),
  brokerEndpoint: (value) => brokerEndpoint(value),
  'brokerEndpoint: options': (value) => brokerEndpoint(ISSUED.mqtt, value),
  deriveTopics: (value) => deriveTopics(value),
  'deriveTopics: options': (value) => deriveTopics(ISSUED.mqtt, value),
  'deriveTopics: accessKey': (value) => deriveTopics(ISSUED.mqtt, { accessKey: value }),
  'clientId: name': (value) => clientId(value, 'ak'),
  'clientId: accessKey': (value) => clientId('name', value),
  presence: (value) => presence(value),
};

function revoked(target: object): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** An object whose getters throw. */
function throwing(...names: string[]): object {
  const object = {};
  for (const name of names) {
    Object.defineProperty(object, name, {
      enumerable: true,
      get() {
        throw new RangeError('getter');
      },
    });
  }
  return object;
}

const circular: { [name: string]: unknown } = { access_key: 'ak', password: 'pw' };
circular.self = circular;
circular.mqtt = circular;
circular.aiDisclosure = circular;

const HOSTILE: { readonly [name: string]: unknown } = {
  undefined: undefined,
  null: null,
  '{}': {},
  '[]': [],
  number: 7,
  NaN,
  string: 'wss://hub',
  'empty string': '',
  boolean: true,
  symbol: Symbol('s'),
  bigint: 1n,
  function: () => 1,
  'object without prototype': Object.create(null),
  'revoked proxy of an object': revoked({}),
  'revoked proxy of an array': revoked([]),
  'revoked proxy of bytes': revoked(new Uint8Array(1)),
  'throwing getters': throwing(
    ...['access_key', 'accessKey', 'password', 'mqtt', 'endpoint', 'topic_prefix', 'status', 'secrets'],
    ...['aiDisclosure', 'lastGiven', 'supported', 'allowPlaintext', 'en', 'toString', 'issued'],
  ),
  'throwing proxy': new Proxy(
    {},
    {
      get() {
        throw new TypeError('trap');
      },
      ownKeys() {
        throw new TypeError('trap');
      },
      getOwnPropertyDescriptor() {
        throw new TypeError('trap');
      },
    },
  ),
  'throwing toString': { toString: () => assert.unreachable() },
  circular,
  Date: new Date(NaN),
  Map: new Map([['access_key', 'ak']]),
};

function assertLocal(call: (value: unknown) => unknown, value: unknown, what: string): void {
  try {
    call(value);
  } catch (error) {
    assert.instance(error, LocalError, `${what} threw ${String(error)}`);
    const { code } = error as LocalError;
    const isDocumented =
      /^(bad-|identity-|no-|unsupported-protocol|not-json|unsafe-number|json-depth|lone-)/.test(code);
    assert.ok(isDocumented, `${what}: ${code}`);
  }
}

for (const [name, call] of Object.entries(CALLS)) {
  test(`${name} throws nothing but LocalErrors`, () => {
    for (const [kind, value] of Object.entries(HOSTILE)) assertLocal(call, value, `${name} with ${kind}`);
    fc.assert(
      fc.property(fc.anything({ withDate: true, withMap: true, withNullPrototype: true }), (value) =>
        assertLocal(call, value, name),
      ),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 50) },
    );
  });
}

test('refuses null as not an identity, or as a bad argument', () => {
  for (const name of ['parseIdentity', 'redactIdentity', 'serializeIdentity', 'selectEndpoint']) {
    assert.throws(
      () => CALLS[name]!(null),
      ({ code }: LocalError) => code === 'identity-not-an-object',
      name,
    );
  }
  for (const name of ['disclosureDue', 'disclosureDue: situation', 'presence', 'authorizedUrl: options']) {
    assert.throws(
      () => CALLS[name]!(null),
      ({ code }: LocalError) => code === 'bad-argument',
      name,
    );
  }
});

test.run();
