/** What live mode makes of the messages that come back: their content, their kind, and how they are cut. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Connection } from '../../judge/src/live/connection.ts';
import { Talk } from '../../judge/src/live/talk.ts';
import { Failure } from '../../judge/src/verdict.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { Transport } from '../../src/noise/transport.ts';
import { HandshakeState, Reassembler, splitMessage } from '../../src/parts.ts';

const PATIENCE = { message: 50, long: 50 };

/** Both ends of a session. */
function transports(): [Transport, Transport] {
  const common = {
    crypto: nodeCrypto,
    pattern: 'XXpsk2',
    suite: '25519_ChaChaPoly_SHA256',
    prologue: new Uint8Array(0),
    psk: new Uint8Array(32),
    randomBytes,
  } as const;
  const client = new HandshakeState({ ...common, role: 'initiator', staticKey: randomBytes(32) });
  const hub = new HandshakeState({ ...common, role: 'responder', staticKey: randomBytes(32) });
  hub.readMessage(client.writeMessage());
  client.readMessage(hub.writeMessage());
  hub.readMessage(client.writeMessage());
  return [client.split(), hub.split()];
}

type Kind = 'json' | 'binary';
type Answer = (kind: Kind, bytes: Uint8Array) => readonly (Uint8Array | string)[];

/** The causes that are named of what a peer sends back; frames in bytes are sealed, and strings are sent as they are. */
async function causesOf(answer: Answer, kind: Kind = 'binary', length = 70_000): Promise<string> {
  const [own, peer] = transports();
  const reassembler = new Reassembler();
  const connection = new Connection(
    {
      send(data) {
        const message = reassembler.push(peer.decrypt(data as Uint8Array));
        if (message?.type !== 'message') return;
        const bytes = message.kind === 'json' ? Buffer.from(message.text) : message.bytes;
        for (const each of answer(message.kind, bytes)) {
          connection.received(typeof each === 'string' ? each : peer.encrypt(each));
        }
      },
      close() {},
    },
    PATIENCE,
  );
  try {
    await new Talk(connection, own, 'XXpsk2').expectEcho(kind, length);
    return 'passed';
  } catch (error) {
    assert.instance(error, Failure);
    return (error as Failure).causes.join();
  }
}

test('accepts the message that was sent', async () => {
  assert.is(await causesOf(splitMessage), 'passed');
  assert.is(await causesOf(splitMessage, 'json'), 'passed');
});

test('reports different content, even of the same length', async () => {
  const zeros: Answer = (kind, bytes) => splitMessage(kind, new Uint8Array(bytes.length));
  assert.match(await causesOf(zeros), /^content: .* another content/);
  const other: Answer = (kind) => splitMessage(kind, Buffer.from('"b"'));
  assert.match(await causesOf(other, 'json'), /^content: .* another content/);
});

test('reports a truncated echo', async () => {
  assert.match(
    await causesOf((kind, bytes) => splitMessage(kind, bytes.subarray(0, 65000))),
    /^content: only the start/,
  );
});

test('reports the wrong kind of message', async () => {
  assert.match(
    await causesOf((_kind, bytes) => splitMessage('binary', bytes), 'json'),
    /^kind: a JSON message/,
  );
});

test('reports frames that are too long', async () => {
  const inOne: Answer = (_kind, bytes) => {
    return [Uint8Array.of(3, ...bytes.subarray(0, 65_100)), Uint8Array.of(5, ...bytes.subarray(65_100))];
  };
  assert.match(await causesOf(inOne), /^chunk limit: /);
});

test('reports sealed messages that are sent as text', async () => {
  assert.match(await causesOf(() => ['00ff']), /^transport: /);
});

test.run();
