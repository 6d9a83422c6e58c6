/** What commands print when their output is redirected. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const env = { ...process.env, FORCE_COLOR: undefined };

for (const args of [
  ['--import', 'tsx', 'tools/test.ts', '^base/errors\\.test\\.ts$'],
  ['judge/dist/cli.js', '--help'],
  ['cli/dist/cli.js', '--help'],
]) {
  test(`${args.find((arg) => arg.includes('/'))} writes no escapes to a file`, async () => {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
      cwd,
      env,
    });
    assert.ok(stdout.length > 0);
    assert.not.ok(`${stdout}${stderr}`.includes('\x1b'));
  });
}

test.run();
