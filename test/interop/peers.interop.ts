/** Our sessions against a client and a hub in Python that share no code and no library with them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { derivePsk, type Identity, parseIdentity, type Suite } from '../../src/index.ts';
import { certificate, files } from './certificate.ts';
import { compare } from './matrix.ts';
import { Connection, type Device } from './our-client.ts';
import { OurHub } from './our-hub.ts';
import { PYTHON, PythonPeer, versionOf } from './python-peer.ts';

const SIZES = [0, 1, 64999, 65000, 65001, 130000, 130001, 200000];
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511}';

interface Report {
  outcome: string;
  port: number;
  code: number | null;
  pattern: string;
  hubKey: string;
  clientKey: string;
  handshakeHash: string;
  echoed: number[];
  greeting: { msg_type: string; payload: { [name: string]: unknown } };
}

const test = suite('interoperation with Python');

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const publicKey = (key: Uint8Array) => hex(nodeCrypto.x25519.publicKey(key));
const identityWith = (password: string): Identity =>
  parseIdentity({ access_key: 'kiosk-7', password, site_id: 'lobby' });

function start(role: 'client' | 'hub', options: object): PythonPeer<Report> {
  const script = new URL('peer.py', import.meta.url).pathname;
  return new PythonPeer([...PYTHON, script, role, JSON.stringify(options)]);
}

for (const name of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
  const [hubStatic, clientStatic] = [randomBytes(32), randomBytes(32)];
  const row = { peer: 'noiseprotocol', version: versionOf('noiseprotocol'), suite: name };

  const ourHub = await OurHub.start({
    nodeId: NODE_ID,
    staticKey: hubStatic,
    psk: derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID }),
    suite: name,
    answer: (message) => [message.kind === 'json' ? message.text : message.bytes],
  });
  test.after(() => ourHub.stop());
  const runClient = (options: { password?: string; pin?: string | undefined }): Promise<Report> => {
    const url = `wss://localhost:${ourHub.port}/`;
    const staticKey = hex(clientStatic);
    const all = { url, ca: files.cert, suite: name, password: PASSWORD, staticKey, sizes: SIZES, ...options };
    return start('client', all).report();
  };

  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    const pin = pattern === 'KKpsk0' ? publicKey(hubStatic) : undefined;

    compare(test, { ...row, role: 'client', pattern, what: 'a session; 16 messages to 200 kB' }, async () => {
      const report = await runClient({ pin });
      assert.is(report.outcome, 'ready');
      assert.is(report.pattern, pattern);
      assert.is(report.hubKey, publicKey(hubStatic));
      assert.equal(report.echoed, [...SIZES, ...SIZES]);
      const ready = ourHub.first('ready')!;
      assert.is(report.handshakeHash, hex(ready.handshakeHash));
      assert.is(hex(ready.clientKey), publicKey(clientStatic));
      assert.equal(ready.encodings, ['JSON-HEX']);
      assert.is(ourHub.first('hello')?.error, undefined);
    });
  }

  compare(test, { ...row, role: 'client', pattern: 'XXpsk2', what: 'wrong password' }, async () => {
    assert.is((await runClient({ password: 'wrong' })).outcome, 'failed'); // at message 2, where XXpsk2 shows it
  });

  compare(test, { ...row, role: 'client', pattern: 'KKpsk0', what: 'wrong password' }, async () => {
    const refused = await runClient({ password: 'wrong', pin: publicKey(hubStatic) });
    assert.is(refused.outcome, 'closed'); // on message 1, where KKpsk0 does
    assert.is(refused.code, 1008);
  });

  const options = { ...files, suite: name, password: PASSWORD, nodeId: NODE_ID, staticKey: hex(hubStatic) };
  const hub = start('hub', options);
  test.after(() => hub.stop());
  const device: Device = {
    url: `wss://localhost:${(await hub.report()).port}/`,
    ca: certificate,
    identity: identityWith(PASSWORD),
    staticKey: clientStatic,
    suite: name,
  };

  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    compare(test, { ...row, role: 'hub', pattern, what: 'a session; 16 messages to 200 kB' }, async () => {
      const connection = new Connection(device);
      const ready = await connection.first('ready');
      assert.is(ready.pattern, pattern);
      assert.is(ready.suite, name);
      assert.is(ready.encoding, 'JSON-HEX');
      assert.is(hex(ready.hubKey), publicKey(hubStatic));
      const report = await hub.report();
      assert.is(report.outcome, 'ready');
      assert.is(report.handshakeHash, hex(ready.handshakeHash));
      assert.is(report.clientKey, publicKey(clientStatic));
      assert.is(report.greeting.msg_type, 'hello');
      assert.equal(Object.keys(report.greeting.payload), ['pubkey', 'session', 'site_id']);
      for (const payload of SIZES.flatMap((size) => [randomBytes(size), 'x'.repeat(size)])) {
        if (typeof payload === 'string') connection.sendJson(payload);
        else connection.sendBinary(payload);
        const [message] = await connection.messages();
        assert.equal(message?.kind === 'json' ? message.text : message?.bytes, payload);
      }
      await connection.close();
      assert.is((await hub.report()).outcome, 'closed');
    });
  }

  const wrong = { ...device, identity: identityWith('wrong') };

  compare(test, { ...row, role: 'hub', pattern: 'XXpsk2', what: 'wrong password' }, async () => {
    const connection = new Connection(wrong);
    assert.is((await connection.first('close')).error.code, 'psk-differs');
    await connection.first('ended');
    assert.is((await hub.report()).code, 1008);
  });

  compare(test, { ...row, role: 'hub', pattern: 'KKpsk0', what: 'wrong password' }, async () => {
    wrong.pin = device.pin;
    const connection = new Connection(wrong);
    assert.is((await connection.first('ended')).error.code, 'kk-refused');
    assert.equal(
      connection.events.map(({ type }) => type),
      ['psk-needed', 'transmit', 'psk-suspect', 'unpin', 'ended'],
    );
  });
}

test.run();
