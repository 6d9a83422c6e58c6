/** What vectors/identity.json cannot say of identities: forms of the input, inherited fields, and what errors show. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode } from '../../src/errors.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { raisesLocal } from '../world/raises.ts';
import { plain } from './plain.ts';

const KEYS = { access_key: 'ak', password: 'pw' };
const BROKER = { endpoint: 'mqtt://broker', username: 'user', password: 'broker-pw' };

const identityOf = (fields: object): Identity => parseIdentity({ ...KEYS, ...fields });

test('reads a string, bytes, a Buffer and an object alike, also after a byte order mark', () => {
  const json = '{"access_key":"ak","password":"pä🔑"}';
  const texts = [json, `\ufeff${json}`];
  for (const input of [
    ...texts,
    ...texts.map((text) => Buffer.from(text)),
    new Uint8Array(Buffer.from(json)),
    JSON.parse(json),
  ]) {
    const { accessKey, password } = parseIdentity(input);
    assert.equal([accessKey, password], ['ak', 'pä🔑']);
  }
});

test('reads an identity that it returned', () => {
  const identity = identityOf({
    site: 's',
    host: 'hub.example',
    port: '5680',
    public_key: 'pk',
    mqtt: { ...BROKER, c2s_topic: 'c', qos: '2', topic_prefix: 7 },
    endpoints: { ws: 'ws://h' },
    path: [],
  });
  const again = parseIdentity(identity);
  assert.equal(plain(again), plain(identity));
  assert.equal(redactIdentity(again), redactIdentity(identity));
});

test('ignores what objects inherit', () => {
  raisesLocal(() => parseIdentity(Object.create(KEYS)), 'identity-access-key');
  raisesLocal(() => parseIdentity('{"__proto__":{"access_key":"a","password":"p"}}'), 'identity-access-key');
});

test('reads a disclosure for each language, whatever the language is called', () => {
  const json = '{"access_key":"a","password":"p","ai_disclosure":{"__proto__":"Hi","en|de":"Ho"}}';
  assert.is(JSON.stringify(parseIdentity(json).aiDisclosure), '{"__proto__":"Hi","en|de":"Ho"}');
});

test('leaves out languages whose disclosure is not a string', () => {
  const { aiDisclosure } = identityOf({ ai_disclosure: { en: 'A machine.', fr: null, version: 2, de: {} } });
  assert.equal(aiDisclosure, { en: 'A machine.' });
});

test('refuses input that is not JSON in UTF-8', () => {
  const latin1 = new Uint8Array([0x22, 0xff, 0x22]);
  for (const input of ['', '{', '{"a":1,}', "{'a':1}", latin1, new Uint8Array(0)]) {
    raisesLocal(() => parseIdentity(input), 'identity-not-json');
  }
});

test('refuses input that is not an object', () => {
  for (const input of ['null', '[]', '"ak"', '1', '1.0', null, [], 1, undefined, true]) {
    raisesLocal(() => parseIdentity(input as object), 'identity-not-an-object');
  }
});

const SECRET = 'S3cr3t';
const SECRETIVE: [unknown, LocalCode][] = [
  [`{"access_key":"${SECRET}"`, 'identity-not-json'],
  [Buffer.from(`${SECRET}\xff`, 'latin1'), 'identity-not-json'],
  [[SECRET], 'identity-not-an-object'],
  [`"${SECRET}"`, 'identity-not-an-object'],
  [{ access_key: [SECRET], password: SECRET }, 'identity-access-key'],
  [{ access_key: SECRET, password: [SECRET] }, 'identity-password'],
];
test('reads a blank broker address as absent, and an address of another type as unusable', () => {
  const endpoints = { mqtt: 'mqtts://elsewhere' };
  for (const [endpoint, expected] of [
    [' ', 'mqtts://elsewhere'],
    [7, ''],
  ]) {
    const { mqtt } = identityOf({ endpoints, mqtt: { endpoint, username: 'user', password: 'pw' } });
    assert.is(mqtt?.endpoint, expected);
  }
});

test('leaves out fields that were not issued, and reads no flag from a list', () => {
  const identity = identityOf({ protocols: { https: ['on'] }, mqtt: { ...BROKER, tls: ['on'] } });
  assert.equal('siteId' in identity, true);
  assert.equal(
    ['cryptoKey', 'publicKey', 'defaultMaster'].filter((name) => name in identity),
    [],
  );
  assert.equal([identity.protocols.https, identity.mqtt?.tls], [false, false]);
  const { unreadableFields, unknownFields } = redactIdentity(identity);
  assert.equal([unreadableFields, unknownFields], [['protocols.https', 'mqtt.tls'], undefined]);
  assert.equal(redactIdentity(identityOf({ unknown: 1 })).unknownFields, ['unknown']);
  assert.equal(redactIdentity(identityOf({ site_id: 7 })).unreadableFields, ['site_id']);
});

test('reads a flag from a word, and a number from its digits, and nothing else', () => {
  const words = { true: ['1', 'true', 'yes', 'on', 'ON', 1], false: ['0', 'false', 'no', 'off', 'OFF', 0] };
  for (const [flag, forms] of Object.entries(words))
    for (const word of forms) {
      const { wss, https } = identityOf({ protocols: { wss: word, https: word } }).protocols;
      assert.equal([`${wss}`, `${https}`], [flag, flag], `${word}`);
    }
  for (const wss of [' on', 'maybe', 2, ''])
    assert.is(identityOf({ protocols: { wss } }).protocols.wss, true);
  for (const default_port of [443, '443']) assert.is(identityOf({ default_port }).defaultPort, 443);
  for (const default_port of [443.5, '0443', '443x', 0, 65_536, true])
    assert.is(identityOf({ default_port }).defaultPort, 5679, `${default_port}`);
});

test('shows no value in an error', () => {
  for (const [input, code] of SECRETIVE) {
    const error = raisesLocal(() => parseIdentity(input as object), code);
    const inspected = inspect(error, { showHidden: true });
    for (const shown of [String(error), error.stack!, inspected]) {
      assert.is(shown.includes(SECRET), false, code);
    }
    assert.is(error.cause, undefined);
  }
});

test.run();
