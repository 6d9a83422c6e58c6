/**
 * The keyring file of the examples where it can go wrong: a full disk, a program that is killed, two programs. At no time is
 * the keyring unreadable, and no pin is lost without an error. `KILLS=200` kills more often.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Keyring, parseKeyring, storePsk, updateKeyring } from 'hub-protocol';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { writeFileAtomically } from '../../examples/atomic-file.ts';
import { KeyringFile } from '../../examples/keyring-file.ts';

const ACCESS_KEY = 'kiosk-7';
const WRITER = fileURLToPath(new URL('keyring-writer.ts', import.meta.url));
const KILLS = Number(process.env.KILLS ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'keyring-file-'));
let count = 0;

test.after(() => rmSync(folder, { recursive: true }));

/** A path that no other test uses, in a folder of its own. */
function newPath(): string {
  const own = join(folder, String(count++));
  mkdirSync(own);
  return join(own, 'keyring.json');
}

const pin =
  (nodeId: string, fill = 7) =>
  (keyring: Keyring): Keyring =>
    updateKeyring(keyring, { type: 'pin', nodeId, key: new Uint8Array(32).fill(fill) });
const read = (path: string): Keyring => parseKeyring(readFileSync(path), ACCESS_KEY);
const nodeIds = (path: string): string[] => read(path).pins.map(({ nodeId }) => nodeId);

function startWriter(path: string, name: string, most?: number): ChildProcess {
  const more = most === undefined ? [] : [String(most)];
  return spawn(process.execPath, ['--import', 'tsx', WRITER, path, name, ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The whole lines that a program has printed, when it has ended. */
function printed(program: ChildProcess): Promise<string[]> {
  let text = '';
  program.stdout!.on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => program.once('close', () => resolve(text.split('\n').slice(0, -1))));
}

test('a disk with one free block keeps the old keyring, and the writer fails', () => {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=12k', 'tmpfs', disk]); // three blocks
  try {
    const path = join(disk, 'keyring.json');
    const file = new KeyringFile(path, ACCESS_KEY);
    file.update(pin('hub-1'));
    file.update((keyring) => storePsk(keyring, 'x'.repeat(4096), new Uint8Array(32).fill(5))); // now two blocks
    const before = readFileSync(path);
    assert.throws(() => file.update(pin('hub-2')), /ENOSPC/); // half of the draft fits
    assert.equal(readFileSync(path), before);
    assert.equal(readdirSync(disk), ['keyring.json']);
    assert.equal(nodeIds(path), ['hub-1']);
  } finally {
    execFileSync('umount', [disk]);
  }
});

test(`kill -9, ${KILLS} times: the keyring can be read, and has every pin that was stored`, async () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  for (let i = 0; i < KILLS; i++) {
    const writer = startWriter(path, `run ${i}`);
    const lines = printed(writer);
    await new Promise((resolve) => writer.stdout!.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
    writer.kill('SIGKILL');
    const stored = nodeIds(path);
    for (const line of await lines) assert.ok(stored.includes(`run ${i} ${line}`), `run ${i}, pin ${line}`);
    // The next program would wait for ten seconds before it takes the lock of one that was killed.
    rmSync(`${path}.lock`, { force: true });
  }
});

test('two programs that store pins at the same time lose none', async () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  const writers = ['a', 'b'].map((name) => startWriter(path, name, 150));
  await Promise.all(writers.map(printed));
  const expected = ['a', 'b'].flatMap((name) => Array.from({ length: 150 }, (_, i) => `${name} ${i}`));
  assert.equal(nodeIds(path).sort(), expected.sort());
});

test('two programs that pin different keys of one hub: the second one is told, and the pin stays', () => {
  const path = newPath();
  const [first, second] = [new KeyringFile(path, ACCESS_KEY), new KeyringFile(path, ACCESS_KEY)];
  first.update(pin('hub-1', 1));
  assert.throws(() => second.update(pin('hub-1', 2)), /another key of this hub/);
  assert.equal(read(path).pins[0]!.key, new Uint8Array(32).fill(1));
});

test('a file is written only if what is stored changes', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  file.update((keyring) => storePsk(keyring, 'hub-1', new Uint8Array(32).fill(5)));
  const { ino } = statSync(path);
  file.update((keyring) => updateKeyring(keyring, { type: 'psk-suspect', nodeId: 'hub-1' }));
  assert.is(file.load().psks[0]!.isSuspect, true);
  assert.is(statSync(path).ino, ino);
});

test('the lock of a program that was killed is removed once it is old', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  writeFileSync(`${path}.lock`, '');
  const longAgo = new Date(Date.now() - 60_000);
  utimesSync(`${path}.lock`, longAgo, longAgo);
  file.update(pin('hub-1'));
  assert.equal(nodeIds(path), ['hub-1']);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('a file that somebody prepared is not written to, and a link is not followed', () => {
  const path = newPath();
  const other = `${path}.other`;
  writeFileSync(other, 'stays', { mode: 0o666 });
  symlinkSync(other, path);
  assert.throws(() => new KeyringFile(path, ACCESS_KEY), /not a JSON object/); // what the link leads to is no keyring
  writeFileAtomically(path, 'replaced', true);
  assert.is(readFileSync(other, 'utf8'), 'stays');
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('a file that may not be replaced is not', () => {
  const path = newPath();
  writeFileAtomically(path, 'first', false);
  assert.throws(() => writeFileAtomically(path, 'second', false), /EEXIST/);
  assert.is(readFileSync(path, 'utf8'), 'first');
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test.run();
