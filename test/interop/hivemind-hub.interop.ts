/** ClientSession against HiveMind's hub. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeBinary, encodeBinary } from '../../src/binary.ts';
import { randomBytes } from '../../src/crypto/node.ts';
import {
  authorizedUrl,
  buildUtterance,
  type JsonObject,
  parseIdentity,
  readHubEvent,
  readRefusal,
  type Suite,
} from '../../src/index.ts';
import { ReplyCollector } from '../../src/parts.ts';
import { authority } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { type Account, Connection } from './our-client.ts';
import { versionOf } from './python-peer.ts';

const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const WRONG = 'another passphrase altogether';
/** The client's name, which the hub puts into `peer` of its HELLO. */
const NAME = 'K\u00fcche \ue000 \u{1f3e0}';
/** The hub's configuration. It puts these ciphers into its HANDSHAKE: protocol 3 does not use them, but binds them. */
const SETTINGS = `"allowed_ciphers":["CHACHA20-POLY1305",{"h\u00fcb \u{1f3e0}":1.0,"\ue000":12345678901234567890,
  "\u{1f600}":-0.0,"big":1e22,"small":1.5e-7,"ratio":0.1}]`;
const LONG = `\u00e4${'x'.repeat(200_000)}`;

const test = suite('ClientSession against HiveMind’s hub');
const hub = await HivemindHub.create(SETTINGS);
test.after(() => hub.stop());

/** Sends a bus message (default an utterance), and returns the collector with the complete reply. */
async function ask(connection: Connection, options: { text?: string; type?: string }) {
  const { text = 'are you there?', type } = options;
  const request = { requestId: 'r-1', sessionId: 'interop', text };
  const envelope = buildUtterance(request);
  if (type !== undefined) (envelope.payload as JsonObject).type = type;
  const collector = new ReplyCollector({ requestId: 'r-1', sessionId: 'interop', type });
  connection.sendJson(envelope);
  while (collector.state !== 'done') {
    for (const message of await connection.messages()) {
      if (message.kind === 'json') collector.push(message.text, true);
    }
  }
  return collector;
}

