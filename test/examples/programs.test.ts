/** Runs the core's program, the demo and small examples as a user runs them: on the built package. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { servePage } from '../../examples/page/server.ts';
import { PROGRAM } from '../package/readme.ts';
import { compiled } from '../world/bundled.ts';
import { ODD_TARGETS, requested } from '../world/hostile.ts';
import { assertShows } from './assert-shows.ts';

const root = new URL('../..', import.meta.url);

/** Runs Node in the project's folder. Rejects if it fails. */
function node(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(process.execPath, args, { cwd: root });
}

test('runs the core’s program, which has at most 30 lines', async () => {
  assert.ok(PROGRAM.trim().split('\n').length <= 30);
  const { stdout } = await node('--input-type=module', '-e', PROGRAM);
  assert.is(stdout, 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n');
});

test('runs the demo to its end', async () => {
  const { stdout, stderr } = await node(await compiled(new URL('examples/demo.ts', root)));
  assert.is(stderr, '');
  assertShows(stdout, [
    /hub +derives the pre-shared key/,
    /client +connects as kiosk-7/,
    /client +derives the pre-shared key/,
    /pin: stores the hub’s key/,
    /ready: XXpsk2, 25519_ChaChaPoly_SHA256/,
    /You said: What is on today\?/,
    /client → hub {2}17 transport messages {2}1 049 \d{3} B/,
    /hub → client {2}18 transport messages {2}1 049 \d{3} B/,
    /the same text/,
    /hub +stops/,
    /ended: dropped/,
    /dials again in \d+ ms/,
    /is back/,
    /Noise message 1, KKpsk0/,
    /ready: KKpsk0/,
    /is back with another key/,
    /dials again immediately/,
    /Noise message 1, XXpsk2/,
    /asks a person/,
    /ready: KKpsk0/,
    /connects as sensor-1/,
    /ready: XXpsk2/,
    /Everything went as it should\./,
  ]);
});

test('a client connects with a static key in a KeyObject, and with a non-extractable WebCrypto key', async () => {
  const { stdout } = await node(await compiled(new URL('examples/external-key.ts', root)));
  assert.equal(stdout.trim().split('\n'), [
    'KeyObject: ready, and the hub pinned its public key',
    'WebCrypto: ready, and the hub pinned its public key',
  ]);
});

test('the server of the page outlives a request of any path', async () => {
  const page = await servePage(0);
  const { port } = new URL(page.url);
  for (const path of [...ODD_TARGETS, '/hub//', '/%', '/%00', '/..%2f', '/../server.ts']) {
    const status = await requested(port, `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    assert.match(status, /^HTTP\/1.1 [24]0/, path);
  }
  await page.stop();
});

test('exports the promised names from each entry of the package', async () => {
  const code = `
    const [core, parts, recording, noble, aes, node] = await Promise.all(
      ['', '/parts', '/recording', '/noble', '/noble-aesgcm', '/node'].map((entry) => import('hub-protocol' + entry)));
    console.log(JSON.stringify([Object.keys(core), Object.keys(parts), Object.keys(recording), Object.keys(noble), Object.keys(aes), Object.keys(node)]));`;
  const [core, parts, ...others] = JSON.parse((await node('--input-type=module', '-e', code)).stdout);
  const promised =
    'ClientLink HubSession JsonNumber LocalError RemoteError RequestScheduler authorizedUrl brokerEndpoint buildAction ' +
    'buildCode buildUtterance canonicalJson clientId createKeyring derivePsk deriveTopics disclosureDue dropPin ' +
    'fingerprint forgetPsks nextSlots parseIdentity parseJson parseKeyring pinHub presence pskDerivation ' +
    'readAuthorization readHubEvent readRefusal readSlots readSpeech redactIdentity selectEndpoint serializeChanges ' +
    'serializeIdentity serializeKeyring storePsk updateKeyring wrap';
  assert.equal(core.sort(), promised.split(' '));
  assert.equal(
    parts.sort().join(' '),
    'Argon2id ClientSession ConnectionPolicy HandshakeState Reassembler ReplyCollector argon2id buildPrologue ' +
      'protocolName readOptions selectNoise sessionIdsMatch splitMessage',
  );
  assert.equal(others, [
    ['recordClientSession', 'recordHubSession'],
    ['nobleBlake2b', 'nobleCrypto'],
    ['nobleCryptoWithAesGcm'],
    ['importKey', 'nodeCrypto', 'randomBytes'],
  ]);
});

test.run();
