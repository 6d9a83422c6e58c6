/**
 * Pages, followed as a newcomer follows them: in a folder that `npm init` has just made, with nothing of this clone, with npm
 * and with pnpm. Each command runs as it is printed, and each program is pasted from its page.
 */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Tab } from '../browser/tab.ts';
import { type Expected, follow, stepsOf } from '../docs/follow.ts';
import { freePort } from '../world/free-port.ts';
import { newFolder, run, TOOLS, userEnvironment } from './packed.ts';

const test = suite('pages');

const INSTALLED: Expected = { prints: /added|up to date|dependencies/ };
const HUB: Expected = { prints: /Ctrl\+C ends the hub/, until: 'last' };
const ANSWER: Expected = { prints: /^It is \d\d:\d\d\.$/m };
/** The commands of each page that are run, by their beginning. Other commands of these pages need what a newcomer lacks. */
const PAGES: { readonly [page: string]: { readonly [command: string]: Expected } } = {
  'README.md': {
    'npx hub-protocol-cli hub': HUB,
    'node first.mjs': { prints: /^Today is \w/m },
    'node core.mjs': { prints: /^the hub got \{"say":"hello"\}$/m },
  },
  'docs/reference/install.md': {
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
  'docs/guides/hub.md': {
    'node hub.mjs kiosk-7 kiosk-8 sensor-1': {
      prints: /^the hub is at ws:\/\/localhost:\d+$/m,
      until: 'last',
    },
    'npx hub-protocol-cli ask kiosk-7.json': { prints: /^Hello kiosk-7, you said: Good morning$/m },
  },
  'docs/guides/over-mqtt.md': {},
  'docs/guides/browser.md': {},
  'docs/guides/first-device.md': {},
  'docs/guides/hub-chat.md': {
    'npx hub-protocol-cli hub': HUB,
    'npx esbuild hub-chat.js': { prints: /Local:/, until: 'last' },
    'npx hub-protocol-cli pair': { prints: /▄/ },
  },
  'docs/guides/node-red.md': {},
  'docs/guides/wyoming.md': {},
};
/** What a page says to import, although it has no program that a newcomer can run without a broker or a bundler. */
const ENTRIES: { readonly [page: string]: string } = {
  'docs/guides/over-mqtt.md': 'hub-protocol-client/mqtt',
  'docs/guides/browser.md': 'hub-protocol-client/browser',
};

/** Talks in the page of docs/guides/hub-chat.md, which a code opens, in a browser that has accepted the hub's certificate. */
async function talkInPage(folder: string, port: number): Promise<void> {
  const page = `http://localhost:${port}/`;
  const { stdout } = await run(folder, 'npx', [
    'hub-protocol-cli',
    'pair',
    'hub/identity.json',
    page,
    '--json',
  ]);
  const tab = await Tab.open('--ignore-certificate-errors');
  try {
    await tab.navigate(JSON.parse(stdout).link);
    const chat = `document.querySelector('hub-chat')?.shadowRoot`;
    await tab.until(`${chat}?.querySelector('[role=status]')?.textContent === 'Connected.'`);
    await tab.evaluate(`${chat}.querySelector('input').focus()`);
    await tab.paste('What time is it?');
    await tab.press('Enter');
    await tab.until(`/It is \\d\\d:\\d\\d\\./.test(${chat}?.textContent)`);
  } finally {
    await tab.stop();
  }
}

/** The package managers, and what a newcomer types for a command of npm's. A page without a local installation needs npm only. */
const MANAGERS: { readonly [name: string]: (line: string) => string } = {
  npm: (line) => line,
  pnpm: (line) =>
    line
      .replace(/^npm install (?!--)/, 'pnpm add ')
      .replace(/ esbuild$/, ' esbuild --allow-build=esbuild') // pnpm fails at an install script that nobody allowed
      .replace(/^npx /, 'pnpm dlx '),
};

let env: NodeJS.ProcessEnv;
test.before(async () => {
  const user = await userEnvironment;
  env = { ...user, PATH: `${TOOLS}@pnpm/exe.linux-x64:${user.PATH}` };
});

test('every guide and README that says what to install is followed', () => {
  const guides = readdirSync(new URL('../../docs/guides/', import.meta.url)).filter((name) =>
    name.endsWith('.md'),
  );
  const pages = ['', 'client/', 'cli/', 'judge/'].map((folder) => `${folder}README.md`);
  const followed = [...pages, ...guides.map((name) => `docs/guides/${name}`)].filter((page) =>
    stepsOf(page).some((step) => step.do === 'run' && step.line.startsWith('npm install')),
  );
  assert.equal(
    followed.filter((page) => !(page in PAGES)),
    [],
  );
});

for (const [page, commands] of Object.entries(PAGES)) {
  const lines = stepsOf(page).flatMap((step) => (step.do === 'run' ? [step.line] : []));
  const isLocal = lines.some((line) => /^npm install (?!--)/.test(line));
  const install = lines.some((line) => line.startsWith('npm install')) ? { 'npm install': INSTALLED } : {};
  for (const [manager, typed] of Object.entries(MANAGERS).slice(0, isLocal ? 2 : 1)) {
    test(`${page} can be followed with ${manager}`, async () => {
      const folder = newFolder(`${manager} ${page.replace(/\W/g, '-')}`);
      await run(folder, 'npm', ['init', '-y']);
      const port = await freePort(); // another hub may run on this machine
      const pagePort = await freePort();
      for (const name of ['hub-chat.js', 'pairing.js']) {
        if (page.endsWith('hub-chat.md'))
          copyFileSync(new URL(`../../examples/${name}`, import.meta.url), join(folder, name));
      }
      await follow(
        page,
        { ...install, ...commands },
        {
          ...{ folder, env },
          typed: (line) =>
            typed(line)
              .replace(/ hub$/, ` hub --port ${port}`)
              .replace(/ --servedir/, ` --serve=${pagePort}$&`),
          saved: (code) => code.replace('const port = 5678', `const port = ${port}`),
          atEnd: async () => {
            if (page.endsWith('hub-chat.md')) await talkInPage(folder, pagePort);
          },
        },
      );
      const entry = ENTRIES[page];
      if (entry === undefined) return;
      assert.match(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'), `'${entry}'`);
      await run(folder, process.execPath, ['--input-type=module', '-e', `import '${entry}';`]);
    });
  }
}

test.run();
