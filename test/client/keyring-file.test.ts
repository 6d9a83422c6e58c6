/**
 * The keyring file of the examples where it can go wrong: a full disk, a program that is killed, two programs. At no time is
 * the keyring unreadable, and no pin is lost without an error. `KILLS=200` kills more often.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import nodeCrypto from 'node:crypto';
import fs, {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Keyring, parseKeyring, serializeKeyring, storePsk, updateKeyring } from 'hub-protocol';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { replaceFile, writeFileAtomically } from '../../client/dist/atomic-file.js';
import { KeyringFile } from '../../client/dist/keyring-file.js';
import { replacing as replacingIn } from '../world/replacing.ts';

const ACCESS_KEY = 'kiosk-7';
const KILLS = Number(process.env.KILLS ?? 10);
const folder = mkdtempSync(join(tmpdir(), 'keyring-file-'));
const WRITER = join(folder, 'writer.mjs');
await build({
  entryPoints: [fileURLToPath(new URL('keyring-writer.ts', import.meta.url))],
  outfile: WRITER,
  bundle: true,
  platform: 'node',
  format: 'esm',
});
let count = 0;

test.after(() => rmSync(folder, { recursive: true }));

/** A path that no other test uses, in a folder of its own. */
function newPath(): string {
  const own = join(folder, String(count++));
  mkdirSync(own);
  return join(own, 'keyring.json');
}

const lockOf = (path: string): string => join(path, '..', '.hub-protocol-keyring.json.lock');

const pin =
  (nodeId: string, fill = 7) =>
  (keyring: Keyring): Keyring =>
    updateKeyring(keyring, { type: 'pin', nodeId, key: new Uint8Array(32).fill(fill) });
/** A keyring to which nothing has to be added. */
const complete = (path: string): void =>
  new KeyringFile(path, ACCESS_KEY).update((keyring) =>
    storePsk(pin('hub-1')(keyring), 'hub-1', new Uint8Array(32).fill(5)),
  );
const read = (path: string): Keyring => parseKeyring(readFileSync(path), ACCESS_KEY);
const nodeIds = (path: string): string[] => read(path).pins.map(({ nodeId }) => nodeId);

/** What the writers have counted to. */
const countIn = (path: string): number => Buffer.from(read(path).pins[0]?.key ?? [0, 0, 0, 0]).readUInt32BE();

function startWriter(path: string, ...times: string[]): ChildProcess {
  return spawn(process.execPath, [WRITER, path, ...times], { stdio: ['ignore', 'pipe', 'inherit'] });
}

/** The whole lines that a program has printed, when it has ended. */
function printed(program: ChildProcess): Promise<string[]> {
  let text = '';
  program.stdout!.on('data', (data) => {
    text += data;
  });
  return new Promise((resolve) => program.once('close', () => resolve(text.split('\n').slice(0, -1))));
}

/** Runs `body` with other functions in the place of some of node:fs. */
const replacing = (others: Partial<typeof fs>, body: () => void): void => replacingIn(fs, others, body);

test('the old keyring survives a disk that fills up during a write', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  const before = readFileSync(path);
  const { writeSync } = fs;
  let free = 100;
  const write = (to: number, bytes: Uint8Array, at: number): number => {
    if (free === 0) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
    free -= 10;
    return writeSync(to, bytes, at, 10);
  };
  replacing({ writeSync: write as typeof writeSync }, () =>
    assert.throws(() => file.update(pin('hub-1')), /full/),
  );
  assert.equal(readFileSync(path), before);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
  assert.equal(file.load().pins, []);
  const short = (to: number, bytes: Uint8Array, at: number): number =>
    writeSync(to, bytes, at, Math.min(10, bytes.length - at));
  replacing({ writeSync: short as typeof writeSync }, () => file.update(pin('hub-1')));
  assert.equal(nodeIds(path), ['hub-1']);
});

const STEPS = ['mkdtempSync', 'openSync', 'writeSync', 'fsyncSync', 'renameSync'] as const;

