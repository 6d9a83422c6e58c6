/** Every figure that was measured says at which commit, so that a reader can see what has changed since. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const git = (...words: string[]): string => execFileSync('git', words, { cwd: ROOT, encoding: 'utf8' });
const PAGES = git('ls-files', 'docs/evidence/*.md', 'docs/reference/*.md')
  .split('\n')
  .filter((path) => path !== '' && !path.includes('/api/'));
const read = (path: string): string => readFileSync(ROOT + path, 'utf8');

const SENTENCE = /Measured at commit `([0-9a-f]{7,40})` on \d{4}-\d\d-\d\d\b/;
const PART = /<!-- (drawn|measured): (.*) -->\n([\s\S]*?)<!-- end -->/g;
/** A figure with a unit in which only measurements are. */
const FIGURE = /\d ?(?:[KMG]i?B|ms|µs|M)(?!\w)/;
/** The first column of tables whose figures are limits or versions, which nobody measured. */
const LIMITS = /^\| (?:Entry point|Input|Item|Layer|Option|Place|State of the request|The judge) *\|/;

/** What a page has measured without saying when. */
function undated(page: string): string[] {
  const parts = [...page.matchAll(PART)].filter(
    ([, kind, , text]) => kind === 'measured' && !SENTENCE.test(text!),
  );
  const sections = page.replace(PART, '').split(/^#+ /m);
  const tables = sections.flatMap((section) =>
    SENTENCE.test(section)
      ? []
      : Array.from(section.matchAll(/(?:^\|.*\n)+/gm), ([table]) => table).filter(
          (table) => FIGURE.test(table) && !LIMITS.test(table),
        ),
  );
  return [...parts.map(([, , name]) => name!), ...tables.map((table) => table.slice(0, table.indexOf('\n')))];
}

test('every measured table names its commit', () => {
  assert.equal(
    PAGES.flatMap((path) => undated(read(path)).map((name) => `${path}: ${name}`)),
    [],
  );
});

test('every measured commit is in the history of this one', () => {
  if (git('rev-parse', '--is-shallow-repository').trim() !== 'false') return;
  const commits = PAGES.flatMap((path) =>
    Array.from(read(path).matchAll(new RegExp(SENTENCE, 'g')), ([, commit]) => commit!),
  );
  const isThere = (commit: string): boolean =>
    spawnSync('git', ['merge-base', '--is-ancestor', commit, 'HEAD'], { cwd: ROOT }).status === 0;
  assert.ok(commits.length > 10);
  assert.equal(
    [...new Set(commits)].filter((commit) => !isThere(commit)),
    [],
  );
});

/** The rows of what was tried by hand that have a commit, with the files and folders that they link. */
const TRIED = Array.from(
  read('docs/reference/devices.md').matchAll(/^\|(.*\]\(\.\.\/\.\.\/.*)\| `([0-9a-f]{8})` \|/gm),
  ([, what, commit]) => ({
    commit: commit!,
    files: Array.from(what!.matchAll(/\]\(\.\.\/\.\.\/(.*?)\)/g), ([, file]) => file!),
  }),
);

test('what was tried by hand has not changed since: try it again, or remove its row', () => {
  if (git('rev-parse', '--is-shallow-repository').trim() !== 'false') return;
  assert.ok(TRIED.length > 0);
  for (const { commit, files } of TRIED)
    assert.is(git('diff', '--stat', commit, '--', ...files), '', files.join());
});

test.run();
