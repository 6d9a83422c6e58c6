/** What the guides in docs/guides/ quote and call is there. Their TypeScript runs in examples.test.ts. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = new URL('../../', import.meta.url);
const GUIDES = new URL('docs/guides/', ROOT);
const PAGES = new Map(
  readdirSync(GUIDES)
    .filter((name) => name.endsWith('.md'))
    .map((name) => [name, readFileSync(new URL(name, GUIDES), 'utf8')] as const),
);
const { scripts } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { scripts: object };

/** The code of a page in one language, with all that stands before it. */
function fences(text: string, language: string): { code: string; before: string }[] {
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map((found) => ({
    code: found[1]!,
    before: text.slice(0, found.index),
  }));
}

function lines(code: string): string[] {
  return code
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** What guides in JavaScript leave out of an example in TypeScript. */
function withoutTypes(example: string): string {
  return example.replace(
    /(?<=import \{ |, )type \w+, |: (?:AskEvent(?: \| undefined)?|AskError|Pick<Answer[^>]*>)(?=[,;)])/g,
    '',
  );
}

/** Whether all lines of an excerpt follow each other in a text, however far they are indented. */
function quotes(text: string, excerpt: string): boolean {
  return lines(text).join('\n').includes(lines(excerpt).join('\n'));
}

const HELP = new Map<string, string>();

/** What a command of `hub-protocol` says about itself. */
function helpOf(command: string): string {
  const known = HELP.get(command);
  if (known !== undefined) return known;
  const cli = fileURLToPath(new URL('cli/dist/cli.js', ROOT));
  const help = execFileSync(process.execPath, [cli, command, '--help'], { encoding: 'utf8' });
  HELP.set(command, help);
  return help;
}

/** What is wrong with a line that a reader types. */
function faultIn(line: string): string | undefined {
  const [, script] = /^npm run ([\w:]+)/.exec(line) ?? [];
  if (script !== undefined) return script in scripts ? undefined : `there is no script ${script}`;
  const [, program] = /^(?:node --import tsx )?([\w.]+\/\S+)/.exec(line) ?? [];
  if (program !== undefined) return existsSync(new URL(program, ROOT)) ? undefined : `there is no ${program}`;
  if (/^(?:mkdir|cp|echo) /.test(line)) return undefined;
  if (/^npm install hub-protocol/.test(line)) return undefined; // package/pages.package.ts installs it
  if (/^(?:node|npx tsx) \w+\.m[jt]s\b/.test(line)) return undefined; // package/pages.package.ts runs it
  if (/^openssl /.test(line)) return undefined; // examples/hub.test.ts runs them
  if (/^npm install redis$|^node -p |^node process\.mjs redis /.test(line)) return undefined; // tried by hand; evidence/scale/processes runs the last
  if (/^npx esbuild /.test(line)) return undefined; // package/bundlers.package.ts bundles a page with it
  if (/^npx hub-protocol-judge /.test(line)) return undefined; // judge/cli.test.ts has its options
  if (/^(?:(?:pip|hivemind-core|python) |ovos-)/.test(line)) return undefined; // interop/hivemind-guide.interop.ts runs them
  const [, command, rest = ''] = /^npx hub-protocol-cli (\w+)(.*)$/.exec(line) ?? [];
  if (command === undefined) return 'it is no command that this test knows';
  const missing = (rest.match(/--[\w-]+/g) ?? []).filter(
    (option) => !helpOf(command).includes(`  ${option} `),
  );
  return missing.length === 0 ? undefined : `${command} has no ${missing}`;
}

/** The types of the library and of the client, as they are published. */
const TYPES = ['dist/', 'client/dist/']
  .map((folder) => new URL(folder, ROOT))
  .flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.d.ts'))
      .map((name) => readFileSync(new URL(name, folder), 'utf8')),
  )
  .join('\n');
/** What our commands and the judge say about themselves. */
const HELPS = ['ask', 'chat', 'doctor', 'explain', 'hub', 'provision', 'psk', 'redact', 'topics']
  .map(helpOf)
  .concat(
    ['cli', 'judge'].map((folder) => {
      const program = fileURLToPath(new URL(`${folder}/dist/cli.js`, ROOT));
      return execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' });
    }),
  )
  .join('\n');
/** Options of npm, pip and HiveMind's hub: the tests that follow the pages use them. */
const OF_OTHERS = ['--global', '--pre', '--allow'];

/** The options that the text of a page names outside of its blocks of code, and that do not exist. */
function unknownOptions(text: string): string[] {
  const spans = [...text.replace(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([^`]+)`/g)].map(
    (found) => found[1]!,
  );
  const flags = spans.flatMap((span) => span.match(/--[a-z][\w-]*/g) ?? []);
  const members = spans.flatMap((span) => [
    ...span.matchAll(/(?<![\w"'-])([a-z]\w*): (?:'([\w-]+)'|(?=[\w{[]))/g),
  ]);
  const isKnown = ([, name, value]: RegExpMatchArray): boolean =>
    new RegExp(`\\b${name}\\??:`).test(TYPES) && (value === undefined || TYPES.includes(`'${value}'`));
  return [
    ...flags.filter((flag) => !OF_OTHERS.includes(flag) && !new RegExp(`${flag}(?![\\w-])`).test(HELPS)),
    ...members.filter((member) => !isKnown(member)).map(([span]) => span),
  ];
}

for (const page of ['README.md', 'client/README.md', 'cli/README.md', 'judge/README.md']) {
  test(`${page}: the options in its text exist`, () => {
    assert.equal(unknownOptions(readFileSync(new URL(page, ROOT), 'utf8')), []);
  });
}

for (const [page, program] of [
  ['kiosk.md', 'kiosk.ts'],
  ['hub.md', 'hub.js'],
] as const) {
  test(`the pieces of code in ${page} are the whole example`, () => {
    const pieces = fences(PAGES.get(page)!, 'js').flatMap(({ code }) => lines(code));
    const example = withoutTypes(readFileSync(new URL(`examples/${program}`, ROOT), 'utf8'));
    assert.equal(pieces, lines(example.slice(example.search(/^import /m))));
  });
}

for (const [name, text] of PAGES) {
  test(`${name}: its JavaScript and JSON are quoted from the example that it names`, () => {
    if (name === 'hivemind-hub.md') return; // interop/hivemind-guide.interop.ts writes its JSON to a file, and uses it
    if (['browser.md', 'over-mqtt.md'].includes(name)) return; // browser/client.browser.ts and mqtt/demo.mqtt.ts run them
    if (name === 'porting.md') return; // its JSON is one line of the vectors
    for (const { code, before } of [...fences(text, 'js'), ...fences(text, 'json')]) {
      const [, path] = [...before.matchAll(/\]\((\.\.\/\.\.\/examples\/[^)#]+)\)/g)].pop()!;
      const example = withoutTypes(readFileSync(new URL(path!, GUIDES), 'utf8'));
      // The example includes the package from its own folder.
      const here = code.replace(/\.\/node_modules\/hub-protocol\//g, '../../');
      for (const part of here.startsWith('{') ? lines(here).slice(1, -1) : [here]) {
        assert.ok(quotes(example, part.replace(/[,{}[\]]+$/, '')), `${path}: ${part}`);
      }
    }
  });

  test(`${name}: the options in its text exist`, () => {
    assert.equal(unknownOptions(text), []);
  });

  test(`${name}: its commands exist`, () => {
    for (const { code } of fences(text, 'sh')) {
      for (const line of lines(code)) assert.is(faultIn(line), undefined, line);
    }
  });
}

test.run();
