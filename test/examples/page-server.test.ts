/** The server of examples/page. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { servePage } from '../../examples/page/server.ts';
import { ODD_TARGETS, requested } from '../world/odd-targets.ts';

test('the server of the page outlives a request of any path', async () => {
  const page = await servePage(0);
  try {
    for (const path of [...ODD_TARGETS, '/hub//', '/%', '/%00', '/..%2f', '/../server.ts']) {
      const status = await requested(
        new URL(page.url).port,
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      );
      assert.match(status, /^HTTP\/1.1 [24]0/, path);
    }
  } finally {
    await page.stop();
  }
});

test.run();
