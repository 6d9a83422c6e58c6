/** The limit maxFrame, and decryption in place. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CipherFactory } from '../../src/crypto/crypto.ts';
import { nobleCrypto } from '../../src/crypto/noble.ts';
import { readyPair, types } from '../world/pair.ts';

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

test.run();