for (const step of STEPS) {
  test(`if ${step} fails, the error is told, and neither a draft, a lock nor an open file is left`, () => {
    const path = newPath();
    new KeyringFile(path, ACCESS_KEY);
    const entries = readdirSync(join(path, '..'));
    const original = fs[step] as (...given: unknown[]) => unknown;
    const { openSync, closeSync } = fs;
    let [failing, failed] = [0, false];
    const opened = new Set<number>();
    const noted = {
      openSync: (...given: Parameters<typeof openSync>): number => {
        const file = openSync(...given);
        opened.add(file);
        return file;
      },
      closeSync: (file: number): void => {
        opened.delete(file);
        closeSync(file);
      },
    };
    const fail = (...given: unknown[]): unknown => {
      if (failing-- !== 0)
        return step === 'openSync'
          ? noted.openSync(...(given as Parameters<typeof openSync>))
          : original(...given);
      failed = true;
      throw Object.assign(new Error('the step fails'), { code: 'EIO' });
    };
    // Each call of the step fails once: the draft's, the lock's, the file's.
    for (let call = 0; ; call++) {
      [failing, failed] = [call, false];
      let told = '';
      replacing({ ...noted, [step]: fail }, () => {
        try {
          new KeyringFile(path, ACCESS_KEY).update(pin(`hub-${call}`));
        } catch (error) {
          told = (error as { cause: Error }).cause.message;
        }
      });
      if (!failed) break;
      const isFolder = told === '' && nodeIds(path).includes(`hub-${call}`); // it could not be synced
      assert.ok(isFolder || told === 'the step fails', `${told} at call ${call}`);
      assert.equal(readdirSync(join(path, '..')), isFolder ? ['keyring.json'] : entries, `call ${call}`);
      assert.is(opened.size, 0, `call ${call}`);
      assert.ok(call < 5);
    }
    assert.ok(nodeIds(path).length > 0);
  });
}

test('each keyring is on the disk before it gets its name', () => {
  const path = newPath();
  const calls: string[] = [];
  const noted = (name: 'writeSync' | 'fsyncSync' | 'closeSync' | 'renameSync'): object => {
    const original = fs[name] as (...given: unknown[]) => unknown;
    const call = (...given: unknown[]): unknown => {
      calls.push(name);
      return original(...given);
    };
    return { [name]: call };
  };
  const names = ['writeSync', 'fsyncSync', 'closeSync', 'renameSync'] as const;
  replacing(Object.assign({}, ...names.map(noted)), () =>
    new KeyringFile(path, ACCESS_KEY).update(pin('hub-1')),
  );
  // The folder is synced after each.
  const draft = ['writeSync', 'fsyncSync', 'closeSync'];
  const stored = [...draft, 'renameSync', 'renameSync', 'fsyncSync', 'closeSync'];
  assert.equal(calls, [...stored, ...stored]);
});

test('does not write to a file that somebody has put in the place of a draft', () => {
  const path = newPath();
  const draft = join(path, '..', `.hub-protocol-${'00'.repeat(8)}.tmp`);
  writeFileSync(draft, 'before', { mode: 0o600 });
  const watched = openSync(draft, 'r');
  replacingIn(nodeCrypto, { randomBytes: (length: number) => Buffer.alloc(length) }, () =>
    assert.throws(() => writeFileAtomically(path, 'secret', true), /EEXIST/),
  );
  assert.is(readFileSync(watched, 'utf8'), 'before');
  closeSync(watched);
});

test(`kill -9, ${KILLS} times: the keyring can be read, and has what was stored last`, async () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  for (let i = 0; i < KILLS; i++) {
    const writer = startWriter(path);
    const lines = printed(writer);
    await new Promise((resolve) => writer.stdout!.once('data', resolve));
    await new Promise((resolve) => setTimeout(resolve, (7 * i) % 30));
    writer.kill('SIGKILL');
    assert.ok(countIn(path) >= Number((await lines).at(-1)), `run ${i}`);
  }
  new KeyringFile(path, ACCESS_KEY).update(pin('last'));
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('a program that finds the file changed leaves neither its draft nor the lock behind', () => {
  const path = newPath();
  writeFileSync(path, 'of another program');
  assert.is(replaceFile(path, 'as it was read', 'secret'), false);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('two programs that count in one keyring at the same time lose no count', async () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  await Promise.all([startWriter(path, '150'), startWriter(path, '150')].map(printed));
  assert.is(countIn(path), 300);
});

test('if two programs pin different keys of one hub, the second gets an error and the pin stays', () => {
  const path = newPath();
  const [first, second] = [new KeyringFile(path, ACCESS_KEY), new KeyringFile(path, ACCESS_KEY)];
  first.update(pin('hub-1', 1));
  assert.throws(() => second.update(pin('hub-1', 2)), /another key of this hub/);
  assert.equal(read(path).pins[0]!.key, new Uint8Array(32).fill(1));
});

test('writes the file only if its contents change', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  file.update((keyring) => storePsk(keyring, 'hub-1', new Uint8Array(32).fill(5)));
  const { ino } = statSync(path);
  file.update((keyring) => parseKeyring(serializeKeyring(keyring), ACCESS_KEY));
  assert.is(statSync(path).ino, ino);
});

test('opens a complete keyring without writing, to spare flash memory', () => {
  const path = newPath();
  complete(path);
  let writes = 0;
  const writeSync = (...given: Parameters<typeof fs.writeSync>): number => {
    writes++;
    return original(...given);
  };
  const { writeSync: original } = fs;
  replacing({ writeSync } as Partial<typeof fs>, () => new KeyringFile(path, ACCESS_KEY));
  assert.is(writes, 0);
});

test('a file that a person has reformatted stays as it is if nothing changes', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  const text = JSON.stringify(JSON.parse(readFileSync(path, 'utf8')), null, 4);
  writeFileSync(path, text);
  file.update((keyring) => keyring);
  assert.is(readFileSync(path, 'utf8'), text);
});

