/** Messages at the edges of chunks, a lower cap, and decryption in place. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CipherFactory } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { bytesOf, HELLO, readyPair, types } from '../world/pair.ts';

test('messages of every size at the edges of chunks arrive whole, both ways, as JSON and binary', () => {
  const pair = readyPair();
  const ways = [
    [pair.client, (messages: Uint8Array[]) => pair.toHub(messages)],
    [pair.hub, (messages: Uint8Array[]) => pair.toClient(messages)],
  ] as const;
  for (const size of [0, 1, 2, 3, 64999, 65000, 65001, 129999, 130000, 130001, 200000]) {
    const bytes = new Uint8Array(size).map((_, i) => i);
    // A string of `size` bytes that is JSON: a number, or characters of two bytes and one.
    const text =
      size < 3 ? '1'.repeat(Math.max(1, size)) : `"${'é'.repeat((size - 2) >> 1)}${'x'.repeat(size & 1)}"`;
    const frames = Math.max(1, Math.ceil(size / 65000));
    for (const [sender, receive] of ways) {
      const binary = sender.sendBinary(bytes);
      assert.is(binary.length, frames);
      assert.is(Buffer.concat(binary).length, size + frames * 17); // a marker and a tag each
      assert.equal(receive(binary) as unknown, [{ type: 'message', kind: 'binary', bytes }]);
      const json = sender.sendJson(text);
      assert.is(json.length, frames);
      assert.equal(receive(json) as unknown, [{ type: 'message', kind: 'json', text }]);
    }
  }
});

test('a message that is longer than maxMessage is dropped, and the session goes on', () => {
  const pair = readyPair({ client: { maxMessage: 1000 } });
  const dropped = { type: 'dropped', kind: 'binary', bytes: 1001, reason: 'too-large' };
  assert.equal(pair.toClient(pair.hub.sendBinary(new Uint8Array(1001))), [dropped]);
  assert.equal(types(pair.toClient(pair.hub.sendBinary(new Uint8Array(1000)))), ['message']);
});

test('a transport message that is longer than maxFrame ends the session before anything is decrypted', () => {
  let opened = 0;
  const ChaChaPoly: CipherFactory = (key) => {
    const cipher = nobleCrypto.ciphers.ChaChaPoly!(key);
    return {
      seal: (...all) => cipher.seal(...all),
      open(...all) {
        opened++;
        return cipher.open(...all);
      },
    };
  };
  const crypto = { ...nobleCrypto, ciphers: { ChaChaPoly } };
  const pair = readyPair({ client: { crypto, maxFrame: 1000 } });
  assert.equal(types(pair.toClient(pair.hub.sendBinary(new Uint8Array(983)))), ['message']);
  const before = opened;
  const [close] = pair.toClient(pair.hub.sendBinary(new Uint8Array(984)));
  assert.ok(close?.type === 'close' && close.code === 1002 && close.error.code === 'frame-too-long');
  assert.is(opened, before);
  assert.is(pair.client.state, 'failed');
  const ended = pair.client.closed(1002).find((event) => event.type === 'ended');
  assert.equal([ended?.reason, ended?.retry], ['dropped', 'now']);
});

test('a hub bounds what it opens, too', () => {
  const pair = readyPair({ hub: { maxFrame: 1000 } });
  const [close] = pair.toHub(pair.client.sendBinary(new Uint8Array(984)));
  assert.ok(close?.type === 'close' && close.error.code === 'frame-too-long');
});

test('without maxFrame, and with a higher one than Noise allows, a longer message is message-too-long', () => {
  for (const client of [{}, { maxFrame: 100_000 }]) {
    const [close] = readyPair({ client }).client.receive(new Uint8Array(65536));
    assert.ok(close?.type === 'close' && close.error.code === 'message-too-long');
  }
});

test('with inPlace messages are decrypted in the arrays that they arrive in', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto, inPlace: true } });
  const [sealed] = pair.hub.sendBinary(new Uint8Array([1, 2, 3]));
  const [event] = pair.client.receive(sealed!);
  assert.ok(event?.type === 'message' && event.kind === 'binary' && event.bytes.buffer === sealed!.buffer);
  assert.equal([...event.bytes], [1, 2, 3]);
});

test('without inPlace those arrays stay as they are', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto } });
  const [sealed] = pair.hub.sendBinary(new Uint8Array(100));
  const before = new Uint8Array(sealed!);
  assert.equal(types(pair.client.receive(sealed!)), ['message']);
  assert.equal(sealed, before);
});

test('a message of many chunks is reassembled also with inPlace', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto, inPlace: true } });
  const bytes = new Uint8Array(150_000).map((_, i) => i % 251);
  assert.equal(pair.toClient(pair.hub.sendBinary(bytes)), [{ type: 'message', kind: 'binary', bytes }]);
});

test('cleartext in bytes is recognized also with inPlace', () => {
  const pair = readyPair({ client: { crypto: nobleCrypto, inPlace: true } });
  const [close] = pair.client.receive(bytesOf(HELLO));
  assert.is(close?.type === 'close' && close.error.code, 'text-after-ready');
});

test.run();
