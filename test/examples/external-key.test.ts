/** examples/external-key.ts, run as it stands. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { UNCOUNTED } from '../world/uncounted.ts';

test('a client connects with a static key in a KeyObject, and with a non-extractable WebCrypto key', async () => {
  const run = promisify(execFile)(process.execPath, ['--import', 'tsx', 'examples/external-key.ts'], {
    cwd: new URL('../..', import.meta.url),
    env: UNCOUNTED,
    timeout: 60_000,
  });
  assert.equal((await run).stdout.trim().split('\n'), [
    'KeyObject: ready, and the hub pinned its public key',
    'WebCrypto: ready, and the hub pinned its public key',
  ]);
});

test.run();