test('the lock of a program that was killed passes to the next one after a second', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  mkdirSync(lockOf(path));
  const draft = join(lockOf(path), 'keyring.json.draft-abcdef');
  writeFileSync(draft, 'secret');
  let waited = 0;
  const wait = (_array: Int32Array, _index: number, _value: number, ms: number): void => {
    assert.ok(existsSync(draft));
    waited += ms;
  };
  replacingIn(Atomics, { wait }, () => file.update(pin('hub-1')));
  assert.is(waited, 990);
  assert.equal(nodeIds(path), ['hub-1']);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('a keyring is stored on a system that opens no folders', () => {
  const path = newPath();
  const { openSync } = fs;
  const open = (name: string, flags: number, mode?: number): number => {
    if (name === join(path, '..')) throw Object.assign(new Error('a folder'), { code: 'EISDIR' });
    return openSync(name, flags, mode);
  };
  replacing({ openSync: open as typeof openSync }, () =>
    new KeyringFile(path, ACCESS_KEY).update(pin('hub-1')),
  );
  assert.equal(nodeIds(path), ['hub-1']);
});

test('a keyring that another program creates at the same moment is used', () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY).update(pin('hub-1'));
  const existsSync = (): boolean => false; // as it was a moment ago
  replacing({ existsSync }, () => new KeyringFile(path, ACCESS_KEY));
  assert.equal(nodeIds(path), ['hub-1']);
});

test('a disk that fails while a lock is taken is an error at once', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  let attempts = 0;
  const renameSync = (): void => {
    if (++attempts === 1) throw Object.assign(new Error('the disk fails'), { code: 'EIO' });
    throw Object.assign(new Error('and again'), { code: 'ENOTDIR' });
  };
  replacing({ renameSync }, () =>
    assert.throws(
      () => file.update(pin('hub-1')),
      ({ cause }: { cause: Error }) => cause.message === 'the disk fails',
    ),
  );
});

test('waits for a lock whose system says EEXIST of a folder that is not empty', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  const { renameSync } = fs;
  let held = 2;
  const rename = (from: string, to: string): void => {
    if (to === lockOf(path) && held-- > 0) throw Object.assign(new Error('held'), { code: 'EEXIST' });
    renameSync(from, to);
  };
  const waits: unknown[] = [];
  const original = Atomics.wait;
  const wait = (...given: Parameters<typeof original>): number => waits.push(original(...given));
  replacingIn(Atomics, { wait }, () =>
    replacing({ renameSync: rename as typeof renameSync }, () => file.update(pin('hub-1'))),
  );
  assert.equal([nodeIds(path), waits], [['hub-1'], ['timed-out', 'timed-out']]);
});

test('a lock that goes away while it is looked at is free', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  mkdirSync(lockOf(path));
  writeFileSync(join(lockOf(path), 'keyring.json.draft-abcdef'), 'secret');
  const { readdirSync } = fs;
  const list = (name: string, ...more: never[]): unknown => {
    rmSync(lockOf(path), { recursive: true, force: true });
    return readdirSync(name, ...more);
  };
  replacing({ readdirSync: list as typeof readdirSync }, () => file.update(pin('hub-1')));
  assert.equal(nodeIds(path), ['hub-1']);
});

