/** The kiosk of examples/, as people start it: a program, its files, and a person who types. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fingerprint } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { localhostCertificate } from 'hub-protocol-cli/certificate';
import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DERIVED, PASSWORD } from '../world/keys.ts';

const test = suite('the kiosk');
const KIOSK = fileURLToPath(new URL('../../examples/kiosk.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-kiosk-'));
const tls = await localhostCertificate();
const clients = new Map([
  ['kiosk-7', { psk: DERIVED }],
  ['kiosk-8', { psk: randomBytes(32) }],
]);
const keyOf = (staticKey: Uint8Array): string =>
  fingerprint(new Uint8Array(crypto.x25519.publicKey(staticKey)));
const [first, second] = [randomBytes(32), randomBytes(32)] as const;
const DISCLOSURE = 'You are talking to an AI.';
let hub: HubServer;
let port = 0;
let running: Kiosk[] = [];

async function start(staticKey: Uint8Array): Promise<void> {
  hub = await serveHub({ tls, port, nodeId: 'hub-1', staticKey, clients });
  port = Number(new URL(hub.url).port);
}

class Kiosk {
  readonly #child: ChildProcess;
  readonly ended: Promise<number | null>;
  #printed = '';
  /** All that was printed. */
  all = '';
  #heard = (): void => {};

  constructor(accessKey: string) {
    const path = (name: string): string => join(folder, name);
    const endpoints = { data_plane_endpoints: { wss: hub.url } };
    const issued = {
      ...{ access_key: accessKey, password: PASSWORD, site_id: 'lobby', ...endpoints },
      ai_disclosure: DISCLOSURE,
    };
    writeFileSync(path('identity.json'), JSON.stringify(issued));
    writeFileSync(path('ca.pem'), tls.ca);
    const files = ['identity.json', `${accessKey}.json`, 'ca.pem'].map(path);
    this.#child = spawn(process.execPath, ['--import', 'tsx', KIOSK, ...files]);
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

test('reports a wrong password, and shows the same fingerprint as the hub', async () => {
  const kiosk = new Kiosk('kiosk-8');
  await kiosk.prints('The hub’s answer does not fit the password');
});

test.run();
