/** What vectors/identity.json cannot say of identities: forms of the input, inherited fields, and what errors show. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalCode, LocalError } from '../../src/errors.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { redactIdentity } from '../../src/identity/redact.ts';
import { raisesLocal } from '../world/raises.ts';

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
  for (const default_port of [443, '443', ' 443\n']) assert.is(identityOf({ default_port }).defaultPort, 443);
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

// A damaged identity, in the forms that people have: the error says what and where, and shows no value.
const TEXT = '{\n  "access_key": "kiosk-7",\n  "password": "correct horse"\n}\n';
const UTF16 = new Uint8Array([0xff, 0xfe, ...Array.from(TEXT).flatMap((char) => [char.charCodeAt(0), 0])]);
const BYTES = new TextEncoder().encode(TEXT);
const asText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const put = (part: string, other: string): string => TEXT.replace(part, other);

const FORMS: readonly (readonly [string | Uint8Array, string])[] = [
  ['', 'is empty'],
  [' \n', 'is empty'],
  [new Uint8Array(300), 'has nothing but zeros, as files have after the power was lost'],
  ['\0'.repeat(300), 'has nothing but zeros, as files have after the power was lost'],
  [UTF16, 'is UTF-16: save it as UTF-8'],
  [asText(UTF16), 'is UTF-16: save it as UTF-8'],
  [UTF16.subarray(2), 'is UTF-16: save it as UTF-8'],
  ['-----BEGIN CERTIFICATE-----\n', 'is a certificate or a key in PEM: is this the right file?'],
  ['<!DOCTYPE html>', 'is HTML or XML: is this the right file?'],
  ['access_key: kiosk-7\n', 'is not JSON, but looks like YAML or a list of variables'],
  ['ACCESS_KEY=kiosk-7\n', 'is not JSON, but looks like YAML or a list of variables'],
  ['correct horse', 'is not JSON: it does not begin with {'],
  [TEXT.slice(0, 40), 'ends too early, at line 3, column 12'],
  [TEXT.slice(0, 50), 'ends too early, at line 3, column 22'],
  [TEXT.slice(0, 27), 'ends too early, at line 2, column 26'],
  [
    `${TEXT.slice(0, 40)}${'\0'.repeat(9)}`,
    'has zeros, as files have after the power was lost, at line 3, column 12',
  ],
  [
    `${TEXT.slice(0, 50)}${'\0'.repeat(9)}`,
    'has zeros, as files have after the power was lost, at line 3, column 22',
  ],
  [`${TEXT}${'\0'.repeat(9)}`, 'has zeros, as files have after the power was lost, at line 5, column 1'],
  [put('horse"', 'horse",'), 'has a comma too many, or lacks a value, at line 4, column 1'],
  [put('7",', '7"'), 'lacks a comma or a colon, at line 3, column 3'],
  [put('"password":', '"password"'), 'lacks a comma or a colon, at line 3, column 14'],
  [TEXT.replace(/"/g, "'"), 'has other quotes than ", at line 2, column 3'],
  [TEXT.replace(/"/g, '\u201c'), 'has other quotes than ", at line 2, column 3'],
  [put('{', '{ // mine'), 'has a comment, which JSON does not know, at line 1, column 3'],
  [put('"password"', 'password'), 'has a word without quotes, at line 3, column 3'],
  [put('"correct horse"', '*'), 'has a character that cannot be there, at line 3, column 15'],
  [put('correct', 'corr\nect'), 'has a line break or a tab inside of quotes, at line 3, column 20'],
  [put('correct', 'C:\\Users'), 'has a single backslash: write two, at line 3, column 18'],
  [put('password', 'access_key'), 'has the key "access_key" twice, at line 3, column 3'],
  ['{"a b":1,"a b":2}', 'has the key of this place twice, at line 1, column 10'],
  [`${TEXT}{}`, 'goes on after its end, at line 5, column 1'],
  ['['.repeat(300), 'is nested too deeply, at line 1, column 202'],
  ['{"a":[1,true,{},[]],"a":0}', 'has the key "a" twice, at line 1, column 21'],
  [
    new Uint8Array([...BYTES.subarray(0, 20), 0xff, ...BYTES.subarray(20)]),
    'is not JSON in UTF-8, at line 5, column 1',
  ],
];

for (const [input, what] of FORMS) {
  test(`an identity that ${what}, is told so${typeof input === 'string' ? '' : ', as bytes'}: ${input.length}`, () => {
    assert.throws(
      () => parseIdentity(input),
      ({ code, message }: LocalError) => code === 'identity-not-json' && message === `the identity ${what}`,
    );
  });
}

test.run();
