/** The search of `evidence/searches/hostile/run`, for a moment: it finds nothing in the client, and something where a fault is planted. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const RUN = fileURLToPath(new URL('../../evidence/searches/hostile/run', import.meta.url));

function run(...args: string[]): { status: number | null; stdout: string } {
  return spawnSync('bash', [RUN, '--seed', '1', ...args], { encoding: 'utf8' });
}

test('finds nothing in some lives of a page', () => {
  const { status, stdout } = run('--over', 'page', '--choices', '50');
  assert.is(status, 0, stdout);
  assert.match(stdout, /^page \|/m);
});

test('goes on where an earlier search stopped', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  try {
    const file = join(folder, 'kept.jsonl');
    for (const choices of ['50', '300']) run('--over', 'page', '--choices', choices, '--keep', file);
    const [first, second, ...more] = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).report);
    assert.equal(more, []);
    assert.ok(second.case > first.case + 10, 'it leads other lives');
    assert.ok(first.choices + second.choices >= 300);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('finds the timers that are not cleared at the end', () => {
  const { status, stdout } = run('--planted', '--over', 'page', '--choices', '8000');
  assert.is(status, 0, stdout);
  assert.match(stdout, /the timer of the pings outlives its socket: .*no timer is set/);
});

test.run();
