/** Follows a page as a newcomer does: runs its commands as they are printed, and saves its code in the files that it names. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as assert from 'uvu/assert';

/** What a command prints, what the newcomer types into it, and the status that it ends with unless it is stopped. */
export interface Expected {
  readonly prints: RegExp;
  readonly types?: string;
  readonly status?: number;
  /** Until when it runs, if it does not end by itself: until it has printed this, or until the last step. */
  readonly until?: 'printed' | 'last';
}

/** A newcomer, and what differs from the page. */
export interface Newcomer {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  /** What they type in place of a command. */
  typed(line: string): string;
  /** What they save in place of a piece of code. */
  saved?(code: string): string;
  /** What else they do after the last step; `stop` stops a command that is still running. */
  atEnd?(stop: (beginning: string) => Promise<void>): Promise<void>;
}

export type Step =
  | { readonly do: 'run'; readonly line: string }
  | { readonly do: 'append'; readonly file: string; readonly code: string };

/** A block of code, or a command to install in the text; blocks in lists are indented. */
const PARTS = /^( *)```(\w+)\n(.*?)^ *```$|`(npm install [^`]*)`/gms;
/** "Save it as `kiosk.mjs`", or "one below the other in `kiosk.mjs`". */
const FILE = /(?:[Ss]ave (?:this|it) as|one below the other in)\s+`([\w./]+)`/g;

/**
 * The steps of a page. A block of code belongs to the file that the text above it names; further blocks in the same language
 * continue the file.
 */
export function stepsOf(page: string): Step[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const steps: Step[] = [];
  let language: string | undefined;
  for (const part of text.matchAll(PARTS)) {
    const [, , written, code, inText] = part;
    const lines = inText === undefined ? (written === 'sh' ? code!.split('\n') : []) : [inText];
    for (const line of lines.map((text) => text.replace(/ +#.*/, '').trim())) {
      if (line !== '') steps.push({ do: 'run', line });
    }
    const before = text.slice(0, part.index);
    const named = [...before.matchAll(FILE)].pop();
    if (inText !== undefined || written === 'sh' || named === undefined) continue;
    const isFirst = !/^ *```(?!sh)\w/m.test(before.slice(named.index));
    if (isFirst) language = written;
    if (written === language) steps.push({ do: 'append', file: named[1]!, code: code! });
  }
  return steps;
}

/**
 * Follows a page to its end.
 * @param commands - what is expected of each command, by its beginning; others are not run
 */
export async function follow(
  page: string,
  commands: { readonly [beginning: string]: Expected },
  newcomer: Newcomer,
): Promise<void> {
  const left = new Set(Object.keys(commands));
  const running = new Map<string, Running>();
  try {
    for (const step of stepsOf(page)) {
      if (step.do === 'append') {
        const code = newcomer.saved?.(step.code) ?? step.code;
        const file = join(newcomer.folder, step.file);
        mkdirSync(dirname(file), { recursive: true });
        appendFileSync(file, code);
        continue;
      }
      const beginning = Object.keys(commands).find((command) => step.line.startsWith(command));
      if (beginning === undefined) continue;
      left.delete(beginning);
      const started = await carryOut(newcomer.typed(step.line), commands[beginning]!, newcomer);
      if (started !== undefined) running.set(beginning, started);
    }
    assert.equal([...left], [], `${page} has no such command`);
    await newcomer.atEnd?.((beginning) => running.get(beginning)!.stop());
  } finally {
    for (const one of [...running.values()].reverse()) await one.stop();
  }
}

/** A command that a newcomer has started, with everything that it starts. */
class Running {
  readonly #child: ChildProcess;
  /** Resolves to its status, or to null if it was stopped. */
  readonly #ended: Promise<number | null>;
  #hasEnded = false;
  #printed = '';

  constructor(line: string, { folder, env }: Newcomer) {
    this.#child = spawn('sh', ['-c', line], { cwd: folder, env, detached: true });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (status) => {
        this.#hasEnded = true;
        resolve(status);
      });
    });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (data) => {
        this.#printed += data;
        this.#child.emit('printed');
      });
    }
    this.#child.stdin!.on('error', () => {}); // it may end without reading
    const limit = setTimeout(() => this.stop(), 500_000); // pip installs for minutes if other programs keep the cores busy
    this.#child.once('close', () => clearTimeout(limit));
  }

  type(text: string): void {
    this.#child.stdin!.write(text);
  }

  /** Waits until it has printed something, or has ended. */
  async until(prints: RegExp): Promise<string> {
    while (!prints.test(this.#printed) && !this.#hasEnded) {
      await Promise.race([once(this.#child, 'printed'), this.#ended]);
    }
    return this.#printed;
  }

  /** Types no more, and waits for the end. */
  async end(): Promise<{ printed: string; status: number | null }> {
    this.#child.stdin!.end();
    const status = await this.#ended;
    return { printed: this.#printed, status };
  }

  async stop(): Promise<void> {
    if (!this.#hasEnded) process.kill(-this.#child.pid!, 'SIGKILL');
    await this.#ended;
  }
}

/** Runs a command. Returns it if it goes on running. */
async function carryOut(line: string, expected: Expected, newcomer: Newcomer): Promise<Running | undefined> {
  const running = new Running(line, newcomer);
  running.type(expected.types ?? '');
  if (expected.until === undefined) {
    const { printed, status } = await running.end();
    assert.is(status, expected.status ?? 0, `${line}\n${printed}`);
    assert.match(printed, expected.prints, line);
    return undefined;
  }
  const printed = await running.until(expected.prints);
  if (expected.until === 'last' && expected.prints.test(printed)) return running;
  await running.stop();
  assert.match(printed, expected.prints, line);
  return undefined;
}
