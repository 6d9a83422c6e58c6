/** Draws the matrix in docs/evidence/interop.md from test/interop/matrix.json, whose results `test/interop/run` requires. */
import { MATRIX } from '../test/interop/matrix.ts';
import { type Drawn, pageWith, table } from './draw.ts';

export function interop(): Drawn {
  const rows = MATRIX.map(({ peer, version, role, pattern, suites, what, result }) => [
    `${peer} ${version}`,
    role,
    pattern,
    suites.map((suite) => suite.split('_')[1] ?? suite).join(', '),
    what,
    [result].flat().join(', or '),
  ]);
  return pageWith('docs/evidence/interop.md', {
    matrix: table(['peer', 'role', 'pattern', 'cipher', 'test', 'result'], rows),
  });
}
