/** snow's Noise against the vectors of the judge, and against ours. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder } from './certificate.ts';
import { compare } from './matrix.ts';
import { compareHandshakes } from './random-handshakes.ts';
import { buildRust, rustProgram, startRust, versionOf } from './rust.ts';

const JUDGE = fileURLToPath(new URL('../../judge/dist/cli.js', import.meta.url));

const test = suite('snow');
const row = { peer: 'snow', version: versionOf('snow') };

test.before(buildRust);

const what = 'the judge’s vectors for handshake, seal and open, with `--spec-only`';
compare(test, { ...row, role: 'both', pattern: 'both', suite: 'both', what }, async () => {
  const report = join(folder, 'snow');
  const asked = ['--spec-only', '--only', 'handshake,seal,open', '--report', report];
  const { status, stdout } = spawnSync(
    process.execPath,
    [JUDGE, ...asked, '--', rustProgram('snow-adapter')],
    {
      encoding: 'utf8',
      timeout: 120_000,
    },
  );
  assert.is(status, 0, stdout);
  const { summary } = JSON.parse(readFileSync(join(report, 'judge.json'), 'utf8'));
  const declined = summary.map(({ operation, declined }: Record<string, unknown>) => [operation, declined]);
  assert.equal(declined, [
    ['handshake', 0],
    ['seal', 0],
    ['open', 0],
  ]);
  return undefined;
});

compareHandshakes(test, row, () => startRust('snow-adapter'));

test.run();
