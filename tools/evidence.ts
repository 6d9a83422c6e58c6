/** Draws the table of evidence/README.md: the first two lines of each program's script, and the page that shows its results. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { code, type Drawn, pageWith, table } from './draw.ts';

const ROOT = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const filesIn = (...paths: string[]): string[] =>
  execFileSync('git', ['ls-files', '-z', ...paths], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);

const PAGES = filesIn('docs/evidence/*.md', 'docs/reference/*.md');
const PROGRAMS = filesIn('evidence').filter((path) => /\/(?!install$)[a-z-]+$/.test(path));

/** The measured parts of the pages: each belongs to the program that its page named last. */
const MEASURED = PAGES.flatMap((page) =>
  [...read(page).matchAll(/<!-- measured: .*? -->(.*?)<!-- end -->/gs)].map(({ 1: part, index, input }) => {
    const named = [...input.slice(0, index).matchAll(/evidence(?:\/[a-z-]+)+/g)].map(([path]) => path);
    const [, commit, date] = /Measured at commit (`\w+`).* on ([\d-]+)\./.exec(part!)!;
    return {
      page,
      program: named.filter((path) => PROGRAMS.includes(path)).at(-1),
      when: `${date}, ${commit}`,
    };
  }),
);

/** When a program last ran for its page; `undefined` if there is no such program. */
export function lastRunOf(command: string): string | undefined {
  if (!PROGRAMS.includes(command)) return undefined;
  const runs = MEASURED.filter(({ program }) => program === command).map(({ when }) => when);
  return runs.length === 0 ? 'not recorded' : [...new Set(runs)].sort().join('; ');
}

export function evidence(): Drawn {
  const rows = PROGRAMS.map((path) => {
    const [, question, time] = read(path).split('\n# ');
    const page =
      MEASURED.find(({ program }) => program === path)?.page ?? PAGES.find((one) => read(one).includes(path));
    const link = page === undefined ? '' : `[${posix.basename(page)}](${posix.relative('evidence', page)})`;
    return [question!, code(path), time!.split('\n')[0]!, link, lastRunOf(path)!];
  });
  const head = ['Question', 'Command', 'Time on two cores', 'Page', 'Last run of what the page shows'];
  return pageWith('evidence/README.md', { programs: table(head, rows) });
}
