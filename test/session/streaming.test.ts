/** Messages that are sealed one transport message at a time. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { OutgoingMessage } from '../../src/parts.ts';
import { raisesLocal } from '../raises.ts';
import { type Pair, readyPair } from './pair.ts';

const LARGE = new Uint8Array(130_001).map((_, i) => i % 251);

/** Sends each transport message as soon as it is sealed, and returns what the hub delivers. */
function deliver(pair: Pair, message: OutgoingMessage): string[] {
  const seen: string[] = [];
  for (let next = message.next(); next !== undefined; next = message.next()) {
    for (const event of pair.hub.receive(next)) {
      if (event.type !== 'message') seen.push(event.type);
      else seen.push(event.kind === 'json' ? event.text : `${event.bytes.length} bytes`);
    }
  }
  return seen;
}

test('a binary message is sealed one transport message at a time, and arrives whole', () => {
  const pair = readyPair();
  const message = pair.client.streamBinary(LARGE);
  assert.is(message.count, 3);
  assert.equal(deliver(pair, message), ['130001 bytes']);
  assert.is(message.next(), undefined);
});

test('JSON is streamed from a value and from a string', () => {
  const pair = readyPair();
  assert.equal(deliver(pair, pair.client.streamJson({ say: 'é' })), ['{"say":"é"}']);
  assert.equal(deliver(pair, pair.client.streamJson('[1.0]')), ['[1.0]']);
  raisesLocal(() => pair.client.streamJson('no JSON'), 'not-json');
  raisesLocal(() => pair.client.streamBinary('bytes' as unknown as Uint8Array), 'bad-argument');
  assert.equal(deliver(pair, pair.client.streamJson('1')), ['1']);
});

test('nothing else is sent until a streamed message has been sealed to its end', () => {
  const pair = readyPair();
  const message = pair.client.streamBinary(LARGE);
  const first = message.next()!;
  for (const send of ['sendJson', 'streamJson'] as const) {
    raisesLocal(() => pair.client[send]({}), 'wrong-state');
  }
  for (const send of ['sendBinary', 'streamBinary'] as const) {
    raisesLocal(() => pair.client[send](new Uint8Array(1)), 'wrong-state');
  }
  assert.equal(pair.hub.receive(first), []);
  assert.equal(deliver(pair, message), ['130001 bytes']);
  assert.equal(deliver(pair, pair.client.streamJson('2')), ['2']);
});

test('nothing else is sent even before the first transport message of a streamed message is sealed', () => {
  const pair = readyPair();
  const message = pair.client.streamBinary(LARGE);
  raisesLocal(() => pair.client.streamBinary(LARGE), 'wrong-state');
  assert.equal(deliver(pair, message), ['130001 bytes']);
});

test('a session that has ended seals nothing more of a streamed message', () => {
  const pair = readyPair();
  const message = pair.client.streamBinary(LARGE);
  message.next();
  pair.client.closed();
  raisesLocal(() => message.next(), 'session-over');
});

test('a cipher that fails in the middle of a streamed message ends the session', () => {
  let chunks = 0;
  const ChaChaPoly: typeof nodeCrypto.ciphers.ChaChaPoly = (key) => {
    const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
    return {
      open: cipher.open,
      seal(nonce, associatedData, plaintext) {
        if (plaintext.length > 60_000 && ++chunks === 2) throw new RangeError('out of memory');
        return cipher.seal(nonce, associatedData, plaintext);
      },
    };
  };
  const pair = readyPair({ client: { crypto: { ...nodeCrypto, ciphers: { ChaChaPoly } } } });
  const message = pair.client.streamBinary(LARGE);
  message.next();
  raisesLocal(() => message.next(), 'crypto-failed');
  assert.is(pair.client.state, 'failed');
  raisesLocal(() => message.next(), 'session-over');
});

test.run();
