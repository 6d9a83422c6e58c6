/** Over MQTT a hub refuses by not answering. One more attempt, with XXpsk2, finds out what the silence means. */
import { createKeyring, derivePsk, forgetPsks, type RemoteError } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { closeAll, NODE_ID, startHub } from './broker.ts';
import { ask, Kiosk } from './kiosk.ts';

const test = suite('silence over MQTT');
test.after.each(closeAll);
const DEADLINE = 1500;

/** A client and a hub that have pinned each other. */
async function pinned(): Promise<{ kiosk: Kiosk; hub: Awaited<ReturnType<typeof startHub>> }> {
  const kiosk = new Kiosk();
  const hub = await startHub([kiosk.name]);
  const client = await kiosk.connect();
  await ask(client, 'hello'); // after which the static key is not fresh any more
  await client.close();
  assert.is(kiosk.keyring.pins.length, 1);
  return { kiosk, hub };
}

test('a failed KKpsk0 is silence, which touches neither pin nor PSK', async () => {
  const { kiosk, hub } = await pinned();
  const { stored } = kiosk;
  hub.clients.get(kiosk.name)!.psk = randomBytes(32);
  const client = kiosk.dial({ wait: DEADLINE });
  const { reason, retry, error, pattern } = await client.ended;
  assert.equal([reason, retry, error.code, pattern], ['timeout', 'later', 'timeout', 'KKpsk0']);
  assert.equal(
    kiosk.seen.map(({ type }) => type),
    ['transmit', 'transmit', 'ended'],
  );
  assert.is(kiosk.stored, stored);
  const again = kiosk.dial({ wait: DEADLINE }); // and so on, at every attempt
  assert.is((await again.ended).reason, 'timeout');
  assert.is(kiosk.stored, stored);
});

test('a changed password: KKpsk0 meets silence, XXpsk2 reports it, and the pin stays', async () => {
  const { kiosk, hub } = await pinned();
  const { pins } = kiosk.keyring;
  const password = 'battery staple';
  hub.clients.get(kiosk.name)!.psk = derivePsk({ crypto: nodeCrypto, password, nodeId: NODE_ID });
  assert.is((await kiosk.refusal({ wait: DEADLINE })).reason, 'refused');
  assert.is(kiosk.events('psk-suspect').length, 1);
  assert.is(kiosk.keyring.psks.length, 1); // derived again for the next connection, and kept
  assert.equal(kiosk.keyring.pins, pins);
  assert.is(kiosk.derivations, 1);

  kiosk.password = password;
  kiosk.keyring = forgetPsks(kiosk.keyring); // required with a new password
  await kiosk.connect();
  assert.is(kiosk.events('ready')[0]!.pattern, 'KKpsk0');
  assert.is(kiosk.derivations, 2);
});

test('a hub with another key: KKpsk0 meets silence, and XXpsk2 refuses the hub by its pin', async () => {
  const { kiosk, hub } = await pinned();
  const { stored } = kiosk;
  await hub.stop();
  await startHub([], { clients: hub.clients });
  assert.is((await kiosk.refusal({ wait: DEADLINE })).reason, 'refused');
  assert.is(kiosk.stored, stored);
});

test('a lost message: KKpsk0 meets silence, and XXpsk2 succeeds', async () => {
  const { kiosk, hub } = await pinned();
  kiosk.keyring = forgetPsks(kiosk.keyring);
  const { derivations } = kiosk;
  const client = await kiosk.connect({
    wait: DEADLINE,
    derive: async () => {
      if (kiosk.derivations === derivations) {
        await hub.stop(); // in the middle of the first handshake
        await startHub([], { clients: hub.clients, staticKey: hub.staticKey });
      }
      return kiosk.derive();
    },
  });
  assert.equal(
    kiosk.events('ended').map(({ reason }) => reason),
    ['timeout'],
  );
  assert.is(kiosk.events('ready')[0]!.pattern, 'XXpsk2');
  assert.is(await ask(client, 'hello'), 'You said: hello');
});

test('a wrong password at first contact shows in message 2, without a word from the hub', async () => {
  const kiosk = new Kiosk();
  const hub = await startHub([kiosk.name]);
  hub.clients.get(kiosk.name)!.psk = randomBytes(32);
  assert.is((await kiosk.refusal()).reason, 'refused');
  assert.equal([kiosk.keyring.pins, kiosk.keyring.psks], [[], []]);
});

test('a static key other than the one that the hub has pinned: ready, then a greeting, again and again, and nobody is asked', async () => {
  const { kiosk } = await pinned();
  // The keyring was lost, or another program uses the same identity.
  kiosk.keyring = createKeyring({ accessKey: kiosk.name, staticKey: randomBytes(32) });
  const codes: unknown[] = [];
  await new Promise<void>((resolve) => {
    const client = kiosk.start({ wait: DEADLINE }, () => {});
    client.on('close', ({ error }) => codes.push((error as RemoteError).code) === 3 && resolve());
    client.on('ask', ({ error }) => codes.push(error));
  });
  // Pinned by the first connection, it begins the second with KKpsk0.
  assert.equal(codes, ['text-after-ready', 'timeout', 'text-after-ready']);
  assert.equal(
    kiosk.events('ready').map(({ pattern }) => pattern),
    ['XXpsk2', 'XXpsk2'],
  );
  assert.equal(
    kiosk.events('ended').map(({ reason, retry }) => [reason, retry]),
    [
      ['dropped', 'now'],
      ['timeout', 'later'],
      ['dropped', 'now'],
    ],
  );
});

test.run();
