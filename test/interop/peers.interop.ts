/** ClientSession and HubSession against a hub and a client in Python that share no code and no library with them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { derivePsk, type Identity, parseIdentity, type Suite } from '../../src/index.ts';
import { authority, files } from './certificate.ts';
import { compare } from './matrix.ts';
import { type Account, Connection } from './our-client.ts';
import { OurHub } from './our-hub.ts';
import { PYTHON, PythonPeer, versionOf } from './python-peer.ts';

/** Lengths of messages, in bytes. JSON has no empty message. */
const SIZES = {
  binary: [0, 1, 64999, 65000, 65001, 130000, 130001, 200000],
  json: [1, 2, 64999, 65000, 65001, 130000, 130001, 200000],
};
const NODE_ID = 'h\u00fcb \u{1f3e0}\nline two';
const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511}';

interface Report {
  outcome: string;
  /** The name of the exception, if the outcome is `failed`. */
  error?: string;
  port: number;
  code: number | null;
  pattern: string;
  hubKey: string;
  clientKey: string;
  handshakeHash: string;
  echoed: number[];
  greeting: { msg_type: string; payload: { [name: string]: unknown } };
}

const test = suite('a client and a hub in Python');

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
    const all = { url, ca: files.ca, suite: name, password: PASSWORD, staticKey, sizes: SIZES, ...options };
    return start('client', all).report();
  };

  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    const pin = pattern === 'KKpsk0' ? publicKey(hubStatic) : undefined;

    compare(
      test,
      { ...row, role: 'client', pattern, what: 'a session; 16 messages of up to 200 kB' },
      async () => {
        const report = await runClient({ pin });
        assert.is(report.outcome, 'ready', report.error);
        assert.is(report.pattern, pattern);
        assert.is(report.hubKey, publicKey(hubStatic));
        assert.equal(report.echoed, [...SIZES.binary, ...SIZES.json]);
        const ready = ourHub.first('ready')!;
        assert.is(report.handshakeHash, hex(ready.handshakeHash));
        assert.is(hex(ready.clientKey), publicKey(clientStatic));
        assert.equal(ready.encodings, ['JSON-HEX']);
        assert.is(ourHub.first('hello')?.error, undefined);
      },
    );
  }

  compare(test, { ...row, role: 'client', pattern: 'XXpsk2', what: 'wrong password' }, async () => {
    assert.is((await runClient({ password: 'wrong' })).outcome, 'failed'); // at message 2
  });

  compare(test, { ...row, role: 'client', pattern: 'KKpsk0', what: 'wrong password' }, async () => {
    const refused = await runClient({ password: 'wrong', pin: publicKey(hubStatic) });
    assert.is(refused.outcome, 'closed', refused.error); // on message 1
    assert.is(refused.code, 1008);
  });

  const options = { ...files, suite: name, password: PASSWORD, nodeId: NODE_ID, staticKey: hex(hubStatic) };
  const hub = start('hub', options);
  test.after(() => hub.stop());
  const account: Account = {
    url: `wss://localhost:${(await hub.report()).port}/`,
    ca: authority,
    identity: identityWith(PASSWORD),
    staticKey: clientStatic,
    suite: name,
  };

  for (const pattern of ['XXpsk2', 'KKpsk0']) {
    compare(
      test,
      { ...row, role: 'hub', pattern, what: 'a session; 16 messages of up to 200 kB' },
      async () => {
        const connection = new Connection(account);
        const ready = await connection.first('ready');
        assert.is(ready.pattern, pattern);
        assert.is(ready.suite, name);
        assert.is(ready.encoding, 'JSON-HEX');
        assert.is(hex(ready.hubKey), publicKey(hubStatic));
        const report = await hub.report();
        assert.is(report.outcome, 'ready', report.error);
        assert.is(report.handshakeHash, hex(ready.handshakeHash));
        assert.is(report.clientKey, publicKey(clientStatic));
        assert.is(report.greeting.msg_type, 'hello');
        assert.equal(Object.keys(report.greeting.payload), ['pubkey', 'session', 'site_id']);
        for (const size of SIZES.binary) {
          const bytes = randomBytes(size);
          connection.sendBinary(bytes);
          assert.equal(await connection.messages(), [{ type: 'message', kind: 'binary', bytes }]);
        }
        for (const size of SIZES.json) {
          const text = '1'.repeat(size);
          connection.sendJson(text);
          assert.equal(await connection.messages(), [{ type: 'message', kind: 'json', text }]);
        }
        await connection.close();
        assert.is((await hub.report()).outcome, 'closed');
      },
    );
  }

  const wrong = { ...account, identity: identityWith('wrong') };

  compare(test, { ...row, role: 'hub', pattern: 'XXpsk2', what: 'wrong password' }, async () => {
    const connection = new Connection(wrong);
    assert.is((await connection.first('close')).error.code, 'psk-differs');
    await connection.first('ended');
    assert.is((await hub.report()).code, 1008);
  });

  compare(test, { ...row, role: 'hub', pattern: 'KKpsk0', what: 'wrong password' }, async () => {
    wrong.nodeId = NODE_ID;
    wrong.pin = account.pin;
    const connection = new Connection(wrong);
    assert.is((await connection.first('ended')).error.code, 'kk-refused');
    assert.equal(
      connection.events.map(({ type }) => type),
      ['psk-needed', 'transmit', 'pin-suspect', 'ended'],
    );
  });
}

test.run();
