/** The client in a page of Chromium: WebSocket, worker, localStorage. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type HubClient, type HubServer, serveHub } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runPage } from './run-page.ts';
import type { Tab } from './tab.ts';

/** What goes wrong first in a page with the client. */
async function failureOf(
  scripts: string[],
  policy?: string,
): Promise<{ type: string; code?: string; advice: string }> {
  const clients = new Map([['kiosk-7', { psk: randomBytes(32) }]]);
  const hub = await serveHub({ nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  try {
    return (await runPage(scripts, `?hub=${encodeURIComponent(hub.url)}`, { policy })) as never;
  } finally {
    await hub.stop();
  }
}

const WORKER = '../../client/dist/derive-worker-in-browser.js';

test('a page whose policy does not allow the hub names the policy', async () => {
  const { type, code, advice } = await failureOf(['failing-page.js', WORKER], "default-src 'self'");
  assert.equal([type, code], ['close', 'not-reachable']);
  assert.match(
    advice,
    /^The Content-Security-Policy of this page forbids .* Add ws:\/\/localhost:\d+ to its connect-src\.$/,
  );
});

test('a page whose policy forbids something else does not name the policy', async () => {
  const policy = "default-src 'self'; connect-src 'self' ws://localhost:1";
  const { code, advice } = (await runPage(
    ['failing-page.js', WORKER],
    `?hub=${encodeURIComponent('ws://localhost:1')}`,
    { policy },
  )) as unknown as { code?: string; advice: string };
  assert.is(code, 'not-reachable');
  assert.not.match(advice, 'Policy');
});

test('a page whose hub is off names what may be wrong, since a browser hides it', async () => {
  const { type, code, advice } = (await runPage(
    ['failing-page.js', WORKER],
    `?hub=${encodeURIComponent('ws://localhost:1')}`,
  )) as unknown as { type: string; code?: string; advice: string };
  assert.equal([type, code], ['close', 'not-reachable']);
  for (const candidate of [/running/, /address/, /certificate/, /access key/])
    assert.match(advice, candidate);
});

test('a page names the worker that it cannot load', async () => {
  const { type, advice } = await failureOf(['failing-page.js']);
  assert.is(type, 'close'); // a person is asked after the third
  assert.match(advice, 'derive-worker-in-browser.js');
});

test('a page names the worker that its policy does not allow', async () => {
  const { type, advice } = await failureOf(['failing-page.js', WORKER], "worker-src 'none'");
  assert.is(type, 'close'); // a person is asked after the third
  assert.match(advice, 'derive-worker-in-browser.js');
});

test('a page derives the PSK in a worker, asks, and reconnects with the keyring that it stored', async () => {
  const nodeId = 'hub-1';
  const psk = derivePsk({ crypto, password: 'correct horse', nodeId });
  const clients = new Map([['kiosk-7', { psk }]]);
  const hub = await serveHub({ nodeId, staticKey: randomBytes(32), clients });
  try {
    const scripts = ['client-page.js', WORKER];
    const visits = (await runPage(scripts, `?hub=${encodeURIComponent(hub.url)}`)) as { progress: number }[];
    const answered = { ending: 'handled', text: 'You said: hello' };
    assert.equal(visits, [
      { progress: visits[0]?.progress, pattern: 'XXpsk2', ...answered },
      { progress: 0, pattern: 'KKpsk0', ...answered },
    ]);
    assert.ok(visits[0]!.progress > 50);
  } finally {
    await hub.stop();
  }
});

test('the program of the guide shows the notice and the answer', async () => {
  const guide = readFileSync(new URL('../../docs/guides/browser.md', import.meta.url), 'utf8');
  const [, program] = /^```js\n([\s\S]*?)^```$/m.exec(guide)!;
  const nodeId = 'hub-1';
  const clients = new Map([['kiosk-7', { psk: derivePsk({ crypto, password: 'correct horse', nodeId }) }]]);
  const hub = await serveHub({
    nodeId,
    staticKey: randomBytes(32),
    clients,
    answer: (text) => `${text} Friday.`,
  });
  const identity = {
    ...{ access_key: 'kiosk-7', password: 'correct horse', site_id: 'lobby' },
    ...{ data_plane_endpoints: { wss: hub.url }, ai_disclosure: { en: 'An AI answers.' } },
  };
  const served = `window.fetch = ((fetch) => async (url, options) =>
    url === 'identity.json' ? new Response(${JSON.stringify(JSON.stringify(identity))}) : fetch(url, options))(fetch);`;
  const reporting =
    "await fetch('/result', { method: 'POST', body: JSON.stringify(document.body.innerText) });";
  const folder = new URL('../../dist/guide-page/', import.meta.url); // inside the project, so that it finds the packages
  mkdirSync(folder, { recursive: true });
  try {
    const plain = program!.replace('connect({', 'connect({ allowPlaintext: true,'); // this hub has no TLS
    writeFileSync(new URL('page.js', folder), `${served}\n${plain}${reporting}`);
    const shown = await runPage([new URL('page.js', folder).href, WORKER]);
    assert.equal((shown as string).trim().split('\n'), ['An AI answers.', 'What day is it today? Friday.']);
  } finally {
    rmSync(folder, { recursive: true });
    await hub.stop();
  }
});

const PSK = derivePsk({ crypto, password: 'correct horse', nodeId: 'hub-1' });
/** How long the hub is away, in milliseconds. */
const AWAY = Number(process.env.AWAY ?? 1500);

interface Outside {
  /** Whether the network goes away, too, as far as the browser knows: what it emulates leaves WebSockets alone. */
  readonly isOffline?: boolean;
  /** The host of the page, which is another one than `localhost` for the browser. */
  readonly host?: string;
}

/** What the client's page posts that does something, at a hub that knows every access key, and goes away when it is asked to go. */
async function resultOfAct(act: string, { isOffline = false, host }: Outside = {}): Promise<unknown> {
  const known = new Map<string, HubClient>();
  const get = (key: string): HubClient => {
    const client = known.get(key) ?? { psk: PSK };
    known.set(key, client);
    return client;
  };
  const options = { nodeId: 'hub-1', staticKey: randomBytes(32), clients: { get } };
  let tab: Tab;
  const emulate = async (offline: boolean): Promise<void> => {
    const speed = { latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
    await tab.call('Network.emulateNetworkConditions', { offline, ...speed });
  };
  let back: Promise<HubServer> | undefined;
  const goAway = async (): Promise<HubServer> => {
    const port = Number(new URL(hub.url).port);
    if (isOffline) await emulate(true);
    await hub.stop();
    await setTimeout(AWAY);
    const next = await serveHub({ ...options, port });
    if (isOffline) await emulate(false);
    return next;
  };
  const answer = (utterance: string): string => {
    if (utterance === 'go') back ??= setTimeout(100).then(goAway);
    return utterance;
  };
  const hub = await serveHub({ ...options, answer });
  try {
    return await runPage(['client-page.js', WORKER], `?${act}&hub=${encodeURIComponent(hub.url)}`, {
      host,
      opened(one) {
        tab = one;
      },
    });
  } finally {
    await hub.stop();
    await (await back)?.stop();
  }
}

test('a page whose hub goes away has all its questions answered when the hub is back', async () => {
  const answers = Array.from({ length: 22 }, (_, i) => `You said: question ${i}`);
  assert.equal(await resultOfAct('away'), answers);
});

test('a page is connected within a second of the return of the network', async () => {
  const time = await resultOfAct('online', { isOffline: true });
  assert.ok((time as number) < 1000, `it took ${time} ms`);
});

test('a page that a person comes back to is the same, and answers the next question', async () => {
  assert.equal(await resultOfAct('back'), [true, 'again']);
});

test('a page keeps its keyring in IndexedDB, and reconnects with it', async () => {
  const [first, second, inLocalStorage] = (await resultOfAct('indexeddb')) as { pattern: string }[];
  assert.equal([first!.pattern, second!.pattern, inLocalStorage], ['XXpsk2', 'KKpsk0', 0]);
});

/** What a tab may be told that connects at the same time: the hub keeps the newest connection of an access key. */
const OF_TWO = ['keyring-replaced', 'dropped'];

/** How often two tabs meet a hub for the first time. */
const TABS = Number(process.env.TABS ?? 3);

for (const [what, host, codes, store = ''] of [
  ['take turns, and the second says so', 'localhost', ['ANOTHER_TAB']],
  ['of a host without TLS, which has no locks, may connect at the same time', 'kiosk.test', []],
  ['and share a keyring in IndexedDB, without locks', 'kiosk.test', [], '&stored'],
] as const) {
  test(`two tabs at first contact lose no key: those that ${what}`, async () => {
    const met = await resultOfAct(`tabs=${TABS}&stay=3000&psk=${PSK}${store}`, { host });
    assert.equal(
      (met as { codes: string[] }[]).map(({ codes, ...rest }) => ({
        codes: codes.filter((code) => !OF_TWO.includes(code)),
        ...rest,
      })),
      Array.from({ length: TABS }, () => ({ codes, pattern: 'KKpsk0' })),
    );
  });
}

test.run();
