/** The Rust client from crates.io against HubSession over WebSocket. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../../src/crypto/node.ts';
import { type JsonObject, parseJson, type Suite } from '../../src/index.ts';
import { answer, FILE } from './answer.ts';
import { compare } from './matrix.ts';
import { OurHub } from './our-hub.ts';
import { buildRust } from './rust.ts';
import { LONG, NODE_ID, PASSWORD, PSK, ROW, RustClient, SHORT } from './rust-client.ts';

/** Further payload fields, which the client does not read but must bind, in forms that it does not rewrite. */
const FURTHER = `{"h\u00fcb \u{1f3e0}":1.0,"\ue000":12345678901234567890,"\u{1f600}":-0.0,"big":1e+22,"ratio":0.1,
  "\\b\\u001f\\u007f\\u2028":"\\"","__proto__":{"constructor":null}}`;

const test = suite('the Rust client over WebSocket');
test.before(buildRust);

const dial = (url: string, store: string, password = PASSWORD): RustClient =>
  new RustClient('wss', store, {
    access_key: 'kiosk+??>-7',
    password,
    default_master: url,
    data_plane_endpoints: { wss: url },
  });

for (const suiteName of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
  const check = (pattern: string, what: string, body: () => Promise<string | undefined>) =>
    compare(test, { ...ROW, suite: suiteName, pattern, what: `WebSocket: ${what}` }, body);
  const hub = await OurHub.start({
    nodeId: NODE_ID,
    staticKey: randomBytes(32),
    psk: PSK,
    suite: suiteName,
    withoutTls: true,
    hello: parseJson(FURTHER) as JsonObject,
    handshake: parseJson(FURTHER) as JsonObject,
    answer,
  });
  test.after(() => hub.stop());
  const url = `ws://localhost:${hub.port}`;
  const store = `rust-${suiteName}`;

  check('XXpsk2', 'first contact; 200 kB of JSON each way and of bytes from the hub', async () => {
    const client = dial(url, store);
    await client.expectReady();
    await client.ask(SHORT);
    await client.ask(LONG);
    await client.askForFile('a file, please', FILE);
    await client.end();
    assert.is(hub.first('ready')?.pattern, 'XXpsk2');
    assert.is(hub.first('hello')?.error, undefined);
    return undefined;
  });

  check('KKpsk0', 'reconnect after a restart, and after a lost connection', async () => {
    const client = dial(url, store);
    await client.expectReady();
    await client.ask(LONG);
    assert.is(hub.first('ready')?.pattern, 'KKpsk0');
    const { seen } = hub;
    hub.drop();
    await client.expectLoss();
    await client.ask(SHORT);
    await client.end();
    assert.is.not(hub.seen, seen);
    assert.is(hub.first('ready')?.pattern, 'KKpsk0');
    return undefined;
  });

  if (suiteName === '25519_AESGCM_SHA256') continue; // the other tests do not depend on the suite

  check('KKpsk0', 'the password changes at the client', async () => {
    assert.is((await dial(url, store, 'wrong').outcome()).outcome, 'ready');
    assert.is(hub.first('ready')?.pattern, 'KKpsk0');
    return 'keeps using its stored PSK';
  });

  check('XXpsk2', 'wrong password', async () => {
    assert.is((await dial(url, 'rust-wrong', 'wrong').outcome()).outcome, 'refused');
    assert.is(hub.first('ready'), undefined);
    return undefined;
  });

  check('XXpsk2', 'lost static key: our hub refuses it', async () => {
    assert.is((await dial(url, 'rust-lost').outcome()).outcome, 'client-key-rejected');
    assert.is(hub.refusals[0], 'client-key-changed');
    return undefined;
  });

  check('KKpsk0', 'JSON that is not an envelope', async () => {
    const client = dial(url, store);
    await client.expectReady();
    hub.options = { ...hub.options, answer: () => [{ speech: 'hello' }] };
    hub.drop(); // the next connection has the new options
    await client.expectLoss();
    await client.say(SHORT);
    await client.expectLoss();
    await client.end();
    hub.options = { ...hub.options, answer };
    return 'ends the session';
  });

  check('KKpsk0', 'our hub’s key changes', async () => {
    hub.options = { ...hub.options, staticKey: randomBytes(32) };
    assert.is((await dial(url, store).outcome()).outcome, 'hub-key-changed');
    assert.is(hub.refusals.at(-1), 'kk-failed');
    return 'keeps the pin, which the spec drops, and refuses the hub after XXpsk2';
  });

  check('XXpsk2', 'numbers that it would write differently', async () => {
    const sent = '{"long":123456789012345678901234567890,"small":1.5e-07,"zero":-0}';
    const bound = '"long":1.2345678901234568e+29,"small":1.5e-7,"zero":-0.0';
    hub.clientKey = undefined;
    hub.options = { ...hub.options, hello: {}, handshake: parseJson(sent) as JsonObject };
    assert.is((await dial(url, 'rust-numbers').outcome()).outcome, 'refused');
    assert.is(hub.first('close')?.error.code, 'prologue-differs');
    hub.readMessage1(
      JSON.stringify({ node_id: NODE_ID }),
      `{"max_protocol_version":3,"noise":{"patterns":["XXpsk2"],"suites":["${suiteName}"]},${bound}}`,
    );
    return 'binds `1.5e-7` for `1.5e-07`, `-0.0` for `-0`, and 17 digits of integers over 64 bits';
  });
}

const what = 'WebSocket: a certificate from a private authority';
compare(test, { ...ROW, pattern: 'none', suite: 'none', what }, async () => {
  const suite = '25519_ChaChaPoly_SHA256';
  const hub = await OurHub.start({ nodeId: NODE_ID, staticKey: randomBytes(32), psk: PSK, suite, answer });
  const { outcome, message } = await dial(`wss://localhost:${hub.port}`, 'rust-tls').outcome();
  hub.stop();
  assert.is(outcome, 'failed');
  assert.match(message!, 'UnknownIssuer');
  return 'cannot be configured to trust it';
});

test.run();
