import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { PYTHON } from '../interop/python-peer.ts';

test('no file has a common misspelling', () => {
  const cwd = fileURLToPath(new URL('../../', import.meta.url));
  const files = execFileSync('git', ['ls-files'], { cwd, encoding: 'utf8' }).trim().split('\n');
  const [program, ...launcher] = PYTHON;
  const { stdout, stderr } = spawnSync(program!, [...launcher, '-m', 'codespell_lib', ...files], {
    cwd,
    encoding: 'utf8',
  });
  assert.is(stdout, '', stderr);
});

test.run();
