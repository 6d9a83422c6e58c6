/** The judge names each fault of faulty_adapter.py, and nothing else. Run by `npm run judge:faults`, which needs Python. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Verdict } from '../../judge/src/verdict.ts';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const CLI = path('../../judge/dist/cli.js');
const PYTHON = [path('../interop/python'), path('faulty_adapter.py')];

/** Every cause in the report of each fault. */
const CAUSES: { readonly [fault: string]: RegExp } = {
  'utf16-key-order': /^key order: keys are sorted by UTF-16 unit/,
  'integer-for-float': /^numbers: /,
  'unicode-escape-for-b': /^escapes: \\u0008/,
  'big-endian-chachapoly': /^nonce order: ChaChaPoly/,
  'little-endian-aesgcm': /^nonce order: ChaChaPoly.* AESGCM/,
  'hashed-aesgcm-name': /^protocol name: it is hashed/,
  'psk-token-left-out': /^psk: the psk token is left out/,
  'e-not-mixed-into-key': /^e is not mixed into the key/,
  'prologue-parts-swapped': /^prologue: its parts are HANDSHAKE, HELLO, protocol name/,
  'salt-from-client-id': /^psk: the salt is the SHA-256 of the hub’s node id/,
  'chunk-limit-off-by-one': /^chunk limit: (?:chunks hold 65001|65001 bytes are sent)/,
  'missing-final-chunk': /^final chunk: the last chunk has the marker 4/,
  'cap-off-by-one': /^cap: a message of exactly 32 MiB/,
  'interleaving-accepted': /^interleaving: /,
  'pin-not-enforced': /^pin: /,
  'continues-after-failed-open': /^a failure is final/,
  'trimmed-password': /^psk: the password is trimmed/,
  'other-time-cost': /^psk: Argon2id has a time cost of 2/,
  'upper-case-hexadecimal': /^hexadecimal: the adapter writes upper-case digits/,
  'no-associated-data': /^associated data: there is none/,
  'counter-not-advanced': /^nonce: the counter does not advance/,
  'split-swapped': /^split: each side sends with the other’s key/,
  'two-outputs-for-psk': /^psk: MixKeyAndHash takes two outputs of HKDF/,
  'pre-messages-swapped': /^pre-messages: the responder’s static key is hashed first/,
  'dropped-message-closes': /^interleaving: .* while another is being dropped/,
};

interface Judged {
  status: number | null;
  stdout: string;
  verdicts: Verdict[];
}

async function judge(fault: string): Promise<Judged> {
  const folder = mkdtempSync(join(tmpdir(), 'judge-'));
  try {
    const child = spawn(process.execPath, [CLI, '--report', folder, '--', 'bash', ...PYTHON, fault]);
    let stdout = '';
    child.stdout.on('data', (data) => (stdout += data));
    const status = await new Promise<number | null>((resolve) => child.on('close', resolve));
    const { verdicts } = JSON.parse(readFileSync(join(folder, 'judge.json'), 'utf8'));
    return { status, stdout, verdicts };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

// Each takes some seconds, so two run at a time.
spawnSync('bash', [...PYTHON, '--list']); // installs the packages for Python if they are missing
const judged: { [fault: string]: Promise<Judged> } = {};
let lanes = [Promise.resolve(), Promise.resolve()];
for (const fault of Object.keys(CAUSES)) {
  const [first, second] = lanes as [Promise<void>, Promise<void>];
  judged[fault] = first.then(() => judge(fault));
  lanes = [second, judged[fault].then(() => {})];
}

for (const [fault, cause] of Object.entries(CAUSES)) {
  test(`names ${fault}`, async () => {
    const { status, stdout, verdicts } = await judged[fault]!;
    assert.is(status, 1, stdout);
    const found = new Set<string>();
    for (const { failure } of verdicts) for (const cause of failure?.causes ?? []) found.add(cause);
    assert.ok(found.size > 0, 'no cause is named');
    for (const each of found) assert.match(each, cause);
    assert.ok([...found].some((each) => stdout.includes(each)));
  });
}

test('expects a cause for each fault', () => {
  const { stdout } = spawnSync('bash', [...PYTHON, '--list'], { encoding: 'utf8' });
  assert.equal(stdout.trim().split('\n').sort(), Object.keys(CAUSES).sort());
});

test('the adapter in judge/README.md runs, and declines everything', () => {
  const readme = readFileSync(path('../../judge/README.md'), 'utf8');
  const adapter = /```python\n([\s\S]*?)```/.exec(readme)![1]!;
  const folder = mkdtempSync(join(tmpdir(), 'judge-'));
  try {
    const args = [CLI, '--report', folder, '--', 'python3', '-c', adapter];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    assert.is(status, 2);
    assert.match(stdout, /\nall +0 +0 +\d{4}\n/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
