/** Data from the network never makes a session throw: it returns events, and their errors are RemoteErrors. */
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type ClientSession, type HubSession, Reassembler, RemoteError, splitMessage } from '../src/index.ts';
import { HELLO, KK, newClient, newHub, OFFER, Pair, readyPair } from './session/pair.ts';

const RUNS = { numRuns: Number(process.env.FUZZ_RUNS ?? 100) };

/** Sessions in every state that receives. */
function receivers(): (ClientSession | HubSession)[] {
  const [hello, offer, psk, message2] = [
    newClient(),
    newClient(),
    newClient({ psk: () => undefined }),
    newClient(KK.client),
  ];
  for (const client of [offer, psk, message2]) client.receive(HELLO);
  for (const client of [psk, message2]) client.receive(OFFER);
  const message1 = newHub();
  message1.start();
  const message3 = new Pair({ wire: (_, data, count) => (count < 4 ? [data] : []) }).run().hub;
  const ready = readyPair();
  return [hello!, offer!, psk!, message2!, message1, message3, ready.client, ready.hub];
}

/** Feeds a session, and checks what the first line of this file says. */
function feed(session: ClientSession | HubSession, data: string | Uint8Array): void {
  for (const event of session.receive(data)) {
    if (event.type === 'close') assert.instance(event.error, RemoteError);
  }
  if (session.state === 'failed') assert.equal(session.receive(data), []);
}

test('survives any string, in any state', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.json()), (text) => {
      for (const session of receivers()) feed(session, text);
    }),
    RUNS,
  );
});

test('survives any bytes, in any state', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      for (const session of receivers()) feed(session, bytes);
    }),
    RUNS,
  );
});

test('survives any payload in a valid envelope, in any state', () => {
  const hexText = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString('hex'));
  const noise = fc.record(
    {
      patterns: fc.oneof(fc.constant(['XXpsk2', 'KKpsk0']), fc.jsonValue()),
      suites: fc.oneof(fc.constant(['25519_ChaChaPoly_SHA256']), fc.jsonValue()),
      pattern: fc.oneof(fc.constantFrom('XXpsk2', 'KKpsk0'), fc.jsonValue()),
      suite: fc.oneof(fc.constant('25519_ChaChaPoly_SHA256'), fc.jsonValue()),
      msg: fc.oneof(hexText, fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const payload = fc.record(
    {
      node_id: fc.oneof(fc.string(), fc.jsonValue()),
      max_protocol_version: fc.oneof(fc.constant(3), fc.jsonValue()),
      noise: fc.oneof(noise, fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const type = fc.constantFrom('hello', 'shake', 'handshake', 'bus');
  fc.assert(
    fc.property(fc.array(fc.record({ msg_type: type, payload }), { maxLength: 4 }), (envelopes) => {
      for (const session of receivers())
        for (const envelope of envelopes) feed(session, JSON.stringify(envelope));
    }),
    RUNS,
  );
});

test('survives any single flipped bit of a handshake, on both sides', () => {
  fc.assert(
    fc.property(
      fc.constantFrom({}, KK),
      fc.integer({ min: 1, max: 6 }),
      fc.nat(),
      fc.nat(7),
      (options, number, at, bit) => {
        const pair = new Pair({
          ...options,
          wire: (_, data, count) => {
            if (count !== number) return [data];
            const bytes = Buffer.from(data as string);
            bytes[at % bytes.length]! ^= 1 << bit;
            return [typeof data === 'string' ? bytes.toString('latin1') : new Uint8Array(bytes)];
          },
        }).run();
        for (const event of [...pair.clientEvents, ...pair.hubEvents]) {
          if (event.type === 'close') assert.instance(event.error, RemoteError);
        }
      },
    ),
    RUNS,
  );
});

test('reassembles any sequence of frames to messages, to drops, or to a RemoteError for good', () => {
  const frame = fc.tuple(fc.integer({ min: 0, max: 7 }), fc.uint8Array({ maxLength: 5 }));
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 12 }), (frames) => {
      const reassembler = new Reassembler();
      let failure: unknown;
      for (const [marker, payload] of frames) {
        try {
          reassembler.push(new Uint8Array([marker, ...payload]));
          assert.is(failure, undefined);
        } catch (error) {
          assert.instance(error, RemoteError);
          assert.is(failure ?? error, error);
          failure = error;
        }
      }
    }),
    RUNS,
  );
});

test('reassembles any message that was split', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300_000 }), fc.nat(255), (length, seed) => {
      const bytes = new Uint8Array(length).map((_, i) => (i * 31 + seed) & 255);
      const reassembler = new Reassembler();
      const messages = splitMessage('binary', bytes).map((frame) => reassembler.push(frame));
      assert.equal(messages.pop(), { type: 'message', kind: 'binary', bytes });
      assert.ok(messages.every((message) => message === undefined));
    }),
    { numRuns: 20 },
  );
});

test.run();
