/** Every command that a document quotes, or a program in its first comment, is one that the program takes. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Arguments, COMMON_OPTIONS } from '../../cli/src/command.ts';
import { COMMANDS } from '../../cli/src/main.ts';
import { parseOptions } from '../../judge/src/options.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  scripts: { readonly [name: string]: string };
};

/** A command of ours, up to the end of its line or of its quotation, without what is said about it behind two spaces. */
const COMMAND =
  /(?:npm run |npm test|npx hub-protocol-|node --import tsx |(?<![\w./-])(?:docs|evidence|examples|ports|test|vectors)\/[\w./-]*\/(?:constant-time|judge|linear|nodes|run|size)(?![\w./-]))(?:(?! {2}| # | [|>&] | && | -->)[^`\n])*/g;

/** The words of a command, as a shell divides it. */
function wordsOf(command: string): string[] {
  return Array.from(command.trim().matchAll(/(?:"[^"]*"|'[^']*'|\S)+/g), ([word]) =>
    word.replace(/["']/g, ''),
  );
}

/** Throws if the program of a command would refuse its arguments. */
function parse(command: string): void {
  const [program, ...words] = wordsOf(command);
  if (program === 'npx') {
    const [name, ...args] = words as [string, ...string[]];
    if (args.length === 0) return; // the program's name
    if (name === 'hub-protocol-judge') parseOptions(args);
    else parseCommand(args);
    return;
  }
  if (program === 'node') {
    parseFor(words[2]!, words.slice(3));
    return;
  }
  if (program === 'npm') parseForNpm(words);
  else parseForShell(readFileSync(ROOT + program, 'utf8'), words);
}

/** A script of package.json, with the words behind `--`. */
function parseForNpm(words: readonly string[]): void {
  const [name, separator, ...args] = words.filter((word) => word !== 'run' && word !== '--silent');
  if (scripts[name!] === undefined) throw new Error(`there is no script ${name}`);
  if (separator !== undefined && separator !== '--') throw new Error(`npm takes ${separator} for itself`);
  const [, file] = /^bash (\S+)$/.exec(scripts[name!]!) ?? [];
  parseForShell(file === undefined ? scripts[name!]! : readFileSync(ROOT + file, 'utf8'), args);
}

/** A script for a shell, which passes its arguments to the last program in it. */
function parseForShell(shell: string, args: readonly string[]): void {
  if (shell.includes('judge/dist/cli.js')) parseOptions([...args, '--', 'adapter']);
  else if (/^case /m.test(shell)) {
    const unknown = args.slice(0, 1).find((arg) => !shell.includes(`  ${arg}) `));
    if (unknown !== undefined) throw new Error(`it does not take ${unknown}`);
  } else {
    const program = [...shell.matchAll(/[\w./-]+\.(?:ts|py)\b/g)].pop()?.[0];
    if (program === 'tools/test.ts' && args.length > 0) throw new Error('it takes no arguments');
    parseFor(program, args);
  }
}

/** A command of hub-protocol-cli. */
function parseCommand([name, ...args]: readonly string[]): void {
  if (name === '--help' || name === '--version') return;
  const command = COMMANDS.find((each) => each.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  new Arguments(args, { ...command.options, ...COMMON_OPTIONS });
}

/** Parses arguments with the options in the source of a program. One without a list of options has to name what it takes. */
function parseFor(program: string | undefined, args: readonly string[]): void {
  if (args.length === 0) return;
  if (program === undefined || !existsSync(ROOT + program)) throw new Error(`there is no program ${program}`);
  const source = readFileSync(ROOT + program, 'utf8');
  const [, call] = /= parseArgs\((\{[\s\S]*?\})\);/.exec(source) ?? [];
  if (call === undefined) {
    const quote = program.endsWith('.py') ? '[["]' : "'";
    const unknown = args.find(
      (arg) => arg.startsWith('--') && !new RegExp(`${quote}${arg}[\\]"']`).test(source),
    );
    if (unknown !== undefined) throw new Error(`${program} does not take ${unknown}`);
    return;
  }
  const options = Object.fromEntries(
    Array.from(
      call.matchAll(/['"]?([\w-]+)['"]?: \{ type: '(string|boolean)'(, multiple: true)?/g),
      ([, name, type, multiple]) =>
        [name!, { type: type as 'string' | 'boolean', multiple: multiple !== undefined }] as const,
    ),
  );
  parseArgs({ args, options, allowPositionals: call.includes('allowPositionals: true') });
}

/** The commands in a text that do not parse, with the reason. */
function wrong(text: string): string[] {
  return Array.from(text.matchAll(COMMAND), ([command]) => command).flatMap((command) => {
    try {
      parse(command);
      return [];
    } catch (error) {
      return [`${command}: ${(error as Error).message}`];
    }
  });
}

const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n');

test('every command in a document parses', () => {
  const pages = files.filter((file) => file.endsWith('.md') && existsSync(ROOT + file));
  assert.equal(
    pages.flatMap((file) => wrong(readFileSync(ROOT + file, 'utf8')).map((text) => `${file}: ${text}`)),
    [],
  );
});

test('every command in the first comment of a program parses', () => {
  const programs = files.filter((file) => /^(?:cli|evidence|examples|judge|test|tools)\/.*\.ts$/.test(file));
  const problems = programs.flatMap((file) => {
    if (!existsSync(ROOT + file)) return [];
    const comment = /^\/\*\*[\s\S]*?\*\//.exec(readFileSync(ROOT + file, 'utf8'))?.[0] ?? '';
    return wrong(comment).map((text) => `${file}: ${text}`);
  });
  assert.equal(problems, []);
});

test.run();