test('drafts of programs that were killed are removed at the next start', () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  mkdirSync(`${path}.draft-abcdef`);
  writeFileSync(`${path}.draft-abcdef/keyring.json.draft-abcdef`, 'secret');
  mkdirSync(`${path}.draft-Empty1`);
  new KeyringFile(path, ACCESS_KEY);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('no file of the user is removed, whatever its name', () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY);
  writeFileSync(`${path}.draft-backup`, 'mine');
  writeFileSync(`${path}.draft-file01`, 'mine');
  const kept = ['notes', 'folder', 'abcdef'].map((end) => `${path}.draft-${end}`);
  for (const own of kept) {
    mkdirSync(own);
    writeFileSync(join(own, 'mine'), 'mine');
  }
  for (const name of ['abcdef', 'photos', 'holiday-photos-2026abcdef']) mkdirSync(join(path, '..', name));
  writeFileSync(join(path, '../abcdef/abcdef'), 'mine');
  mkdirSync(`${path}.lock`);
  writeFileSync(`${path}.lock/mine`, 'mine');
  mkdirSync(`${path}.draft-other1`); // a draft, and something else
  for (const name of ['keyring.json.draft-other1', 'mine']) writeFileSync(`${path}.draft-other1/${name}`, '');
  const other = join(path, '..', 'other.json.draft-abcdef'); // of another keyring
  mkdirSync(other);
  writeFileSync(join(other, 'other.json.draft-abcdef'), 'secret');
  const before = readdirSync(join(path, '..'), { recursive: true }).sort();
  new KeyringFile(path, ACCESS_KEY).update(pin('hub-1'));
  assert.equal(nodeIds(path), ['hub-1']);
  assert.equal(readdirSync(join(path, '..'), { recursive: true }).sort(), before);
});

const IN_THE_WAY: readonly [what: string, make: (lock: string) => void][] = [
  ['a file', (lock) => writeFileSync(lock, 'mine')],
  [
    'a folder with a file',
    (lock) => {
      mkdirSync(lock);
      writeFileSync(join(lock, 'mine'), 'mine');
    },
  ],
];

for (const [what, make] of IN_THE_WAY) {
  test(`${what} in the place of the lock stays, and the error names it`, () => {
    const path = newPath();
    const file = new KeyringFile(path, ACCESS_KEY);
    make(lockOf(path));
    const before = readdirSync(join(path, '..'), { recursive: true }).sort();
    assert.throws(() => file.update(pin('hub-1')), /hub-protocol-keyring\.json\.lock is in the way/);
    assert.equal(readdirSync(join(path, '..'), { recursive: true }).sort(), before);
    assert.equal(nodeIds(path), []);
  });
}

test('each new keyring has a static key of its own, and no other client reads it', () => {
  const paths = [newPath(), newPath()];
  const keys = paths.map((path) => new KeyringFile(path, ACCESS_KEY).load().staticKey.privateKey!);
  assert.not.equal(keys[0], keys[1]);
  const text = readFileSync(paths[0]!, 'utf8');
  assert.throws(
    () => new KeyringFile(paths[0]!, 'kiosk-8'),
    ({ code }: { code?: string }) => code?.startsWith('keyring-') === true,
  );
  assert.is(readFileSync(paths[0]!, 'utf8'), text);
});

test('no secret is written to a file that its system lets others read', () => {
  const path = newPath();
  const { openSync, writeSync } = fs;
  let writes = 0;
  const others = {
    openSync: ((name: string, flags: number, mode?: number) =>
      openSync(name, flags, mode === undefined ? mode : 0o640)) as typeof openSync,
    writeSync: ((...given: Parameters<typeof writeSync>) => {
      writes++;
      return writeSync(...given);
    }) as typeof writeSync,
  };
  replacing(others, () =>
    assert.throws(
      () => new KeyringFile(path, ACCESS_KEY),
      ({ code }: { code?: string }) => code === 'keyring-not-private',
    ),
  );
  assert.equal([writes, readdirSync(join(path, '..'))], [0, []]);
});

test('a keyring that others can read, write or run is made private at the next start', () => {
  const path = newPath();
  complete(path);
  chmodSync(path, 0o400);
  new KeyringFile(path, ACCESS_KEY);
  assert.is(statSync(path).mode & 0o777, 0o400); // it is private
  for (let permission = 0o001; permission <= 0o040; permission <<= 1) {
    chmodSync(path, 0o600 | permission);
    new KeyringFile(path, ACCESS_KEY);
    assert.is(statSync(path).mode & 0o777, 0o600, permission.toString(8));
  }
});

