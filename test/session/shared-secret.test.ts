/** Static keys outside of JavaScript: key pairs with `sharedSecret`, and keys whose shared secrets `waiting` asks for. */
import { createPrivateKey, createPublicKey, diffieHellman } from 'node:crypto';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bytesToHex } from '../../src/bytes.ts';
import { randomBytes } from '../../src/crypto/node.ts';
import { ClientSession } from '../../src/session/client-session.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_STATIC } from '../world/keys.ts';
import {
  clientOptions,
  codeOf,
  envelope,
  find,
  KK,
  LATER,
  newClient,
  newHub,
  outcomeOf,
  Pair,
  pairWithClientIn,
  readyPair,
  sharedSecretOf,
  types,
} from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';
import { bytesIn } from './reachable.ts';

/** A key that only Node's OpenSSL sees. */
function keyObject(privateKey: Uint8Array): {
  publicKey: Uint8Array;
  sharedSecret(publicKey: Uint8Array): Uint8Array;
} {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), privateKey]);
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' });
  return {
    publicKey: new Uint8Array(spki.subarray(-32)),
    sharedSecret(publicKey) {
      const der = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), publicKey]);
      const remote = createPublicKey({ key: der, format: 'der', type: 'spki' });
      return new Uint8Array(diffieHellman({ privateKey: key, publicKey: remote }));
    },
  };
}

test('a client and a hub with keys in OpenSSL behave like peers with keys in JavaScript', () => {
  for (const options of [{}, KK]) {
    const { clientEvents, hubEvents } = readyPair({
      client: { ...(options as typeof KK).client, staticKey: keyObject(CLIENT_STATIC) },
      hub: { ...(options as typeof KK).hub, staticKey: keyObject(HUB_STATIC) },
    });
    assert.equal(find(clientEvents, 'ready').hubKey, HUB_KEY);
    assert.equal(find(hubEvents, 'ready').clientKey, CLIENT_KEY);
  }
});

test('under XXpsk2 an asynchronous key is asked once, for message 3', () => {
  const { clientEvents } = readyPair({ client: LATER });
  assert.equal(types(clientEvents), ['transmit', 'pin', 'waiting', 'transmit', 'transmit', 'ready']);
  assert.is(find(clientEvents, 'waiting').publicKey?.length, 32);
});

test('under KKpsk0 an asynchronous key is asked for message 1 and for message 2', () => {
  const { clientEvents } = readyPair({ ...KK, client: { ...KK.client, ...LATER } });
  assert.equal(types(clientEvents), ['waiting', 'transmit', 'waiting', 'transmit', 'ready']);
  const [first, , second] = clientEvents as { publicKey: Uint8Array }[];
  assert.equal(first!.publicKey, HUB_KEY);
  assert.not.equal(second!.publicKey, HUB_KEY); // the ephemeral key of the hub
});

test('a session with an asynchronous key becomes ready and exchanges messages like any other', () => {
  for (const options of [{}, KK]) {
    const pair = readyPair({ ...options, client: { ...(options as typeof KK).client, ...LATER } });
    assert.equal(find(pair.hubEvents, 'ready').clientKey, CLIENT_KEY);
    assert.equal(find(pair.clientEvents, 'ready').handshakeHash, find(pair.hubEvents, 'ready').handshakeHash);
    assert.equal(types(pair.toHub(pair.client.sendJson({}))), ['message']);
    assert.equal(types(pair.toClient(pair.hub.sendJson({}))), ['message']);
  }
});

test('the encoding of message 2 and the HELLO are kept while the session waits for a shared secret', () => {
  const hello = { session: { session_id: 'mine' }, site_id: 'cellar' };
  const { clientEvents, hubEvents } = readyPair({ client: { ...LATER, hello } });
  assert.is(find(clientEvents, 'ready').sessionId, 'mine');
  assert.equal(find(hubEvents, 'hello').payload, { pubkey: null, ...hello });
});

test('the caller may reuse the array of a message while the session waits', () => {
  const pair = pairWithClientIn('opening-message-2');
  const last = pair.clientEvents.at(-1) as { publicKey: Uint8Array };
  const secret = sharedSecretOf(last.publicKey);
  last.publicKey.fill(0);
  pair.advance('client', pair.client.resume(secret)).release();
  assert.is(pair.client.state, 'ready');
});

test('a shared secret that is provided twice, or after the end, does nothing', () => {
  const pair = pairWithClientIn('sealing-message-3');
  const { publicKey } = find(pair.clientEvents, 'waiting');
  const secret = sharedSecretOf(publicKey!);
  assert.equal(types(pair.client.resume(secret)), ['transmit', 'transmit', 'ready']);
  assert.equal(pair.client.resume(secret), []);
  pair.client.closed(1006);
  assert.equal(pair.client.resume(secret), []);
  const failed = newClient();
  failed.receive('nonsense');
  assert.equal(failed.resume(secret), []);
  const waiting = pairWithClientIn('sealing-message-3');
  waiting.client.closed(1006);
  assert.equal(waiting.client.resume(secret), []);
});

test('a shared secret that is provided again before the next question does nothing', () => {
  const pair = pairWithClientIn('sealing-message-1');
  const first = sharedSecretOf(HUB_KEY);
  pair.advance('client', pair.client.resume(first));
  assert.equal(pair.client.resume(first), []);
  assert.is(pair.client.state, 'awaiting-message-2');
});

