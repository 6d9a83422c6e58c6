/** ClientSession against HiveMind's hub as HiveMind's own library for tests runs and judges it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl, buildUtterance, parseIdentity, type Suite } from '../../src/index.ts';
import { ReplyCollector } from '../../src/parts.ts';
import { authority } from './certificate.ts';
import { homeIn } from './hivemind.ts';
import { compare } from './matrix.ts';
import { type Account, Connection } from './our-client.ts';
import { HIVEMIND, PythonPeer, versionOf } from './python-peer.ts';

const PASSWORD = 'p\u00e4ssw\u00f6rd \u{1f511} of the kiosk';
const ACCESS_KEY = 'kiosk+??>-7';
const SESSION = 'interop';

const test = suite('ClientSession against the hub of hivescope');
const script = new URL('hivescope_hub.py', import.meta.url).pathname;
const hub = new PythonPeer<string | string[]>(
  [...HIVEMIND, 'python', script, ACCESS_KEY, PASSWORD],
  homeIn('hivescope'),
);
test.after(() => hub.stop());
const url = (await hub.report()) as string;

const account: Account = {
  url: authorizedUrl(url, 'interop', ACCESS_KEY, { allowPlaintext: true }),
  ca: authority,
  identity: parseIdentity({ access_key: ACCESS_KEY, password: PASSWORD, site_id: 'lobby' }),
  staticKey: randomBytes(32),
  suite: '25519_ChaChaPoly_SHA256',
};

async function ask(connection: Connection, requestId: string, text: string): Promise<string> {
  const collector = new ReplyCollector({ requestId, sessionId: SESSION });
  connection.sendJson(buildUtterance({ requestId, sessionId: SESSION, text, siteId: 'lobby' }));
  while (collector.state !== 'done') {
    for (const message of await connection.messages()) {
      if (message.kind === 'json') collector.push(message.text, true);
    }
  }
  return collector.reply.text;
}

const scenes: [Suite, string][] = [
  ['25519_ChaChaPoly_SHA256', 'XXpsk2'],
  ['25519_ChaChaPoly_SHA256', 'KKpsk0'],
  ['25519_AESGCM_SHA256', 'KKpsk0'],
];
for (const [name, pattern] of scenes) {
  const row = {
    peer: 'hivescope',
    version: versionOf('hivescope'),
    role: 'hub' as const,
    pattern,
    suite: name,
  };
  const what = 'two requests, and hivescope’s checks of HELLO, envelopes, source and session';
  compare(test, { ...row, what }, async () => {
    account.suite = name;
    const connection = new Connection(account);
    const ready = await connection.first('ready');
    assert.equal([ready.suite, ready.pattern], [name, pattern]);
    assert.is(await ask(connection, 'r-1', 'what time is it?'), 'You said: what time is it?');
    assert.is(await ask(connection, 'r-2', 'and now?'), 'You said: and now?');
    assert.equal(await hub.ask(SESSION), []);
    await connection.close();
    return undefined;
  });
}

test.run();
