/** Runs the demo over MQTT, whose broker is in memory, and the program of the guide. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stepsOf } from '../docs/follow.ts';
import { assertShows } from '../examples/assert-shows.ts';
import { BASE, CA, closeAll, PASSWORD, PORT, startHub } from './broker.ts';
import { Kiosk } from './kiosk.ts';

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
    /hub → client {2}17 transport messages {2}1 049 \d{3} B/,
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

test('the program of the guide asks over a broker with TLS', async () => {
  const guide = readFileSync(new URL('../../docs/guides/over-mqtt.md', import.meta.url), 'utf8');
  const issued = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(guide)![1]!);
  const { name, account, topics } = new Kiosk();
  const mqtt = { endpoint: `mqtts://localhost:${PORT}`, ...account, topic_prefix: topics };
  assert.equal([Object.keys(issued.mqtt).sort(), topics], [Object.keys(mqtt).sort(), `${BASE}/${name}`]);
  await startHub([name], { answer: () => 'Friday' });
  const cwd = fileURLToPath(new URL('../../dist/guide-mqtt/', import.meta.url)); // inside the project, so that it finds the packages
  mkdirSync(cwd, { recursive: true, mode: 0o700 });
  try {
    for (const step of stepsOf('docs/guides/over-mqtt.md'))
      if (step.do === 'append') writeFileSync(`${cwd}${step.file}`, step.code);
    writeFileSync(`${cwd}ca.pem`, CA);
    writeFileSync(
      `${cwd}identity.json`,
      JSON.stringify({ ...issued, access_key: name, password: PASSWORD, mqtt }),
    );
    const { stdout } = await promisify(execFile)(process.execPath, ['ask.mjs'], { cwd, timeout: 60_000 });
    assert.match(stdout, /^Friday/m);
  } finally {
    rmSync(cwd, { recursive: true });
    await closeAll();
  }
});

test.run();
