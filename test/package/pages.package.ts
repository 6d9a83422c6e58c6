/**
 * Pages, followed as a newcomer follows them: in a folder that `npm init` has just made, with nothing of this clone, with npm
 * and with pnpm. Each command runs as it is printed, and each program is pasted from its page.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { newFolder, run, TOOLS, userEnvironment } from './packed.ts';
import { stepsOf } from './page.ts';

const test = suite('pages');

/** What a command prints, what the newcomer types into it, and the status that it ends with unless it is stopped. */
interface Expected {
  readonly prints: RegExp;
  readonly types?: string;
  readonly status?: number;
  /** Until when it runs, if it does not end by itself. */
  readonly until?: 'printed' | 'last';
}

const HUB: Expected = { prints: /Ctrl\+C ends the hub/, until: 'last' };
const ANSWER: Expected = { prints: /^It is \d\d:\d\d\.$/m };
/** The commands of each page that are run, by their beginning. Other commands of these pages need what a newcomer lacks. */
const PAGES: { readonly [page: string]: { readonly [command: string]: Expected } } = {
  'README.md': {
    'npx hub-protocol-cli hub': HUB,
    'npx hub-protocol-cli ask': ANSWER,
    'npx hub-protocol-cli chat': { prints: /You said: so/, types: 'so\n' },
    'node kiosk.mjs': { prints: /^Today is \w/m, until: 'printed' },
    'npx tsx core.mts': { prints: /^the hub says \{"echo":"\{\\"say\\":\\"hello\\"\}"\}$/m },
  },
  'client/README.md': {
    'npx hub-protocol-cli hub': HUB,
    'node ask.mjs': ANSWER,
  },
  'cli/README.md': {
    'npx hub-protocol-cli hub': HUB,
    'npx hub-protocol-cli ask': ANSWER,
    'npx hub-protocol-cli chat': { prints: /You said: so/, types: 'so\n' },
    'npx hub-protocol-cli psk': { prints: /^[0-9a-f]{64}$/m, types: 'correct horse\n' },
    'npx hub-protocol-cli --help': { prints: /provision/ },
  },
  'judge/README.md': {
    'npx hub-protocol-judge -- python3 my_adapter.py': { prints: /every verdict/, status: 2 },
    'npx hub-protocol-judge --help': { prints: /--listen/ },
  },
  'docs/guides/kiosk.md': {
    'npx hub-protocol-cli hub': HUB,
    'node kiosk.mjs': { prints: /^It is \d\d:\d\d\.$/m, types: 'What time is it?\n', until: 'printed' },
  },
  'docs/guides/over-mqtt.md': {
    'npx tsx settings.mts': { prints: /^mqtts:\/\/broker\.example true\nkiosk-kiosk-7$/m },
  },
  'docs/guides/browser.md': {},
};
/** What a page says to import, although it has no program that a newcomer can run without a broker or a bundler. */
const ENTRIES: { readonly [page: string]: string } = {
  'docs/guides/over-mqtt.md': 'hub-protocol-client/mqtt',
  'docs/guides/browser.md': 'hub-protocol-client/browser',
};

/** The package managers, and what a newcomer types for a command of npm's. A page without a local installation needs npm only. */
const MANAGERS: { readonly [name: string]: (line: string) => string } = {
  npm: (line) => line,
  pnpm: (line) => line.replace(/^npm install (?!--)/, 'pnpm add ').replace(/^npx /, 'pnpm dlx '),
};

let env: NodeJS.ProcessEnv;
test.before(async () => {
  const user = await userEnvironment;
  env = { ...user, PATH: `${TOOLS}@pnpm/exe.linux-x64:${user.PATH}` };
});

/** A command that a newcomer has started, with everything that it starts. */
class Running {
  readonly #child: ChildProcess;
  /** Resolves to its status, or to null if it was stopped. */
  readonly #ended: Promise<number | null>;
  #hasEnded = false;
  #printed = '';

  constructor(folder: string, line: string) {
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
    const limit = setTimeout(() => this.stop(), 120_000);
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
async function carryOut(folder: string, line: string, expected: Expected): Promise<Running | undefined> {
  const running = new Running(folder, line);
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

for (const [page, commands] of Object.entries(PAGES)) {
  const steps = stepsOf(page);
  const isLocal = steps.some((step) => step.do === 'run' && /^npm install (?!--)/.test(step.line));
  for (const [manager, typed] of Object.entries(MANAGERS).slice(0, isLocal ? 2 : 1)) {
    test(`${page} can be followed with ${manager}`, async () => {
      const folder = newFolder(`${manager} ${page.replace(/\W/g, '-')}`);
      await run(folder, 'npm', ['init', '-y']);
      const left = new Set(Object.keys(commands));
      const running: Running[] = [];
      try {
        for (const step of steps) {
          if (step.do === 'append') {
            appendFileSync(join(folder, step.file), step.code);
            continue;
          }
          const begin = Object.keys(commands).find((command) => step.line.startsWith(command));
          const isInstall = step.line.startsWith('npm install');
          if (begin === undefined && !isInstall) continue;
          left.delete(begin!);
          const expected = isInstall ? { prints: /added|up to date|dependencies/ } : commands[begin!]!;
          // Another hub may run on this machine, so this one gets a port of its own.
          const port = expected === HUB ? ` --port ${await freePort()}` : '';
          const started = await carryOut(folder, typed(step.line) + port, expected);
          if (started !== undefined) running.push(started);
        }
        assert.equal([...left], []);
        const entry = ENTRIES[page];
        if (entry !== undefined) {
          assert.match(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'), `\`${entry}\``);
          await run(folder, process.execPath, ['--input-type=module', '-e', `import '${entry}';`]);
        }
      } finally {
        for (const one of running) await one.stop();
      }
    });
  }
}

test.run();