test('two equal shared secrets answer two questions: a hub may repeat its static key as its ephemeral one', () => {
  const pair = pairWithClientIn('sealing-message-1');
  const first = sharedSecretOf(HUB_KEY);
  pair.advance('client', pair.client.resume(first));
  const msg = bytesToHex(HUB_KEY) + '00'.repeat(18);
  const [question] = pair.client.receive(envelope('shake', { noise: { msg } }));
  assert.equal((question as { publicKey: Uint8Array }).publicKey, HUB_KEY);
  assert.is(codeOf(pair.client.resume(first)), 'kk-failed');
});

test('the session keeps no copy of a shared secret', () => {
  const { client } = pairWithClientIn('sealing-message-1');
  const secret = sharedSecretOf(HUB_KEY);
  client.resume(secret);
  assert.equal(
    bytesIn(client).filter((bytes) => Buffer.compare(bytes, secret) === 0),
    [],
  );
});

test('a shared secret in a state that does not wait for one changes nothing', () => {
  for (const state of ['awaiting-hello', 'awaiting-offer', 'awaiting-psk', 'awaiting-message-2'] as const) {
    const pair = pairWithClientIn(state);
    assert.equal(pair.client.resume(new Uint8Array(32)), []);
    assert.is(pair.release().client.state, 'ready');
  }
});

test('a shared secret of the wrong type or length is refused, and can be provided again', () => {
  const states = ['sealing-message-1', 'opening-message-2', 'sealing-message-3'] as const;
  for (const state of states) {
    const pair = pairWithClientIn(state);
    for (const length of [0, 31, 33]) {
      raisesLocal(() => pair.client.resume(new Uint8Array(length)), 'bad-length');
    }
    for (const secret of [null, undefined, 'secret', [1], {}]) {
      raisesLocal(() => pair.client.resume(secret as never), 'bad-argument');
    }
    assert.is(pair.release().client.state, 'ready');
  }
});

test('a shared secret of another key fails at the side that can detect it', () => {
  const wrong = randomBytes(32);
  const first = pairWithClientIn('sealing-message-1');
  first.advance('client', first.client.resume(wrong)).release();
  assert.is(find(first.hubEvents, 'close').error.code, 'kk-failed');
  const second = pairWithClientIn('opening-message-2');
  second.advance('client', second.client.resume(wrong));
  assert.is(find(second.clientEvents, 'close').error.code, 'kk-failed');
  const third = pairWithClientIn('sealing-message-3');
  third.advance('client', third.client.resume(wrong)).release();
  assert.is(find(third.hubEvents, 'close').error.code, 'payload-not-authentic');
});

test('a shared secret of zeros is refused', () => {
  for (const state of ['sealing-message-1', 'opening-message-2', 'sealing-message-3'] as const) {
    const { client } = pairWithClientIn(state);
    const { error } = find(client.resume(new Uint8Array(32)), 'close');
    assert.is(error.code, 'low-order-key');
    assert.is(error.name, state === 'sealing-message-1' ? 'LocalError' : 'RemoteError'); // whose key it was
  }
});

test('does not wipe the caller’s array with the shared secret', () => {
  const pair = pairWithClientIn('sealing-message-1');
  const secret = sharedSecretOf(HUB_KEY);
  pair.client.resume(secret);
  assert.equal(secret, sharedSecretOf(HUB_KEY));
});

test('a connection that ends while the session waits for a shared secret does not change the pins', () => {
  for (const state of ['sealing-message-1', 'opening-message-2', 'sealing-message-3'] as const) {
    const { client } = pairWithClientIn(state);
    const events = client.closed(1006);
    assert.equal(types(events), ['ended']);
    assert.equal(outcomeOf(events), ['ended', 'dropped', 'now', 'dropped']);
  }
});

test('a bad message 2 fails before the session asks for a shared secret, if possible', () => {
  const pair = new Pair({
    ...KK,
    client: { ...KK.client, ...LATER },
    wire: (_, data, count) => [count === 4 ? (data as string).replace(/"msg":"[^"]*"/, '"msg":"00"') : data],
  }).run();
  assert.is(types(pair.clientEvents).filter((type) => type === 'waiting').length, 1);
  assert.is(find(pair.clientEvents, 'close').error.code, 'message-too-short');
});

test('a hub needs a synchronous static key', () => {
  raisesLocal(() => newHub({ staticKey: { publicKey: HUB_KEY } }), 'bad-argument');
});

test('the constructor refuses an invalid static key', () => {
  const keys: unknown[] = [
    undefined,
    null,
    'secret',
    {},
    [],
    { publicKey: 'key' },
    { publicKey: CLIENT_KEY, sharedSecret: 'secret' },
    { sharedSecret: sharedSecretOf },
    new Uint8Array(32),
    { publicKey: new Uint8Array(32) },
  ];
  for (const staticKey of keys) {
    const keyring = { staticKey: staticKey as never };
    raisesLocal(() => new ClientSession({ ...clientOptions(), keyring }), 'bad-argument');
    raisesLocal(() => newHub({ staticKey: staticKey as never }), 'bad-argument');
  }
  for (const length of [0, 31, 33]) {
    raisesLocal(() => newClient({ staticKey: new Uint8Array(length) }), 'bad-length');
    raisesLocal(() => newClient({ staticKey: { publicKey: new Uint8Array(length) } }), 'bad-length');
  }
});

test.run();
