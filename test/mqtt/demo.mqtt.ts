/** Runs the demo over MQTT, whose broker is in memory. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { assertShows } from '../examples/assert-shows.ts';

const test = suite('npm run demo -- mqtt');

test('runs to its end', async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'examples/mqtt/demo.ts'],
    { cwd: new URL('../..', import.meta.url), timeout: 180_000 },
  );
  assert.is(stderr, '');
  assertShows(stdout, [
    /client → hub {2}HELLO/,
    /hub → client {2}HANDSHAKE, the offer/,
    /client +derives the pre-shared key/,
    /pin: stores the hub’s key/,
    /ready: XXpsk2, 25519_ChaChaPoly_SHA256/,
    /You said: What is on today\?/,
    /client → hub {2}17 transport messages {2}1 049 \d{3} B/,
    /hub → client {2}18 transport messages {2}1 049 \d{3} B/,
    /the same text/,
    /hub +is back/,
    /hub → client {2}HELLO/,
    /ready: KKpsk0/,
    /the request ended with/,
    /You said: And now\?/,
    /Noise message 1, KKpsk0/,
    /waits up to 2\.5 s/,
    /ended: timeout/,
    /Noise message 1, XXpsk2/,
    /over WebSocket/,
    /ready: KKpsk0/,
    /Everything went as it should\./,
  ]);
});

test.run();
