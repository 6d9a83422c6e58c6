/** The client in a page of Chromium: WebSocket, worker, localStorage. */
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { startHub } from '../../examples/hub.ts';
import { runPage } from './run-page.ts';

test('a page derives the PSK in a worker, asks, and reconnects with the keyring that it stored', async () => {
  const nodeId = 'hub-1';
  const psk = derivePsk({ crypto, password: 'correct horse', nodeId });
  const clients = new Map([['kiosk-7', { psk }]]);
  const hub = await startHub({ nodeId, staticKey: randomBytes(32), clients });
  try {
    const scripts = ['client-page.js', '../../client/dist/derive-worker-in-browser.js'];
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

test.run();
