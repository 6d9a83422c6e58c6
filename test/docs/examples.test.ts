/** The examples in docstrings and guides are strict TypeScript, run on the built package, and print what their comments say. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Member, parseDoc, publicNames } from '../../tools/declared.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const env = { ...process.env, FORCE_COLOR: undefined };
const folder = mkdtempSync(join(ROOT, 'dist/examples-')); // inside the project, so that `hub-protocol` means this package

interface Example {
  readonly name: string;
  readonly code: string;
}

const GUIDES = new URL('../../docs/guides/', import.meta.url);

/** The programs in the guides. */
function inGuides(): Example[] {
  return readdirSync(GUIDES)
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) =>
      [...readFileSync(new URL(page, GUIDES), 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
        ([, code], i) => ({
          name: `${page}-${i + 1}`,
          code: code!,
        }),
      ),
    );
}

/** The example of `connect` in each entry of the client that has one. */
function inClient(): Example[] {
  const folder = new URL('../../client/src/', import.meta.url);
  return readdirSync(folder).flatMap((file) => {
    const code = readFileSync(new URL(file, folder), 'utf8');
    const [comment] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/(?=\nexport function connect\()/.exec(code) ?? [];
    const examples = comment === undefined ? [] : parseDoc(comment).examples;
    return examples.map((code) => ({ name: `connect-${file.replace('.ts', '')}`, code }));
  });
}

const EXAMPLES: readonly Example[] = publicNames()
  .flatMap(({ name, doc, members }) => {
    const of = ({ name: member, doc }: Pick<Member, 'name' | 'doc'>): Example[] =>
      (doc?.examples ?? []).map((code) => ({ name: member === name ? name : `${name}-${member}`, code }));
    return [...of({ name, doc }), ...members.flatMap(of)];
  })
  .concat(inGuides(), inClient());

/** What an example prints, line by line, as the comments after `console.log` say. */
function promised(code: string): string[] {
  return [...code.matchAll(/console\.log\(.*\);? \/\/ (.+)$/gm)].map(([, comment]) => comment!);
}

/** Whether a comment promises a line. It may go on to say more, after a colon. */
function isPromised(line: string | undefined, comment: string): boolean {
  return line !== undefined && (comment === line || comment.startsWith(`${line}: `));
}

function run(...args: string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, args, { cwd: folder, env });
}

const MARK = '\x00';
let printed: readonly string[];

test.before(async () => {
  for (const { name, code } of EXAMPLES) writeFileSync(join(folder, `${name}.ts`), `${code}\nexport {};\n`);
  const compilerOptions = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: ['node'],
    skipLibCheck: true,
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const problems = await run(compiler, '-p', folder).then(
    () => '',
    ({ stdout }) => String(stdout),
  );
  assert.is(problems, '');
  const names = JSON.stringify(EXAMPLES.map(({ name }) => name));
  const { stdout } = await run(
    '--input-type=module',
    '-e',
    `import { WebSocket } from 'ws';
    globalThis.WebSocket ??= WebSocket; // as a page and an app have it
    const items = new Map();
    const getItem = (name) => items.get(name) ?? null;
    globalThis.localStorage = { getItem, setItem: (name, text) => items.set(name, text) };
    for (const name of ${names}) {
      console.log('\\x00');
      try { await import('./' + name + '.js'); } catch (error) { console.log(error.stack); }
    }`,
  );
  printed = stdout.split(`${MARK}\n`).slice(1);
});
test.after(() => rmSync(folder, { recursive: true }));

EXAMPLES.forEach(({ name, code }, index) => {
  test(`the example of ${name} prints what it says`, () => {
    const lines = printed[index]!.split('\n').slice(0, -1);
    const comments = promised(code);
    assert.equal(lines.length, comments.length, printed[index]);
    lines.forEach((line, i) => {
      assert.ok(isPromised(line, comments[i]!), `${comments[i]}, got ${line}`);
    });
  });
});

test.run();
