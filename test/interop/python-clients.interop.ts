/** Python clients from PyPI against HubSession. */
import { createHash } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { derivePsk, type JsonObject, parseJson, type Suite } from '../../src/index.ts';
import { answer, FILE } from './answer.ts';
import { files } from './certificate.ts';
import { homeIn } from './hivemind.ts';
import { compare } from './matrix.ts';
import { OurHub } from './our-hub.ts';
import { HIVEMIND, PythonPeer, versionOf } from './python-peer.ts';

const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const LENGTHS = [5, 200_000];
/** Further payload fields, which clients do not read but must bind. Numbers are written as Python writes them. */
const FURTHER = `{"h\u00fcb \u{1f3e0}":1.0,"\ue000":12345678901234567890,"\u{1f600}":-0.0,"big":1e+22,"small":1.5e-07,
  "ratio":0.1,"\\b\\u001f\\u007f\\u2028":"\\"","__proto__":{"constructor":null}}`;

interface Report {
  /** `ready`, or the name of the exception that was raised. */
  outcome: string;
  replies: string[];
  /** The SHA-256 of each file that arrived. */
  files: string[];
}

const test = suite('Python clients against HubSession');

const utterance = (length: number) => `\u00e4${'x'.repeat(length)}`;
const pskOf = (password: string) => derivePsk({ crypto: nodeCrypto, password, nodeId: NODE_ID });

/** Connects a client once. It keeps its keys in a home directory of this name. */
async function run(name: string, hub: OurHub, home: string, options: object = {}): Promise<Report> {
  const all = {
    port: hub.port,
    accessKey: 'kiosk+??>-7',
    password: PASSWORD,
    lengths: [5],
    retries: 0,
    linger: 0,
    ...options,
  };
  const script = new URL('clients.py', import.meta.url).pathname;
  const peer = new PythonPeer<Report>([...HIVEMIND, 'python', script, name, JSON.stringify(all)], {
    ...homeIn(home),
    REQUESTS_CA_BUNDLE: files.ca,
    WEBSOCKET_CLIENT_CA_BUNDLE: files.ca,
  });
  const report = await peer.report();
  await peer.stop();
  return report;
}

for (const name of ['hivemind-bus-client', 'thalovant']) {
  const version = versionOf(name === 'thalovant' ? name : 'hivemind_bus_client');
  for (const suiteName of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
    const home = `${name}-${suiteName}`;
    const row = { peer: name, version, role: 'client' as const, suite: suiteName };
    const check = (pattern: string, what: string, body: () => Promise<string | undefined>) =>
      compare(test, { ...row, pattern, what }, body);
    const hub = await OurHub.start({
      nodeId: NODE_ID,
      staticKey: randomBytes(32),
      psk: pskOf(PASSWORD),
      suite: suiteName,
      hello: parseJson(FURTHER) as JsonObject,
      handshake: parseJson(FURTHER) as JsonObject,
      answer,
    });
    test.after(() => hub.stop());

    check('XXpsk2', 'first contact; 200 kB of JSON and of bytes', async () => {
      const report = await run(name, hub, home, { lengths: LENGTHS, file: true });
      assert.is(report.outcome, 'ready');
      assert.equal(report.replies, LENGTHS.map(utterance));
      assert.equal(report.files, [createHash('sha256').update(FILE).digest('hex')]);
      assert.is(hub.first('ready')?.pattern, 'XXpsk2');
      assert.is(hub.first('hello')?.error, undefined);
    });

    check('KKpsk0', 'reconnect', async () => {
      const report = await run(name, hub, home, { lengths: LENGTHS });
      assert.is(report.outcome, 'ready');
      assert.equal(report.replies, LENGTHS.map(utterance));
      assert.is(hub.first('ready')?.pattern, 'KKpsk0');
    });

    if (suiteName === '25519_AESGCM_SHA256') continue; // the other tests do not depend on the suite, and some are slow

    check('KKpsk0', 'the password changes at the client', async () => {
      const report = await run(name, hub, home, { password: 'wrong' });
      assert.is(report.outcome, 'ready');
      assert.is(hub.first('ready')?.pattern, 'KKpsk0');
      return 'keeps using its stored PSK';
    });

    check('XXpsk2', 'wrong password', async () => {
      const report = await run(name, hub, `${home}-wrong`, { password: 'wrong' });
      assert.is(report.outcome, name === 'thalovant' ? 'ThalovantHubRefusedError' : 'RuntimeError');
      assert.is(hub.first('ready'), undefined);
    });

    check('XXpsk2', 'lost static key: our hub refuses it', async () => {
      if (name === 'thalovant') {
        const report = await run(name, hub, `${home}-lost`);
        assert.match(report.outcome, /^Thalovant(Connection|ClientKeyRejected)Error$/);
        assert.is(hub.refusals[0], 'client-key-changed');
        return undefined;
      }
      const report = await run(name, hub, `${home}-lost`, { lengths: [], linger: 9 });
      assert.is(hub.refusals[0], 'client-key-changed');
      if (report.outcome === 'RuntimeError') return 'fails if 1008 arrives before it waits for its handshake';
      assert.is(report.outcome, 'ready');
      assert.is(hub.refusals[1], 'kk-failed');
      return 'does not treat 1008 after message 3 as a refusal, and dials again';
    });

    check('KKpsk0', 'our hub’s key changes', async () => {
      hub.options = { ...hub.options, staticKey: randomBytes(32) };
      const report = await run(name, hub, home, { retries: 2 });
      assert.is(
        report.outcome,
        name === 'thalovant' ? 'ThalovantHubKeyChangedError' : 'ConnectionRefusedError',
      );
      return 'keeps the pin, which the spec drops, and refuses the hub after XXpsk2';
    });

    check('XXpsk2', 'a number that Python would write differently', async () => {
      hub.clientKey = undefined;
      hub.options = { ...hub.options, hello: {}, handshake: parseJson('{"big":1e22}') as JsonObject };
      await run(name, hub, `${home}-number`);
      assert.is(hub.first('close')?.error.code, 'prologue-differs');
      // Message 1 opens if the number is written as Python does.
      const offer = `{"max_protocol_version":3,"noise":{"patterns":["XXpsk2"],"suites":["${suiteName}"]},"big":1e+22}`;
      hub.readMessage1(JSON.stringify({ node_id: NODE_ID }), offer);
      return 'binds `1e+22` for `1e22`';
    });
  }
}

test.run();
