/**
 * Writes every file that is drawn from the code: pages, parts of pages, and two modules.
 *
 *     npm run docs        builds first, about 5 s
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Cause, placeOf, SENTENCES, sentenceOfCause } from 'hub-protocol-client/causes';
import { CHECKS, OPERATIONS, readVectorFile, vectorFiles } from 'hub-protocol-judge/internals';
import { MATRIX } from '../test/interop/matrix.ts';
import { aliases } from './aliases.ts';
import { apiPages } from './api.ts';
import { code, type Drawn, pageWith, table } from './draw.ts';
import { errors } from './errors.ts';
import { evidence } from './evidence.ts';
import { manifestOf, PACKAGES, partsOf } from './parts.ts';
import { permutation } from './permutation.ts';
import { policyTables } from './policy-tables.ts';
import { sessionTables } from './session-tables.ts';
import { status } from './status.ts';
import { workedExample } from './worked-example.ts';

const ROOT = new URL('..', import.meta.url);

/** A row of the tables in docs/evidence/interop.md. */
type Cells = { readonly [column in 'peer' | 'role' | 'pattern' | 'cipher' | 'test' | 'result']: string };

/** Joins the rows that differ in one column only, which then lists what they have there. */
function joined(rows: readonly Cells[], column: keyof Cells): Cells[] {
  const groups = new Map<string, Cells>();
  for (const row of rows) {
    const key = JSON.stringify({ ...row, [column]: '' });
    const group = groups.get(key);
    groups.set(key, group ? { ...group, [column]: `${group[column]}, ${row[column]}` } : row);
  }
  return [...groups.values()];
}

/**
 * The tables in docs/evidence/interop.md, from test/interop/matrix.json, whose results `test/interop/run` requires. The rows of
 * OVOS are in a table of their own, with their times.
 */
function interop(): Drawn {
  const all = MATRIX.filter(({ peer }) => peer !== 'ovos-core').map(
    ({ peer, version, role, pattern, suites, what, result }): Cells => ({
      peer: `${peer} ${version}`,
      role,
      pattern,
      cipher: suites.map((suite) => suite.split('_')[1] ?? suite).join(', '),
      test: what,
      result: [result].flat().join(', or '),
    }),
  );
  const rows = joined(joined(all, 'pattern'), 'role');
  const agrees = ({ result }: Cells): boolean => result === 'agrees';
  const drawn = (shown: readonly Cells[], ...columns: (keyof Cells)[]): string =>
    table(
      columns,
      shown.map((cells) => columns.map((column) => cells[column])),
    );
  const others = joined(
    rows.filter((cells) => !agrees(cells)),
    'peer',
  );
  return pageWith('docs/evidence/interop.md', {
    agreements: drawn(rows.filter(agrees), 'peer', 'role', 'pattern', 'cipher', 'test'),
    differences: drawn(others, 'peer', 'role', 'test', 'result'),
  });
}

/** The sentences of docs/guides/it-does-not-connect.md, with examples of addresses. */
function causes(): Drawn {
  const tables = Object.entries(SENTENCES).map(([cause, sentences]) => {
    const place = placeOf(cause === 'broker-refused' ? 'mqtts://broker.example' : 'wss://hub.example:5678');
    const codes: { [said: string]: string } = {};
    for (const platformCode of Object.keys(sentences)) {
      const told = sentenceOfCause({ cause: cause as Cause, platformCode }, place);
      const said = told.replace(/\d{4}-\d\d-\d\d/, '…');
      codes[said] = codes[said] === undefined ? code(platformCode) : `${codes[said]}, ${code(platformCode)}`;
    }
    const rows = Object.entries(codes).map(([said, all]) => [all, said]);
    return [cause, table(['Code', 'Sentence'], rows)];
  });
  return pageWith('docs/guides/it-does-not-connect.md', Object.fromEntries(tables));
}

/** The packages that SECURITY.md lists, as the lock file and the programs have them. */
function packages(): Drawn {
  const lock = JSON.parse(readFileSync(new URL('package-lock.json', ROOT), 'utf8')).packages;
  const rows = PACKAGES.map((folder) => {
    const parts = partsOf(folder).map((part) => {
      const { version, license } = lock[`node_modules/${part}`];
      return `${part} ${version} (${license})`;
    });
    return [code(manifestOf(folder).name), parts.join(', ')];
  });
  return pageWith('SECURITY.md', { packages: table(['Package', 'Contains'], rows) });
}

/** The operations in vectors/README.md, with the files of their vectors. */
function operations(): Drawn {
  const rows = OPERATIONS.map(({ name, shows }, i) => {
    const files = vectorFiles().filter((file) =>
      readVectorFile(file).testGroups.some(({ type }) => CHECKS[type]?.operation === name),
    );
    return [`${i + 1}`, code(name), files.map((file) => code(`${file}.json`)).join(', '), shows];
  });
  const head = ['#', 'operation', 'file', 'what its vectors show'];
  return pageWith('vectors/README.md', { operations: table(head, rows) });
}

/** Every file that is drawn. */
export function drawnFiles(): Drawn {
  return {
    ...aliases(),
    ...permutation(),
    ...sessionTables(),
    ...policyTables(),
    ...workedExample(),
    ...errors(),
    ...interop(),
    ...evidence(),
    ...status(),
    ...causes(),
    ...packages(),
    ...operations(),
    ...apiPages(),
  };
}

if (process.argv[1] === import.meta.filename) {
  const files = Object.entries(drawnFiles());
  rmSync(new URL('docs/reference/api/', ROOT), { recursive: true, force: true }); // with the pages that are no longer drawn
  mkdirSync(new URL('docs/reference/api/', ROOT));
  for (const [path, text] of files) writeFileSync(new URL(path, ROOT), text);
}
