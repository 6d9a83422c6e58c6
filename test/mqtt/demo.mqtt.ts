/** Runs the demo over MQTT, whose broker is in memory. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('npm run demo:mqtt');

test('runs to its end', async () => {
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', 'examples/mqtt/demo.ts'],
    { cwd: new URL('../..', import.meta.url), timeout: 180_000 },
  );
  assert.is(stderr, '');
  const steps = [
    /→ HELLO/,
    /← HANDSHAKE, the offer/,
    /● argon2id/,
    /pin: stores the hub’s key/,
    /ready: XXpsk2, 25519_ChaChaPoly_SHA256/,
    /You said: What is on today\?/,
    /→ 17 transport messages {2}1 048 865 B/,
    /← 17 transport messages {2}1 048 865 B/,
    /the same bytes/,
    /ready: KKpsk0/,
    /○ the client sends a request on the old session/,
    /← HELLO/,
    /text-after-ready/,
    /ready: KKpsk0/,
    /will wait 2\.5 s/,
    /Noise message 1, KKpsk0/,
    /ended: timeout/,
    /Noise message 1, XXpsk2/,
    /psk-differs/,
    /over WebSocket/,
    /ready: KKpsk0/,
    /Everything went as it should\./,
  ];
  let rest = stdout;
  for (const step of steps) {
    const at = rest.search(step);
    assert.ok(at >= 0, `${step} is missing or out of order`);
    rest = rest.slice(at + 1);
  }
  assert.not.match(stdout, 'correct horse');
  assert.not.match(stdout, '\x1b'); // no escape codes if the output is not a terminal
});

test.run();