let clients = 0;
for (const name of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
  const accessKey = `kiosk-${name}`;
  const identity = parseIdentity({ access_key: accessKey, password: PASSWORD, site_id: 'lobby' });
  const account: Account = {
    url: authorizedUrl(`wss://localhost:${hub.port}`, 'interop', accessKey),
    ca: authority,
    identity,
    staticKey: randomBytes(32),
    suite: name,
  };
  const wrong = parseIdentity({ access_key: accessKey, password: WRONG, site_id: 'lobby' });
  const row = {
    peer: 'hivemind-core',
    version: versionOf('hivemind-core'),
    role: 'hub' as const,
    suite: name,
  };
  const check = (pattern: string, what: string, run: () => Promise<string | undefined>) =>
    compare(test, { ...row, pattern, what }, run);
  let clientNumber = 0;

  check('XXpsk2', 'first contact, a request and its reply', async () => {
    clientNumber = ++clients;
    const words = ['--access-key', accessKey, '--password', PASSWORD, '--allow', 'recognizer_loop:utterance'];
    await hub.command('add-client', '--name', NAME, ...words);
    if (clientNumber === 1) await hub.start();
    const connection = new Connection(account);
    const ready = await connection.first('ready');
    assert.is(ready.pattern, 'XXpsk2');
    assert.is(ready.suite, name);
    assert.is(ready.encoding, 'JSON-HEX');
    assert.equal(account.pin, ready.hubKey);
    const { reply, ending } = await ask(connection, { text: 'what time is it?' });
    assert.is(ending, 'handled');
    assert.is(reply.text, 'You said: what time is it?');
    assert.is(reply.sessionId, 'interop');
    const [hello, offer] = connection.cleartext;
    assert.match(hello!, NAME);
    assert.match(offer!, '"h\u00fcb \u{1f3e0}": 1.0, "\ue000": 12345678901234567890, "\u{1f600}": -0.0');
    assert.match(offer!, '"big": 1e+22, "small": 1.5e-07');
    assert.is((await connection.close()).reason, 'dropped');
  });

  check('KKpsk0', 'reconnect; 200 kB of JSON and 200 kB of bytes each way', async () => {
    const connection = new Connection(account);
    assert.is((await connection.first('ready')).pattern, 'KKpsk0');
    assert.is((await ask(connection, { text: LONG })).reply.text, `You said: ${LONG}`);
    const file = {
      msg_type: 'bin',
      bin_type: 'file',
      metadata: { file_name: 'a.bin' },
      payload: randomBytes(200_000),
    } as const;
    connection.sendBinary(encodeBinary(file));
    const [echo] = await connection.messages();
    assert.ok(echo?.kind === 'binary');
    assert.equal(decodeBinary(echo.bytes), file);
    await connection.close();
  });

  check('KKpsk0', 'the example clients’ ping, which the hub ignores', async () => {
    const connection = new Connection(account);
    await connection.first('ready');
    connection.sendJson({ msg_type: 'ping', payload: {} });
    assert.is((await ask(connection, {})).reply.text, 'You said: are you there?');
    await connection.close();
  });

  check('KKpsk0', 'messages without session fields', async () => {
    const session = {
      session_id: 'mic-1',
      lang: 'de-de',
      pipeline: ['a'],
      system_unit: 'imperial',
      location: { lat: 52.5, lon: 13.4, tz: 'Europe/Berlin' },
    };
    const connection = new Connection({ ...account, hello: { session } });
    await connection.first('ready');
    const question = { type: 'recognizer_loop:utterance', data: { utterances: ['session?'] } };
    const given = async (context: JsonObject): Promise<JsonObject> => {
      connection.sendJson({ msg_type: 'bus', payload: { ...question, context } });
      for (;;) {
        for (const message of await connection.messages()) {
          const event = message.kind === 'json' ? readHubEvent(message.text) : undefined;
          if (event?.type === 'speak') return JSON.parse(String(event.data.utterance));
        }
      }
    };
    const kept = await given({});
    assert.match(String(kept.session_id), /:mic-1$/);
    assert.is(kept.lang, 'de-DE');
    assert.is(kept.site_id, 'lobby');
    assert.is(kept.system_unit, 'imperial');
    assert.is((kept.location as JsonObject).tz, 'Europe/Berlin');
    assert.is(kept.pipeline, undefined);
    const said = await given({ session: { lang: 'fr-fr', pipeline: ['b'] } });
    assert.is(said.lang, 'fr-fr');
    assert.is(said.system_unit, 'imperial');
    assert.equal(said.pipeline, ['b']);
    await connection.close();
    return 'fills them in from HELLO, except `pipeline`; fields of the message win';
  });

  check('KKpsk0', 'a request that the hub’s policy denies', async () => {
    const connection = new Connection(account);
    await connection.first('ready');
    const { reply, ending } = await ask(connection, { type: 'forbidden' });
    assert.is(ending, 'denied');
    assert.is(readRefusal(reply.rawEvent)?.code, 'acl_disallowed_type');
    await connection.close();
  });

  check('KKpsk0', 'a message one byte over 32 MiB', async () => {
    const connection = new Connection(account);
    await connection.first('ready');
    await ask(connection, {});
    assert.throws(
      () => connection.sendBinary(new Uint8Array(32 * 1024 * 1024 + 1)),
      /which the peer would drop/,
    );
    await connection.close();
    return 'the library refuses to send it, since the hub would end the session';
  });

  check('KKpsk0', 'the hub restarts during a session', async () => {
    const lost = new Connection(account);
    await lost.first('ready');
    await ask(lost, { text: 'are you there?' });
    await hub.stop();
    const ended = await lost.first('ended');
    assert.is(ended.reason, 'dropped');
    assert.is(ended.retry, 'now');
    await hub.start();
    const connection = new Connection(account);
    assert.is((await connection.first('ready')).pattern, 'KKpsk0');
    assert.is((await ask(connection, { text: 'are you there?' })).reply.text, 'You said: are you there?');
    await connection.close();
  });

  check('KKpsk0', 'wrong password: refused', async () => {
    const other = { ...account, identity: wrong, psk: undefined };
    const ended = await new Connection(other).first('ended');
    assert.is(ended.error.code, 'kk-refused');
    assert.is(ended.retry, 'now');
    assert.is(other.pin, account.pin);
    assert.is(other.isSuspect, true);
  });

  check('XXpsk2', 'wrong password: noticed at message 2', async () => {
    const other = { ...account, identity: wrong, psk: undefined, pin: undefined };
    const ended = await new Connection(other).first('ended');
    assert.is(ended.error.code, 'psk-differs');
    assert.is(other.pin, undefined);
  });

  const reinstalled = { ...account, staticKey: randomBytes(32), staticKeyIsFresh: true };

  check('KKpsk0', 'lost static key: refused', async () => {
    reinstalled.nodeId = account.nodeId;
    reinstalled.pin = account.pin;
    reinstalled.psk = account.psk;
    const ended = await new Connection(reinstalled).first('ended');
    assert.is(ended.error.code, 'kk-refused');
    assert.is(ended.retry, 'now');
  });

  check('XXpsk2', 'lost static key: refused, with an error that says what to do', async () => {
    const connection = new Connection(reinstalled);
    const ended = await connection.first('ended');
    assert.is((await connection.first('ready')).pattern, 'XXpsk2');
    assert.is(ended.reason, 'client-key-refused');
    assert.is(ended.retry, 'later');
    assert.is(ended.error.code, 'client-key-refused');
    assert.match(ended.error.message, /restore|reset/i);
  });

  check('XXpsk2', 'lost static key: accepted after the operator resets the pin', async () => {
    assert.match(await hub.command('reset-noise-pin', String(clientNumber)), 'Forgot the pinned Noise key');
    reinstalled.pin = undefined;
    const connection = new Connection(reinstalled);
    assert.is((await connection.first('ready')).pattern, 'XXpsk2');
    assert.is((await ask(connection, { text: 'it is me' })).reply.text, 'You said: it is me');
    await connection.close();
  });

  check('none', 'unknown access key', async () => {
    const url = authorizedUrl(`wss://localhost:${hub.port}`, 'interop', 'nobody');
    const ended = await new Connection({ ...account, url }).first('ended');
    assert.is(ended.error.code, 'access-refused');
  });
}

test.run();
