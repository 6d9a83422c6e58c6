/**
 * docs/guides/hivemind-hub.md, followed as it is written, with what PyPI has today: from an empty virtual environment to an
 * answer. The hub and the bus listen on free ports, since others of this machine may have theirs.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { follow } from '../docs/follow.ts';
import { freePort } from '../world/free-port.ts';
import { versionOf } from './python-peer.ts';

const test = suite('the guide to HiveMind’s hub');
const run = promisify(execFile);
const PAGE = 'docs/guides/hivemind-hub.md';
const GUIDE = readFileSync(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
const CLI = fileURLToPath(new URL('../../cli/dist/cli.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-guide-'));
const env = {
  ...process.env,
  HOME: folder,
  PIP_CACHE_DIR: process.env.PIP_CACHE_DIR ?? join(homedir(), '.cache/pip'), // what pip has built is not built again
  XDG_CONFIG_HOME: join(folder, 'config'),
  XDG_DATA_HOME: join(folder, 'data'),
  XDG_STATE_HOME: join(folder, 'state'),
  PATH: `${join(folder, 'venv/bin')}:${process.env.PATH}`,
};
const port = await freePort();

/** The password that the hub has issued: 128 random bits. */
function issued(): string {
  const clients = execFileSync('hivemind-core', ['export-clients'], { cwd: folder, env, encoding: 'utf8' });
  return /,kiosk-7,([0-9a-f]{32})$/m.exec(clients)![1]!;
}

test.before(async () => {
  await run('python3', ['-m', 'venv', join(folder, 'venv')]);
  const bus = { host: '127.0.0.1', port: await freePort() };
  const plugin = 'hivemind-ovos-agent-plugin';
  const hub = {
    network_protocol: { 'hivemind-websocket-plugin': { host: '127.0.0.1', port, ssl: false } },
    agent_protocol: { module: plugin, [plugin]: bus },
  };
  for (const [path, settings] of Object.entries({ mycroft: { websocket: bus }, 'hivemind-core': hub })) {
    mkdirSync(join(env.XDG_CONFIG_HOME, path), { recursive: true });
    const name = path === 'mycroft' ? 'mycroft.conf' : 'server.json';
    writeFileSync(join(env.XDG_CONFIG_HOME, path, name), JSON.stringify(settings));
  }
});
test.after(() => rmSync(folder, { recursive: true }));

test('leads from an empty machine to the first answer, and to a reconnect with the pinned key', async () => {
  const question = /^npx hub-protocol-cli (.*)$/m.exec(GUIDE)![1]!;
  const ask = `${process.execPath} ${CLI} ${question}`;
  const commands = {
    'pip install': { prints: /Successfully installed/ },
    'hivemind-core add-client': { prints: /kiosk-7/ },
    'ovos-messagebus': { prints: /Message bus service started/, until: 'last' },
    'python agent.py': { prints: /^/, until: 'last' },
    'hivemind-core listen': { prints: /listener started/, until: 'last' },
    'npx hub-protocol-cli ask': { prints: /^You said: What time is it\?$/m },
  } as const;
  await follow(PAGE, commands, {
    folder,
    env,
    typed: (line) => line.replace(/^npx hub-protocol-cli .*$/, ask),
    saved: (code) => code.replace('5678', String(port)).replace('PASSWORD', issued),
    async atEnd(stop) {
      const again = await run('sh', ['-c', ask], { cwd: folder, env });
      assert.match(again.stdout, 'You said: What time is it?');
      // The row of the page's table about a hub that has lost its bus.
      await stop('ovos-messagebus');
      const { stdout } = await run('sh', ['-c', `${ask} --json || true`], { cwd: folder, env });
      assert.match(stdout, /"ending": "denied"/);
      assert.match(stdout, /The message bus of the hub is down/);
    },
  });
});

test('names commands that the hub has', async () => {
  const { stdout } = await run('hivemind-core', ['--help'], { cwd: folder, env });
  for (const [, command] of GUIDE.matchAll(/(?:^|`)hivemind-core ([a-z-]+)/gm))
    assert.match(stdout, ` ${command} `);
});

test('names the versions that the other tests pin', () => {
  const [, tested] = /^(.*Tested on [\s\S]*?)\n\n/m.exec(GUIDE)!;
  const versions = [...tested!.matchAll(/([\w-]+) (\d[\w.]*a\d+)/g)];
  assert.ok(versions.length >= 4);
  for (const [, name, version] of versions) assert.is(version, versionOf(name!), name);
});

test.run();
