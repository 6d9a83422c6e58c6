/** The kiosk of examples/, as people start it: a program, its files, and a person who types. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stepsOf } from '../docs/follow.ts';
import { compiled } from '../world/bundled.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';

const test = suite('the kiosk');
const KIOSK = await compiled(new URL('../../examples/kiosk.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-kiosk-'));
const { ca, ...tls } = await localhostCertificate();
const clients = new Map([
  ['kiosk-7', { psk: DERIVED }],
  ['kiosk-8', { psk: randomBytes(32) }],
  ['kiosk-9', { psk: DERIVED }],
]);
const keyOf = (staticKey: Uint8Array): string =>
  fingerprint(new Uint8Array(crypto.x25519.publicKey(staticKey)));
const [first, second] = [randomBytes(32), randomBytes(32)] as const;
const DISCLOSURE = 'You are talking to an AI.';
let hub: HubServer;
let port = 0;
let running: Program[] = [];

async function start(staticKey: Uint8Array): Promise<void> {
  hub = await serveHub({ tls, port, nodeId: 'hub-1', staticKey, clients, answer });
  port = Number(new URL(hub.url).port);
}

function identityOf(accessKey: string): object {
  const endpoints = { data_plane_endpoints: { wss: hub.url } };
  return { access_key: accessKey, password: PASSWORD, site_id: 'lobby', ...endpoints };
}

/** @returns no answer to "think" */
function answer(question: string): string | Promise<string> {
  return question === 'think' ? new Promise(() => {}) : `You said: ${question}`;
}

/** A program that is running, and what it prints. */
class Program {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  #printed = '';
  /** All that was printed. */
  all = '';
  #heard = (): void => {};

  constructor(command: string, args: readonly string[], cwd?: string) {
    this.#child = spawn(command, args, { cwd });
    this.ended = new Promise((resolve) => this.#child.once('close', resolve));
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      stream.on('data', (data) => {
        this.#printed += data;
        this.all += data;
        this.#heard();
      });
    }
    running.push(this);
  }

  type(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Waits for a text that was not waited for before, and forgets what was printed up to it. */
  async prints(text: string): Promise<void> {
    while (!this.#printed.includes(text)) {
      await Promise.race([
        new Promise<void>((resolve) => {
          this.#heard = resolve;
        }),
        this.ended.then(() => assert.unreachable(`it ended before it printed ${text}: ${this.#printed}`)),
      ]);
    }
    this.#printed = this.#printed.slice(this.#printed.indexOf(text) + text.length);
  }
}

class Kiosk extends Program {
  constructor(accessKey: string) {
    const path = (name: string): string => join(folder, name);
    const issued = { ...identityOf(accessKey), ai_disclosure: DISCLOSURE };
    writeFileSync(path('identity.json'), JSON.stringify(issued));
    writeFileSync(path('ca.pem'), ca);
    const files = ['identity.json', `${accessKey}.json`, 'ca.pem'].map(path);
    super(process.execPath, [KIOSK, ...files]);
  }
}

test.before(() => start(first));
test.after.each(() => {
  for (const kiosk of running) kiosk.kill('SIGKILL');
  running = [];
});
test.after(async () => {
  await hub.stop();
  rmSync(folder, { recursive: true });
});

test('answers, exits at Ctrl+C, and recognizes the hub when restarted', async () => {
  const kiosk = new Kiosk('kiosk-7');
  kiosk.type('What is on today?');
  await kiosk.prints('Computing: 100 %');
  await kiosk.prints('You said: What is on today?');
  kiosk.kill('SIGINT');
  assert.is(await kiosk.ended, 0);
  const again = new Kiosk('kiosk-7');
  again.type('And tomorrow?');
  await again.prints('You said: And tomorrow?');
});

test('shows the AI disclosure before the first answer of each person, and not after a reconnect', async () => {
  const kiosk = new Kiosk('kiosk-7');
  for (const question of ['one', 'two', '', 'three']) {
    kiosk.type(question);
    if (question === '') continue; // the next person has come
    await kiosk.prints(`You said: ${question}\n`);
    hub.cut();
    await kiosk.prints('Connected to hub-1.');
  }
  const lines = kiosk.all.split('\n').filter((line) => line === DISCLOSURE || /^You said/.test(line));
  assert.equal(lines, [DISCLOSURE, 'You said: one', 'You said: two', DISCLOSURE, 'You said: three']);
});

test('a line interrupts the answer to the last', async () => {
  const kiosk = new Kiosk('kiosk-7');
  await kiosk.prints('Connected to hub-1.');
  for (const line of ['think', 'stop']) kiosk.type(line);
  const late = setTimeout(() => kiosk.kill('SIGKILL'), 10_000);
  await kiosk.prints('You said: stop');
  clearTimeout(late);
});

test('shows both keys when the hub has a new one, and trusts it when a person agrees', async () => {
  const kiosk = new Kiosk('kiosk-7');
  await kiosk.prints('Connected to hub-1.');
  await hub.stop();
  await start(second);
  await kiosk.prints(`presents the key ${keyOf(second)}, and ${keyOf(first)} is pinned`);
  kiosk.type('trust');
  await kiosk.prints('Connected to hub-1.');
  kiosk.type('Are you new?');
  await kiosk.prints('You said: Are you new?');
});

test('README’s program tells a person both keys of a hub that has another one, before its first answer', async () => {
  const own = join(folder, 'readme');
  mkdirSync(join(own, 'hub'), { recursive: true });
  symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(own, 'node_modules'));
  for (const step of stepsOf('README.md'))
    if (step.do === 'append' && step.file === 'first.mjs') writeFileSync(join(own, step.file), step.code);
  writeFileSync(join(own, 'hub/ca.pem'), ca);
  const issued = { ...identityOf('kiosk-9'), ai_disclosure: DISCLOSURE };
  writeFileSync(join(own, 'hub/identity.json'), JSON.stringify(issued));
  const printed: string[] = [];
  for (const staticKey of [first, second]) {
    await hub.stop();
    await start(staticKey);
    const kiosk = new Program('sh', ['-c', 'exec "$0" first.mjs 2>&1', process.execPath], own);
    await kiosk.prints('You said: ');
    printed.push(kiosk.all);
    kiosk.kill('SIGKILL');
    await kiosk.ended;
  }
  assert.not.match(printed[0]!, /key/);
  const told = `The hub’s key was ${keyOf(first)} and is now ${keyOf(second)}. `;
  assert.ok(printed[1]!.includes(told), printed[1]);
  assert.ok(printed[1]!.indexOf(told) < printed[1]!.indexOf('You said: '));
});

test('reports a wrong password, and shows the same fingerprint as the hub', async () => {
  const kiosk = new Kiosk('kiosk-8');
  await kiosk.prints(
    'This device does not recognise its hub. Please tell the operator. Type "again" to try again.',
  );
  kiosk.type('trust'); // there is no key to trust
  await kiosk.prints('Type "again" to try again.');
  assert.match(kiosk.all, 'The hub’s answer does not fit the password'); // for the log
});

test.run();
