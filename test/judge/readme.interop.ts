/** The adapter with which judge/README.md begins. It needs Python. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const CLI = path('../../judge/dist/cli.js');

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
