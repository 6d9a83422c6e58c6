/** `hub-protocol psk`: against the known answers of argon2-cffi, and without a way for the password to show. */
import { readFileSync } from 'node:fs';
import { nodeCrypto } from 'hub-protocol-judge/internals';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { deriveQuickly, Folder, IDENTITY, quickly, run, runOnTerminal, runProgram } from './run.ts';

const test = suite('psk');
const folder = new Folder();
test.after(() => folder.remove());

const { testGroups } = JSON.parse(
  readFileSync(new URL('../../vectors/argon2id.json', import.meta.url), 'utf8'),
);
const { password, nodeId, psk } = testGroups
  .find(({ type }: { type: string }) => type === 'Psk')
  .tests.find(({ result }: { result: string }) => result === 'valid');

/** What is derived quickly in the place of the PSK. */
const derived = quickly(password, nodeCrypto.sha256(Buffer.from(nodeId)));
let deriveAgain = (): void => {};
test.before.each(() => {
  deriveAgain = deriveQuickly();
});
test.after.each(() => deriveAgain());

test('derives the PSK of a password that is piped in, and prints nothing else', async () => {
  deriveAgain();
  assert.equal(await runProgram(['psk', '--node-id', nodeId], `${password}\n`), {
    code: 0,
    stdout: `${psk}\n`,
    stderr: '',
  });
});

test('reads the password and the node id from files, and prints base64 as JSON', async () => {
  const identity = folder.write('identity.json', { ...IDENTITY, password });
  const hello = folder.write('hello.json', { msg_type: 'hello', payload: { node_id: nodeId } });
  const { stdout } = await run([
    'psk',
    '--identity',
    identity,
    '--hello',
    hello,
    '--format',
    'base64',
    '--json',
  ]);
  assert.equal(JSON.parse(stdout), {
    node_id: nodeId,
    format: 'base64',
    psk: derived.toString('base64'),
  });
});

/** What a person types at the question for the password, and what comes of it. */
const TYPED: readonly (readonly [what: string, keys: string, code: number])[] = [
  ['the password', `${password}\r`, 0],
  ['the password, and mistakes that are deleted', `x\u007fwrong\u0015${password}!\b\r`, 0],
  ['the password and Ctrl+D', `${password}\u0004`, 0],
  ['Ctrl+C', `${password}\u0003`, 2],
  ['nothing', '\r', 2],
];
for (const [what, keys, expected] of TYPED) {
  test(`a person who types ${what} gets the status ${expected}, and nobody sees the password`, async () => {
    const question = `Password of the client at "${nodeId}": `;
    const args = ['psk', '--node-id', nodeId];
    const { code, stdout, stderr } = await runOnTerminal(args, [[question, keys]], 80, true);
    assert.is(code, expected, stderr);
    assert.is(stdout, expected === 0 ? `${derived.toString('hex')}\n` : '');
    for (const secret of [password, derived.toString('hex'), 'wrong']) assert.not.ok(stderr.includes(secret));
    assert.ok(stderr.startsWith(`${question}\r\n`)); // no echo
    if (expected !== 0) assert.match(stderr, keys === '\r' ? /no password was given/ : /cancelled/);
  });
}

test.run();
