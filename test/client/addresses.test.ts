/** Addresses that the platform refuses. The errors of platforms quote the URL, which contains the access key. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { LocalError } from 'hub-protocol';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { ACCESS_KEY, HOSTS } from '../world/hosts.ts';
import { endWorlds, newWorld, until } from './world.ts';

const PROGRAM = fileURLToPath(new URL('refused-hosts-program.ts', import.meta.url));

test.after.each(endWorlds);

test(`${HOSTS} hosts that the platform refuses: a typed error by every entry, and no access key in the output`, async () => {
  const output = await new Promise<{ out: string; err: string }>((resolve) => {
    const options = { maxBuffer: 2 ** 28 };
    execFile(process.execPath, ['--import', 'tsx', PROGRAM, String(HOSTS)], options, (_, out, err) =>
      resolve({ out, err }),
    );
  });
  const lines = output.out.trim().split('\n');
  assert.equal(
    lines.map((line) => JSON.parse(line)),
    ['websocket', 'https', 'mqtt', 'browser', 'react-native', 'a lax platform'].map((name) => ({
      name,
      counts: { 'bad-endpoint': HOSTS },
    })),
  );
  const everything = output.out + output.err;
  for (const secret of [ACCESS_KEY, ...inBase64(ACCESS_KEY)]) assert.not.match(everything, secret);
});

/** The parts of a text's base64 that do not depend on the bytes before and after it. */
function inBase64(text: string): string[] {
  return [0, 1, 2].map((shift) =>
    Buffer.from(' '.repeat(shift) + text)
      .toString('base64')
      .slice(4, -4),
  );
}

test('a platform that throws when it opens a connection is tried three times, and again after a person was asked', async () => {
  const world = newWorld();
  let isBroken = true;
  const open = world.platform.open;
  const client = world.start(
    {},
    {
      open(connection) {
        if (isBroken)
          throw Object.assign(new TypeError('Invalid URL: wss://secret'), { code: 'ERR_INVALID_URL' });
        return open(connection);
      },
    },
  );
  const error = await client.ask('hello').catch((reason) => reason);
  assert.instance(error, LocalError);
  assert.is(error.code, 'bad-endpoint');
  assert.match(error.message, 'ERR_INVALID_URL');
  assert.not.match(`${error.stack} ${error.cause}`, 'secret');
  await until(() => world.types.includes('ask'));
  assert.equal(world.types, ['close', 'reconnect', 'close', 'reconnect', 'close', 'ask']);
  isBroken = false;
  client.resume();
  assert.is((await client.ask('hello')).ending, 'handled');
});

test('the output never shows what a platform throws', async () => {
  for (const thrown of [
    ...[undefined, null, 'secret', { code: 7 }, { code: 'WSS://secret' }],
    ...[new Error('secret'), new SyntaxError('secret'), new DOMException('secret')],
  ]) {
    const world = newWorld();
    const client = world.start(
      {},
      {
        open: () => {
          throw thrown;
        },
      },
    );
    const error = await client.ask('hello').catch((reason) => reason);
    assert.is(error.code, 'bad-endpoint');
    assert.not.match(error.message, 'secret');
    assert.match(error.message, 'identity’s address: check the address');
  }
});

test.run();