test('a keyring that was damaged is an error each time it is read or changed, and stays as it is', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  writeFileSync(path, 'damaged');
  for (const use of [() => file.load(), () => file.update(pin('hub-1')), () => file.load()]) {
    assert.throws(use, /the keyring is not JSON: it does not begin with \{: restore it/);
  }
  assert.is(readFileSync(path, 'utf8'), 'damaged');
});

test('a keyring that is neither a path nor a store is a typed error', () => {
  for (const none of [undefined, null, 7, {}, { load: () => {} }, { update: () => {} }]) {
    assert.throws(
      () => KeyringFile.of(none as never, ACCESS_KEY),
      (error: Error & { code: string }) => error.code === 'bad-argument',
    );
  }
});

test('two programs that interleave at any step lose no pin', () => {
  const steps = [
    'readFileSync',
    'mkdtempSync',
    'openSync',
    'writeSync',
    'fsyncSync',
    'closeSync',
    'renameSync',
  ] as const;
  let interrupted = 0;
  for (let step = 0; step === interrupted; step++) {
    const path = newPath();
    const [first, second] = [new KeyringFile(path, ACCESS_KEY), new KeyringFile(path, ACCESS_KEY)];
    let left = step;
    const others = Object.fromEntries(
      steps.map((name) => {
        const original = fs[name] as (...given: unknown[]) => unknown;
        const call = (...given: unknown[]): unknown => {
          const result = original(...given);
          if (left-- === 0) {
            interrupted++;
            second.update(pin('second')); // waits for a second if the first has the right to replace the file
          }
          return result;
        };
        return [name, call];
      }),
    );
    replacing(others, () => first.update(pin('first')));
    assert.equal(nodeIds(path).sort(), interrupted > step ? ['first', 'second'] : ['first'], `step ${step}`);
  }
  assert.ok(interrupted > 8, `${interrupted} steps`);
});

const failing =
  (code: string) =>
  (...[path]: unknown[]): never => {
    throw Object.assign(new Error(`${code}: ${path}`), { code });
  };

const PLACES: readonly [what: string, others: object, sentence: RegExp][] = [
  ['a read-only disk', { mkdtempSync: failing('EROFS') }, /stored \(EROFS\): its disk is read-only/],
  ['a mounted file', { renameSync: failing('EBUSY') }, /stored \(EBUSY\): its file is mounted/],
  ['a folder of another user', { mkdtempSync: failing('EACCES') }, /\(EACCES\): this user has no right/],
  ['a disk that fails', { mkdtempSync: failing('EIO') }, /\(EIO\): the disk fails/],
  ['a user whose quota is used up', { mkdtempSync: failing('EDQUOT') }, /\(EDQUOT\): the quota/],
  [
    'a fault without a name',
    { mkdtempSync: failing('EXDEV') },
    /\(EXDEV\): ask who looks after this machine/,
  ],
];

for (const [what, others, sentence] of PLACES) {
  test(`a keyring without a hub on ${what} is told at once, and one that is complete can be used`, () => {
    const [path, used] = [newPath(), newPath()];
    new KeyringFile(path, ACCESS_KEY);
    complete(used);
    chmodSync(used, 0o644);
    replacing({ ...others, readdirSync: failing('EACCES'), chmodSync: failing('EROFS') }, () => {
      assert.throws(
        () => new KeyringFile(path, ACCESS_KEY),
        ({ code, message }: Error & { code?: string }) =>
          code === 'keyring-not-writable' && sentence.test(message) && !message.includes(path),
      );
      assert.is(new KeyringFile(used, ACCESS_KEY).load().pins.length, 1);
    });
  });
}

test('a draft that cannot be removed stops no client', () => {
  const path = newPath();
  complete(path);
  mkdirSync(`${path}.draft-abcdef`);
  writeFileSync(`${path}.draft-abcdef/keyring.json.draft-abcdef`, 'secret');
  replacing({ rmSync: failing('EROFS') }, () =>
    assert.is(new KeyringFile(path, ACCESS_KEY).load().pins.length, 1),
  );
});

test('a keyring is stored by a program that Node.js restricts to a folder, and it says so elsewhere', () => {
  const path = newPath();
  const flag = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const run = (keyring: string) =>
    spawnSync(
      process.execPath,
      [flag, '--allow-fs-read=*', `--allow-fs-write=${join(path, '..')}/*`, WRITER, keyring, '2'],
      { encoding: 'utf8' },
    );
  assert.is(run(path).stdout, '1\n2\n');
  assert.match(run(newPath()).stderr, /\(ERR_ACCESS_DENIED\): Node\.js forbids it\. .*--allow-fs-write/);
});

