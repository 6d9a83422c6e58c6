/** Identities whose host the platform refuses, in each command that takes an address: an error, and no access key. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCESS_KEY, HOSTS, issuedWith, refusedHosts } from '../world/hosts.ts';
import { Folder, type Run, run } from './run.ts';

const test = suite('hosts');
const folder = new Folder();
test.after(() => folder.remove());

const REFUSED = refusedHosts(HOSTS);
/** The access key, as it is and within the authorization. */
const SECRET = new RegExp(
  [ACCESS_KEY, ...[0, 1, 2].map((before) => base64Of('x'.repeat(before) + ACCESS_KEY))].join('|'),
);

/** The characters of base64 that depend on the text alone, wherever it begins. */
function base64Of(text: string): string {
  return Buffer.from(text).toString('base64').slice(4, -4);
}

function assertSafe({ code, stdout, stderr }: Run, host: string): void {
  const output = stdout + stderr;
  // `doctor` could run, and has found what is wrong.
  const fault = /^FAULT {2}address [^(]*\(bad-endpoint\)\n$/;
  assert.is(code, stderr === '' ? 1 : 2, `${host}: ${output}`);
  assert.match(output, stderr === '' ? fault : /^hub-protocol: .*\(bad-endpoint\)\n$/, host);
  assert.not.match(output, SECRET, host);
}

for (const [command, ...args] of [['ask', 'hello'], ['chat'], ['doctor']] as const) {
  test(`${command} refuses each of ${HOSTS} hosts that no URL can have`, async () => {
    for (const host of REFUSED) {
      const identity = folder.write('identity.json', issuedWith(host));
      assertSafe(await run([command, identity, ...args], ''), host);
    }
  });
}

test('doctor refuses such a host in its URL', async () => {
  const identity = folder.write('identity.json', issuedWith('hub.example'));
  for (const host of REFUSED) assertSafe(await run(['doctor', identity, `wss://${host}:5678`]), host);
});

test('topics and provision, which do not connect, print no access key either', async () => {
  for (const host of REFUSED.slice(0, 50)) {
    const identity = folder.write('identity.json', issuedWith(host));
    for (const args of [
      ['topics', identity],
      [
        'provision',
        identity,
        '--out',
        folder.at('keyring'),
        '--connection',
        folder.at('connection'),
        '--force',
      ],
    ]) {
      const { stdout, stderr } = await run(args);
      assert.not.match(stdout + stderr, /defect/);
      assert.not.match(stdout + stderr, SECRET);
    }
  }
});

test.run();
