/** The client in a page of Chromium: WebSocket, worker, localStorage. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runPage } from './run-page.ts';

/** What goes wrong first in a page with the client. */
async function failureOf(
  scripts: string[],
  policy?: string,
): Promise<{ type: string; code?: string; tell: string }> {
  const clients = new Map([['kiosk-7', { psk: randomBytes(32) }]]);
  const hub = await serveHub({ nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  try {
    return (await runPage(scripts, `?hub=${encodeURIComponent(hub.url)}`, policy)) as never;
  } finally {
    await hub.stop();
  }
}

const WORKER = '../../client/dist/derive-worker-in-browser.js';

test('a page whose policy does not allow the hub reports the end of the connection', async () => {
  const { type, code } = await failureOf(['failing-page.js', WORKER], "default-src 'self'");
  assert.equal([type, code], ['close', 'not-reachable']);
});

test('a page whose hub is off names what may be wrong, since a browser hides it', async () => {
  const { type, code, tell } = (await runPage(
    ['failing-page.js', WORKER],
    `?hub=${encodeURIComponent('ws://localhost:1')}`,
  )) as unknown as { type: string; code?: string; tell: string };
  assert.equal([type, code], ['close', 'not-reachable']);
  for (const candidate of [/running/, /address/, /certificate/, /access key/]) assert.match(tell, candidate);
});

test('a page names the worker that it cannot load', async () => {
  const { type, tell } = await failureOf(['failing-page.js']);
  assert.is(type, 'close'); // a person is asked after the third
  assert.match(tell, 'derive-worker-in-browser.js');
});

test('a page names the worker that its policy does not allow', async () => {
  const { type, tell } = await failureOf(['failing-page.js', WORKER], "worker-src 'none'");
  assert.is(type, 'close'); // a person is asked after the third
  assert.match(tell, 'derive-worker-in-browser.js');
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
    assert.match(shown as string, /^An AI answers\.\nWhat day is it today\? Friday\./);
  } finally {
    rmSync(folder, { recursive: true });
    await hub.stop();
  }
});

test('a page whose hub goes away has all its questions answered when the hub is back', async () => {
  const away = Number(process.env.AWAY ?? 1500);
  const options = {
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients: new Map([
      ['kiosk-7', { psk: derivePsk({ crypto, password: 'correct horse', nodeId: 'hub-1' }) }],
    ]),
  };
  let back: Promise<HubServer> | undefined;
  const goAway = async (): Promise<HubServer> => {
    const port = Number(new URL(hub.url).port);
    await hub.stop();
    await setTimeout(away);
    return serveHub({ ...options, port });
  };
  const answer = (utterance: string): string => {
    if (utterance === 'go') back ??= setTimeout(100).then(goAway);
    return utterance;
  };
  const hub = await serveHub({ ...options, answer });
  try {
    const page = `?away=1&hub=${encodeURIComponent(hub.url)}`;
    const answers = await runPage(['client-page.js', WORKER], page);
    assert.equal(
      answers,
      Array.from({ length: 22 }, (_, i) => `You said: question ${i}`),
    );
  } finally {
    await hub.stop();
    await (await back)?.stop();
  }
});

test.run();