test('a path that leads nowhere, or to a folder, is told in words', () => {
  const folder = join(newPath(), '..');
  const told = (path: string): string => {
    try {
      new KeyringFile(path, ACCESS_KEY);
      return 'nothing';
    } catch (error) {
      return `${(error as { code?: string }).code} ${(error as Error).message}`;
    }
  };
  assert.match(told('~/no-such-folder/k.json'), /^keyring-not-writable .*its folder does not exist.* ~/);
  assert.match(told(folder), /^keyring-not-readable .*its path is that of a folder/);
});

test('a keyring that was removed is an error, never a new keyring', () => {
  const path = newPath();
  const file = new KeyringFile(path, ACCESS_KEY);
  rmSync(path);
  assert.throws(() => file.update(pin('hub-1')), /ENOENT/);
  assert.is(existsSync(path), false);
});

test('neither a planted file is overwritten nor a link followed', () => {
  const path = newPath();
  const other = `${path}.other`;
  writeFileSync(other, 'stays', { mode: 0o666 });
  symlinkSync(other, path);
  assert.throws(() => new KeyringFile(path, ACCESS_KEY), /is not JSON/); // what the link leads to is no keyring
  writeFileAtomically(path, 'replaced', true);
  assert.is(readFileSync(other, 'utf8'), 'stays');
  assert.is(statSync(path).mode & 0o777, 0o600);
});

test('a file is not replaced unless the caller allows it', () => {
  const path = newPath();
  writeFileAtomically(path, 'first', false);
  assert.throws(() => writeFileAtomically(path, 'second', false), /EEXIST/);
  assert.is(readFileSync(path, 'utf8'), 'first');
  writeFileAtomically(path, 'second', true);
  assert.is(readFileSync(path, 'utf8'), 'second');
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test('a symbolic link to a keyring stays, and leads to the new one, also if there was none', () => {
  const path = newPath();
  const link = join(newPath(), '..', 'link.json');
  symlinkSync(path, link);
  new KeyringFile(link, ACCESS_KEY).update(pin('hub-1'));
  assert.ok(fs.lstatSync(link).isSymbolicLink());
  assert.ok(!fs.lstatSync(path).isSymbolicLink());
  assert.is(new KeyringFile(path, ACCESS_KEY).load().pins.length, 1);
});

test('symbolic links in a circle, and a path that is empty, are told in words', () => {
  const path = newPath();
  symlinkSync(path, path);
  assert.throws(() => new KeyringFile(path, ACCESS_KEY), /\(ELOOP\): its symbolic links lead in a circle/);
  assert.throws(() => new KeyringFile('', ACCESS_KEY), /"keyring" expected the path of a file/);
});

test('a keyring with a byte order mark is read', () => {
  const path = newPath();
  new KeyringFile(path, ACCESS_KEY).update(pin('hub-1'));
  writeFileSync(path, `\uFEFF${readFileSync(path, 'utf8')}`);
  new KeyringFile(path, ACCESS_KEY).update(pin('hub-2'));
  assert.is(new KeyringFile(path, ACCESS_KEY).load().pins.length, 2);
});

test('on Windows, a file that something else holds for a moment is waited for, and one that is held for good is told', () => {
  const path = newPath();
  const program = `
    const fs = process.getBuiltinModule('node:fs');
    Object.defineProperty(process, 'platform', { value: 'win32' });
    const rename = fs.renameSync;
    let count = 0;
    let failures = 3;
    fs.renameSync = (from, to) => {
      count++;
      if (failures-- > 0) throw Object.assign(new Error(), { code: ['EPERM', 'EBUSY', 'EACCES'][count % 3] });
      rename(from, to);
    };
    const { replaceFile } = await import(${JSON.stringify(new URL('../../client/dist/atomic-file.js', import.meta.url).href)});
    const path = ${JSON.stringify(path)};
    const isReplaced = [replaceFile(path, undefined, 'a')];
    fs.renameSync = (from, to) => {
      if (to === path) throw Object.assign(new Error(), { code: 'EBUSY' });
      rename(from, to);
    };
    try { replaceFile(path, 'a', 'b'); } catch ({ code }) { isReplaced.push(code); }
    console.log(JSON.stringify([isReplaced, count, fs.readFileSync(path, 'utf8')]));
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(JSON.parse(stdout), [[true, 'EBUSY'], 5, 'a']);
  assert.equal(readdirSync(join(path, '..')), ['keyring.json']);
});

test.run();
