/** The client against the first hub of HiveMind with Noise. */
import { join } from 'node:path';
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { authority, folder } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { versionOf } from './python-peer.ts';

const PASSWORD = 'correct horse battery staple';

const test = suite('HiveMind’s first hub with Noise');
const hub = await HivemindHub.create('"allowed_encodings":["JSON-HEX"]', { older: 'hivemind-4' });
test.before(async () => {
  await hub.command('add-client', '--name', 'kiosk', '--access-key', 'kiosk-7', '--password', PASSWORD);
  await hub.command('allow-msg', 'recognizer_loop:utterance', '1');
  await hub.start();
});
test.after(() => hub.stop());

const row = {
  peer: 'hivemind-core',
  version: versionOf('hivemind-core', 'requirements-hivemind-4.txt'),
  role: 'hub' as const,
  suite: '25519_ChaChaPoly_SHA256',
};

for (const [pattern, what] of [
  ['XXpsk2', 'first contact, a request and its reply'],
  ['KKpsk0', 'reconnect, a request and its reply'],
] as const) {
  compare(test, { ...row, pattern, what }, async () => {
    const client = connect({
      identity: parseIdentity({
        access_key: 'kiosk-7',
        password: PASSWORD,
        site_id: 'lobby',
        data_plane_endpoints: { wss: `wss://localhost:${hub.port}` },
      }),
      keyring: join(folder, 'older.keyring.json'),
      socket: { ca: authority },
    });
    const used = new Promise<string>((resolve) => client.on('connect', ({ pattern }) => resolve(pattern)));
    const { ending, reply } = await client.ask('what time is it?');
    assert.equal([await used, ending, reply.text], [pattern, 'handled', 'You said: what time is it?']);
    client.end();
    return undefined;
  });
}

test.run();
