/** WebCrypto as the keeper of the static key, in Chromium. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { runPage } from './run-page.ts';

test('a client connects with a non-extractable WebCrypto key, and reconnects with KKpsk0', async () => {
  assert.equal(await runPage(['page.ts']), [
    { pattern: 'XXpsk2', asked: 1 },
    { pattern: 'KKpsk0', asked: 2 },
  ]);
});

test.run();
