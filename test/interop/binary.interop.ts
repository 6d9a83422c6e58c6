/** Binary messages: HiveMind's client library reads ours, and we read those that it writes. */
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type BinaryMessage,
  binaryReader,
  decodeBinary,
  encodeBinary,
  type Inflate,
} from '../../src/binary.ts';
import { randomBytes } from '../../src/crypto/node.ts';
import { authorizedUrl, buildUtterance, type JsonObject, parseIdentity } from '../../src/index.ts';
import { ReplyCollector } from '../../src/parts.ts';
import { Random } from '../world/random.ts';
import { authority } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { Connection } from './our-client.ts';
import { HIVEMIND, PythonPeer, versionOf } from './python-peer.ts';

const COUNT = 10_000;
const AT_ONCE = 100;

const TYPES =
  'shake bus shared_bus broadcast propagate escalate hello query cascade ping rendezvous bin'.split(' ');
const PAYLOAD_TYPES =
  'undefined raw_audio numpy_image file stt_audio_transcribe stt_audio_handle tts_audio'.split(' ');

interface Answer {
  readonly read: object;
  readonly same: string;
  readonly own: string;
}

const inflate: Inflate = (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength });

/** A value that JavaScript and Python write as the same text. */
function anyValue(random: Random, depth: number): unknown {
  switch (random.below(depth > 0 ? 7 : 5)) {
    case 0:
      return random.pick([null, true, false, 0, -1, 0.5, -2.125, 9007199254740991]);
    case 1:
      return random.next();
    case 2:
      return Buffer.from(random.bytes(random.length(40))).toString('base64');
    case 3:
      return Buffer.from(random.bytes(random.below(20))).toString('latin1');
    case 4:
      return random.pick(['', 'größte', '🏠🔑', '\u2028"\\/', '\u0000\u001f\u007f']);
    case 5:
      return Array.from({ length: random.below(4) }, () => anyValue(random, depth - 1));
    default:
      return anyObject(random, depth - 1);
  }
}

function anyObject(random: Random, depth: number): JsonObject {
  const names = Array.from({ length: random.below(5) }, () =>
    random.pick(['a', 'lang', 'ü', '🏠', '', 'type', 'data']),
  );
  return Object.fromEntries(names.map((name) => [name, anyValue(random, depth)])) as JsonObject;
}

function anyMessage(random: Random, index: number): BinaryMessage {
  const msg_type = TYPES[index % TYPES.length]!;
  // HiveMind writes white space, and up to six bytes for each character that is not ASCII.
  const metadata = random.pick<JsonObject>([
    {},
    { sample_rate: 16000, sample_width: 2 },
    { a: 'x'.repeat(random.below(246)) },
    { utterance: 'größte 🏠'.slice(random.below(7)) },
  ]);
  if (msg_type !== 'bin') return { msg_type, metadata, payload: anyObject(random, 3) } as BinaryMessage;
  const payload = random.bytes(random.length(random.oneIn(20) ? 40_000 : 1000));
  return { msg_type, bin_type: random.pick(PAYLOAD_TYPES), metadata, payload } as BinaryMessage;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A message as JSON, with bytes in hex. */
function plain(message: BinaryMessage): object {
  const { payload } = message;
  const shown = payload instanceof Uint8Array ? hex(payload) : payload;
  return JSON.parse(JSON.stringify({ ...message, payload: shown }));
}

const test = suite('binary messages');
const seed = Date.now() % 1_000_000;
const row = { peer: 'hivemind-bus-client', version: versionOf('hivemind_bus_client') };
const what = `${COUNT} random binary messages of all types, each way`;

compare(test, { ...row, role: 'both', pattern: 'none', suite: 'none', what, seed }, async () => {
  const random = new Random(seed);
  const script = fileURLToPath(new URL('binary_peer.py', import.meta.url));
  const peer = new PythonPeer<Answer[]>([...HIVEMIND, 'python', script]);
  const own = { compressed: 0, other: 0 };
  for (let done = 0; done < COUNT; done += AT_ONCE) {
    const messages = Array.from({ length: AT_ONCE }, (_, i) => anyMessage(random, done + i));
    const sent = messages.map((message) => hex(encodeBinary(message)));
    const answers = await peer.ask(
      sent.map((message) => ({
        message,
        compressed: random.pick([true, false, null]), // null: whatever is shorter, as hubs do it
        versioned: random.oneIn(3),
      })),
    );
    for (const [i, message] of messages.entries()) {
      const { read, same, own: theirs } = answers[i]!;
      assert.equal(read, plain(message));
      assert.is(same, sent[i]);
      assert.equal(plain(decodeBinary(Buffer.from(theirs, 'hex'), { inflate })), plain(message));
      if (isRefused(theirs)) own.compressed++;
      if (theirs !== sent[i]) own.other++;
    }
  }
  await peer.stop();
  assert.ok(own.compressed > COUNT / 4 && own.other > COUNT / 4);
  return undefined;
});

const hub = await HivemindHub.create('"binarize":true');
test.after(() => hub.stop());

const asked = '`binarize` requested: a compressed request and reply';
const hubRow = { peer: 'hivemind-core', version: versionOf('hivemind-core'), role: 'hub' as const };
const connected = { pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' as const };
compare(test, { ...hubRow, ...connected, what: asked }, async () => {
  const password = 'correct horse battery staple';
  let compressed = 0;
  const allowed = ['--allow', 'recognizer_loop:utterance'];
  await hub.command('add-client', '--access-key', 'kiosk-7', '--password', password, ...allowed);
  await hub.start();
  const connection = new Connection({
    url: authorizedUrl(`wss://localhost:${hub.port}`, 'interop', 'kiosk-7'),
    ca: authority,
    identity: parseIdentity({ access_key: 'kiosk-7', password, site_id: 'lobby' }),
    staticKey: randomBytes(32),
    suite: connected.suite,
    readBinary: binaryReader({
      inflate(bytes, maxLength) {
        compressed++;
        return inflate(bytes, maxLength);
      },
    }),
  });
  await connection.first('ready');
  connection.sendBinary(encodeBinary(buildUtterance({ requestId: 'r1', text: 'are you there?' })));
  const collector = new ReplyCollector({ requestId: 'r1' });
  while (collector.state !== 'done') {
    for (const message of await connection.messages()) {
      assert.ok(message.kind === 'json');
      collector.push(message.text, true);
    }
  }
  assert.is(collector.reply.text, 'You said: are you there?');
  assert.ok(compressed > 0);
  await connection.close();
  return undefined;
});

/** Whether a message is refused without inflate: it is compressed. */
function isRefused(message: string): boolean {
  try {
    decodeBinary(Buffer.from(message, 'hex'));
    return false;
  } catch {
    return true;
  }
}

test.run();
