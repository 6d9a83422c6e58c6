/** The mistakes that the judge knows: each is recognised by its bytes, and none in bytes that are right. */
import { poly1305 } from '@noble/ciphers/_poly1305.js';
import { chacha20orig, xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hsalsa } from '@noble/ciphers/salsa.js';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { mistakesInBinary } from '../../judge/src/mistakes/binary.ts';
import { mistakesInPauses } from '../../judge/src/mistakes/decisions.ts';
import { saidOfEvents } from '../../judge/src/mistakes/events.ts';
import { mistakesInCanonicalJson, mistakesInPrologue, saidOfJson } from '../../judge/src/mistakes/json.ts';
import { mistakesInPsk } from '../../judge/src/mistakes/known-psks.ts';
import {
  handshakeWith,
  mistakesInHandshakeHash,
  mistakesInMessage,
  mistakesInSealing,
  mistakesInTransport,
  type Transcript,
} from '../../judge/src/mistakes/noise.ts';
import { MISTAKES, type Mistake, ONE_SIDED_MISTAKES } from '../../judge/src/mistakes/noise-mistakes.ts';
import { type Side, sealWith } from '../../judge/src/mistakes/noise-with-mistake.ts';
import { otherCipher, otherSecret } from '../../judge/src/mistakes/other-primitives.ts';
import { PSK_MISTAKES } from '../../judge/src/mistakes/psk-mistakes.ts';
import { listTasks, runVectors } from '../../judge/src/run-vectors.ts';
import type { Causes } from '../../judge/src/verdict.ts';
import { createAdapter } from '../../ports/typescript/adapter.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { argon2id } from '../../src/noise/argon2id.ts';
import type { Suite } from '../../src/noise/patterns.ts';
import { hex, readVectors, toHex, type Vector } from '../world/vectors.ts';

const HANDSHAKES = readVectors('handshake', 'Handshake');
const PSKS = readVectors('argon2id', 'Psk');
const SIDES = ['init', 'resp'] as const;

function written(vector: Vector, side: 'init' | 'resp'): (string | undefined)[] {
  return vector.messages.map(({ message }: { message: string }, index: number) =>
    (index % 2 === 0) === (side === 'init') ? message : undefined,
  );
}

test('writes the messages and the handshake hash of noiseprotocol without a mistake', () => {
  for (const vector of HANDSHAKES) {
    for (const side of SIDES) {
      const { messages, handshakeHash } = handshakeWith({}, side, vector as unknown as Transcript);
      assert.equal(messages, written(vector, side), `tcId ${vector.tcId}`);
      assert.is(handshakeHash, vector.handshakeHash);
    }
  }
});

test('seals as noiseprotocol does without a mistake', () => {
  for (const { tcId, suite, key, counter, plaintexts, results } of readVectors('transport', 'Seal')) {
    plaintexts.forEach((plaintext: string, index: number) => {
      const sealed = sealWith(
        {},
        suite,
        hex(key),
        BigInt(counter) + BigInt(index),
        new Uint8Array(0),
        hex(plaintext),
      );
      assert.is(toHex(sealed), results[index].message, `tcId ${tcId}`);
    });
  }
});

/** These show beyond the counters of handshakes. */
const OF_LARGE_COUNTERS: readonly (string | undefined)[] = [
  ...['one-byte', 'signed-byte', 'signed-int', 'two-bytes', 'four-bytes', 'float'],
];

for (const mistake of MISTAKES) {
  if (OF_LARGE_COUNTERS.includes(mistake.nonce)) continue;
  test(`recognises: ${mistake.cause}`, () => {
    let isSeen = false;
    for (const vector of HANDSHAKES) {
      if (isSeen) return;
      const transcript = vector as unknown as Transcript;
      for (const side of SIDES) {
        const { messages } = handshakeWith(mistake, side, transcript);
        const right = written(vector, side);
        const index = messages.findIndex((message, at) => message !== right[at]);
        const found =
          index >= 0
            ? mistakesInMessage(side, transcript, index, messages[index]!)
            : transportMistakes(mistake, side, transcript);
        if (found.length === 0) continue;
        assert.ok(found.includes(mistake.cause), found.join());
        isSeen = true;
      }
    }
    assert.ok(isSeen, 'no handshake shows it');
  });
}

test('recognises what is done wrongly in messages of one direction only', () => {
  const [xx, kk] = ['XXpsk2', 'KKpsk0'].map(
    (pattern) => HANDSHAKES.find((vector) => vector.pattern === pattern)!,
  );
  let seen = 0;
  for (const mistake of ONE_SIDED_MISTAKES) {
    for (const vector of [xx!, kk!]) {
      const transcript = vector as unknown as Transcript;
      for (const side of SIDES) {
        const { messages, handshakeHash } = handshakeWith(mistake, side, transcript);
        const index = messages.findIndex((message, at) => message !== written(vector, side)[at]);
        if (index < 0 && handshakeHash === vector.handshakeHash) continue;
        const found =
          index < 0
            ? mistakesInHandshakeHash(side, transcript, vector.handshakeHash, handshakeHash)
            : mistakesInMessage(side, transcript, index, messages[index]!);
        if (found.includes(mistake.cause)) seen++;
      }
    }
  }
  assert.ok(seen > ONE_SIDED_MISTAKES.length / 3, `${seen} of ${ONE_SIDED_MISTAKES.length}`);
});

test('recognises the counter of a handshake that goes on, which a seal alone does not show', () => {
  const transcript = HANDSHAKES[0] as unknown as Transcript;
  const { sendKey } = handshakeWith({}, 'init', transcript);
  const none = new Uint8Array(0);
  const sealed = (counter: bigint): Uint8Array =>
    sealWith({}, transcript.suite, sendKey, counter, none, hex('13'));
  assert.match(
    mistakesInTransport('init', transcript, 0, hex('13'), sealed(1n)).join(),
    /counter of the handshake/,
  );
  assert.equal(mistakesInTransport('init', transcript, 0, hex('13'), sealed(2n)), []);
});

test('has the primitives of libsodium that are not those of Noise', () => {
  const key = Uint8Array.from({ length: 32 }, (_, i) => 3 * i);
  const nonce = hex('000000000102030405060708');
  const [data, plaintext] = [hex('aabbcc'), Uint8Array.from({ length: 100 }, (_, i) => i)];
  const long = new Uint8Array(24);
  long.set(nonce, 12);
  const extended = otherCipher('extended-at-end', key);
  const sealed = xchacha20poly1305(key, long, data).encrypt(plaintext);
  assert.equal(toHex(extended.seal(nonce, data, plaintext)), toHex(sealed));
  assert.equal(toHex(extended.open(nonce, data, sealed)!), toHex(plaintext));
  const original = otherCipher('original', key).seal(nonce, data, plaintext);
  assert.is(
    toHex(original.subarray(0, 100)),
    toHex(chacha20orig(key, nonce.subarray(4), plaintext, undefined, 1)),
  );
  const tagKey = chacha20orig(key, nonce.subarray(4), new Uint8Array(32));
  const covered = Buffer.concat([
    data,
    hex('0300000000000000'),
    original.subarray(0, 100),
    hex('6400000000000000'),
  ]);
  assert.is(toHex(original.subarray(100)), toHex(poly1305(covered, tagKey)));
  assert.equal(otherCipher('original', key).open(nonce, data, original), plaintext);
  assert.is(otherCipher('original', key).open(nonce, data, sealed), undefined);
  const words = (bytes: Uint8Array) => new Uint32Array(bytes.slice().buffer);
  const sigma = words(new TextEncoder().encode('expand 32-byte k'));
  const out = new Uint32Array(8);
  hsalsa(sigma, words(key), new Uint32Array(4), out);
  assert.is(toHex(otherSecret('hsalsa20', key)), toHex(new Uint8Array(out.buffer)));
});

/** What the judge says about the second transport message, if this mistake changes it. */
function transportMistakes(mistake: Mistake, side: Side, transcript: Transcript): Causes {
  const seal = (mistake: Partial<Mistake>): Uint8Array => {
    const { sendKey, transportData } = handshakeWith(mistake, side, transcript);
    const counter = mistake.nonce === 'never-advanced' ? 0n : 1n;
    return sealWith(mistake, transcript.suite, sendKey, counter, transportData, hex('00ff'));
  };
  const sealed = seal(mistake);
  if (toHex(sealed) === toHex(seal({}))) return [];
  return mistakesInTransport(side, transcript, 1, hex('00ff'), sealed);
}

test('recognises mistakes of a responder that show only in the handshake hash', () => {
  for (const vector of HANDSHAKES) {
    const transcript = vector as unknown as Transcript;
    const { handshakeHash } = handshakeWith({ prologue: 'left-out' }, 'resp', transcript);
    if (vector.prologue === '' || handshakeHash === vector.handshakeHash) continue;
    assert.equal(mistakesInHandshakeHash('resp', transcript, '00', handshakeHash), [
      'prologue: it is not mixed into the hash',
    ]);
    assert.equal(mistakesInHandshakeHash('resp', transcript, 'ff', 'f'), []);
  }
});

const START = 2n ** 60n + 0x1_0001_8081n;

test('recognises each nonce mistake by its ciphertext, and none in correct or unknown ones', () => {
  const key = new Uint8Array(32).fill(7);
  const plaintext = hex('00ff');
  for (const suite of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as Suite[]) {
    const seal = (mistake: Partial<Mistake>, counter: bigint) =>
      sealWith(mistake, suite, key, counter, new Uint8Array(0), plaintext);
    const find = (got: Uint8Array) => mistakesInSealing(suite, key, START, 2, plaintext, got);
    for (const mistake of MISTAKES.filter(({ nonce }) => nonce !== undefined && nonce !== 'never-reset')) {
      const found = find(seal(mistake, mistake.nonce === 'never-advanced' ? START : START + 2n));
      assert.ok(found.includes(mistake.cause), found.join());
      // A counter of four bytes is here the same with a sign and, if it is big-endian, in the last four bytes of a nonce.
      const isBigEndian = suite.includes('AESGCM');
      const isInLast = mistake.nonce === 'last-four';
      const isOfFour = isInLast ? isBigEndian : /counter has four/.test(mistake.cause);
      assert.equal(found.length, isOfFour ? (isBigEndian ? 3 : 2) : 1);
    }
    assert.equal(find(seal({}, START + 2n)), []);
    assert.equal(find(seal({}, 7n)), []);
  }
});

test('matches the PSK of each mistake with another implementation', () => {
  const [{ password, salt, psk }] = PSKS as [Vector];
  const right = { password, salt: hex(salt), passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 };
  for (const [cause, change] of [
    ['Argon2id has a time cost of 1', { passes: 1 }],
    ['Argon2id has 1024 KiB of memory', { memoryKiB: 1024 }],
    ['the salt is the SHA-256 in hexadecimal', { salt: new Uint8Array(Buffer.from(salt)) }],
  ] as const) {
    const wrong = toHex(argon2id({ crypto: nodeCrypto, ...right, ...change }));
    assert.match(mistakesInPsk(psk, wrong).join(), new RegExp(`^psk: ${cause}`));
  }
});

test('describes the PSK of every mistake', () => {
  const sentences = PSK_MISTAKES.map((mistake) => mistakesInPsk('', mistake.slice(0, 32)).join());
  assert.ok(sentences.length > 50);
  for (const sentence of sentences) assert.not.match(sentence, /undefined/);
});

test('recognises the length and the byte order of a wrong PSK, and nothing in others', () => {
  const [{ psk }] = PSKS as [Vector];
  assert.match(mistakesInPsk(psk, 'ab'.repeat(20)).join(), /has 20 bytes/);
  const reversed = psk.match(/../g).reverse().join('');
  assert.match(mistakesInPsk(psk, reversed).join(), /reverse order/);
  assert.equal(mistakesInPsk(psk, 'ab'.repeat(32)), []);
  assert.equal(mistakesInPsk(psk, undefined), []);
});

const CANONICAL: [name: string, text: string, written: string][] = [
  ['key order: keys are sorted by UTF-16', '{"\ue000":1,"\ud83d\ude00":2}', '{"\ud83d\ude00":2,"\ue000":1}'],
  ['key order: keys are not sorted', '{"b":1,"a":2}', '{"b":1,"a":2}'],
  ['numbers: they are parsed', '[1.0,12345678901234567890]', '[1,12345678901234567000]'],
  ['numbers: a float', '[1.0,12345678901234567890]', '[1,12345678901234567890]'],
  ['escapes: \\\\u0008 and \\\\u000c', '"\\b\\f"', '"\\u0008\\u000c"'],
  ['escapes: \\\\u0008 is', '"\\b\\f"', '"\\u0008\\f"'],
  ['escapes: characters beyond ASCII', '"\u00fc\ud83d\ude00"', '"\\u00fc\\ud83d\\ude00"'],
  ['escapes: / is', '"a/b"', '"a\\/b"'],
  ['escapes: U\\+007F', '"\u007f"', '"\\u007f"'],
  ['escapes: U\\+2028', '"\u00fc\u2028"', '"\u00fc\\u2028"'],
  ['escapes: <', '"<a>"', '"\\u003ca\\u003e"'],
  ['white space: there is some after commas', '{"a":[1,2]}', '{"a": [1, 2]}'],
  ['white space: there is some after colons', '{"a":[1,2]}', '{"a": [1,2]}'],
  ['key order: only the outermost', '{"b":{"d":1,"c":2},"a":0}', '{"a":0,"b":{"d":1,"c":2}}'],
  ['key order: keys that look like integers', '{"10":1,"9":2,"a":3}', '{"9":2,"10":1,"a":3}'],
  ['numbers: floats are parsed', '[1.50,12345678901234567890]', '[1.5,12345678901234567890]'],
  ['numbers: the E', '[1E5]', '[1e5]'],
  ['numbers: minus zero', '[-0.0]', '[0.0]'],
  ['escapes: \\\\u and a code', '"\\n"', '"\\u000a"'],
  ['escapes: the digits', '"\\u001f"', '"\\u001F"'],
  ['strings: they are normalized', '"u\u0308"', '"\u00fc"'],
  ['strings: they are normalized to NFD', '"\u00fc"', '"u\u0308"'],
  ['strings: they end at', '"a\\u0000b"', '"a"'],
  ['strings: U\\+0000 is left out', '"a\\u0000b"', '"ab"'],
  ['strings: those that end', '"a\\u0000b\\u0000"', '"a\\u0000b"'],
  ['strings: white space', '" a "', '"a"'],
  ['key order: bytes are compared with their sign', '{"a":1,"\u00fc":2}', '{"\u00fc":2,"a":1}'],
  ['key order: keys are compared up to', '{"a\\u0000b":1,"a\\u0000a":2}', '{"a\\u0000b":1,"a\\u0000a":2}'],
  ['key order: keys are sorted as they are written', '{"a\\"":1,"a#":2}', '{"a#":2,"a\\"":1}'],
  ['fields: the one with the empty name', '{"":1,"a":2}', '{"a":2}'],
  ['fields: those with empty values', '{"a":[],"b":1}', '{"b":1}'],
  ['numbers: floats are parsed and written again as Python', '[1e22,0.00001]', '[1e+22,1e-05]'],
  ['numbers: floats are parsed and written again as Rust', '[1E22,1.50]', '[1e22,1.5]'],
  ['numbers: floats are written with the E', '[1e-7]', '[1E-07]'],
  ['numbers: they are written with %.6g', '[3.14159265]', '[3.14159]'],
  ['numbers: they are written with %.17g', '[0.1]', '[0.10000000000000001]'],
  ['numbers: they are read as integers of 32 bits;', '[1764000000000]', `[${1764000000000 | 0}]`],
  ['numbers: they are read as integers of 32 bits, and', '[1764000000000]', '[2147483647]'],
  ['numbers: fractions are cut off', '[12.5]', '[12]'],
  ['numbers: integers are read as int of 32 bits', '[1764000000000,0.5]', `[${1764000000000 | 0},0.5]`],
  ['numbers: integers are read as int of 32 bits', '[99999999999999999999,0.5]', '[-1,0.5]'],
  ['numbers: integers are read as integers of 64 bits', '[-99999999999999999999]', '[-9223372036854775808]'],
  [
    'escapes: the bytes of characters beyond ASCII are escaped as negative',
    '"\u00e9"',
    '"\\uffffffc3\\uffffffa9"',
  ],
  ['escapes: the bytes of characters beyond ASCII are escaped one by one', '"\u00e9"', '"\\u00c3\\u00a9"'],
  ['escapes: \\\\v', '"\\u000b"', '"\\v"'],
  ['escapes: \\\\0', '"\\u0000"', '"\\0"'],
  ['escapes: controls', '"\\u0001"', '"\u0001"'],
  ['escapes: \\\\x', '"\\u0001"', '"\\x01"'],
  ['surrogates: 0x10000', '"\\ud83d\\ude00"', '"\uf600"'],
  ['surrogates: each half', '"\\ud83d\\ude00"', '"\ufffd\ufffd"'],
];

for (const [cause, text, written] of CANONICAL) {
  test(`recognises in canonical JSON: ${cause}`, () => {
    const causes = mistakesInCanonicalJson(text, toHex(Buffer.from(written)));
    assert.ok(
      causes.some((found) => new RegExp(`^${cause}`).test(found)),
      causes.join(),
    );
  });
}

test('recognises surrogates that are written one by one', () => {
  const causes = mistakesInCanonicalJson('"\\ud83d\\ude00"', '22eda0bdedb88022');
  assert.match(causes.join(), /two surrogates/);
});

test('recognises halves of an escaped pair that are sorted and written one by one', () => {
  const [text, got] = ['{"\\ue000":0,"\\ud83d\\ude00":0}', '7b22eda0bdedb880223a302c22ee8080223a307d'];
  const causes = mistakesInCanonicalJson(text, got);
  assert.match(causes.join(), /^surrogates: each half of an escaped pair is written by itself/);
});

test('tells a limit of all arrays and objects from a limit of those that are open', () => {
  const all = mistakesInCanonicalJson(`[${'[],'.repeat(70)}0]`, undefined, 'json-depth');
  assert.match(all.join(), /limit: arrays and objects that are closed again count too/);
  const open = mistakesInCanonicalJson('[[0]]', undefined, 'json-depth');
  assert.not.match(open.join(), /closed again/);
});

test('recognises three mistakes at once, as json.dumps of Python makes them', () => {
  const text = '{"b":[1.0,1e22],"a":"\\u00e9\\ud83d\\ude00"}';
  const got = toHex(Buffer.from('{"a": "\\u00e9\\ud83d\\ude00", "b": [1.0, 1e+22]}'));
  const [first] = mistakesInCanonicalJson(text, got);
  assert.match(first!, /as Python writes them.* Also, escapes: .* Also, white space: /);
});

test('recognises two mistakes at once', () => {
  const three = mistakesInCanonicalJson('{"b":1.0,"a":"/"}', toHex(Buffer.from('{"b":1,"a":"\\/"}')));
  assert.equal(three, []);
  const got = toHex(Buffer.from('{"b":1,"a":0}'));
  assert.match(mistakesInCanonicalJson('{"b":1.0,"a":0}', got)[0]!, /^key order: .*\. Also, numbers: /);
});

test('recognises a prologue with its parts reordered, separated, or not canonical', () => {
  const find = (got: string) =>
    mistakesInPrologue('{"b": 1}', '{"c": 2.0}', 'name', toHex(Buffer.from(got))).join('\n');
  assert.match(find('{"c":2.0}{"b":1}name'), /parts are HANDSHAKE, HELLO, protocol name/);
  assert.match(find('name{"b":1}{"c":2.0}'), /parts are protocol name, HELLO, HANDSHAKE/);
  assert.match(find('{"b":1}{"c":2.0}'), /parts are HELLO, HANDSHAKE;/);
  assert.match(find('{"b":1}\n{"c":2.0}\nname'), /stands between/);
  assert.match(find('{"b": 1}{"c": 2.0}name'), /as they came/);
  assert.match(find('{"b":1}{"c":2}name'), /^numbers/m);
  assert.match(find('{"c":2}{"b":1}name'), /parts are HANDSHAKE, .*\. Also, numbers/);
  assert.is(find('something else'), '');
});

test('names every order of the parts that explains a prologue, where HELLO and HANDSHAKE are the same', () => {
  const causes = mistakesInPrologue('{"a":1}', '{"a":1}', 'name', toHex(Buffer.from('{"a":1}name')));
  assert.equal(
    causes.map((cause) => /parts are (.*);/.exec(cause)![1]),
    ['HELLO, protocol name', 'HANDSHAKE, protocol name'],
  );
});

test('recognises a wrong ephemeral key or one with its bytes reversed, and none in message 3', () => {
  const [vector] = HANDSHAKES as [Vector];
  const [first, , third] = vector.messages.map(({ message }: { message: string }) => message);
  const find = (index: number, got: string) =>
    mistakesInMessage('init', vector as unknown as Transcript, index, got).join();
  assert.match(find(0, 'ab'.repeat(32) + first.slice(64)), /^ephemeral key: it is not the given one/);
  const reversed = first.slice(0, 64).match(/../g).reverse().join('');
  assert.match(find(0, reversed + first.slice(64)), /^ephemeral key: its bytes are in reverse order/);
  assert.is(find(2, 'ab'.repeat(32) + third.slice(64)), '');
  assert.is(find(0, 'ab'), '');
});

test('finds nothing in a response that is not a string of hexadecimal digits', () => {
  assert.equal(mistakesInCanonicalJson('{}', undefined), []);
  assert.equal(mistakesInPrologue('{}', '{}', 'name', 7), []);
  assert.equal(mistakesInPrologue('{}', '{}', 'name', 'xyz'), []);
});

const received = (envelope: object): Fields => ({ do: 'receive', text: JSON.stringify(envelope) });
const isUtf8 = (bytes: Uint8Array): boolean => Buffer.from(Buffer.from(bytes).toString()).equals(bytes);

type Answer = (test: Vector, step: number) => Fields | undefined;

/** The causes in the report on an adapter that answers as the vectors say, but for what this answers. */
async function causesWith(operation: string, answer: Answer): Promise<string[]> {
  const tests = listTasks([operation]).map((task) => task.test);
  let [at, step] = [-1, 0];
  const send = async ({ op, do: what }: Fields): Promise<Fields> => {
    if (op === 'about') return {};
    const isNext = op !== 'session' || (what === 'open' && tests[at]?.steps[step + 1]?.do !== 'open');
    [at, step] = isNext ? [at + 1, 0] : [at, step + 1];
    const test = tests[at]!;
    return answer(test, step) ?? (op === 'session' ? rightEvents(test.steps[step]) : { ...test });
  };
  const verdicts = await runVectors({ adapter: { send, stop: async () => {} }, only: [operation] });
  assert.is(at, tests.length - 1, 'not all tests ran');
  return [...new Set(verdicts.flatMap(({ failure }) => failure?.causes ?? []))];
}

function rightEvents({ events = [], messages, error }: Fields): Fields {
  if (error !== undefined) return { error };
  return messages === undefined ? { events } : { messages };
}

/** An answer in sessions: other events for these, in a step of these tests. */
const session =
  (alter: (events: Fields[], step: Fields, test: Vector) => Fields[] | undefined): Answer =>
  (test, at) => {
    const step = test.steps[at];
    const events = Array.isArray(step.events) ? alter(step.events, step, test) : undefined;
    return events && { events };
  };

/** The same for each event. */
const eachEvent = (alter: (event: Fields, step: Fields, test: Vector) => Fields): Answer =>
  session((events, step, test) => events.map((event) => alter(event, step, test)));

const closing = (error: string): Fields[] => [{ type: 'close', code: 1008, error }];
const endsWith = (events: Fields[], error: string): boolean => events.some((event) => event.error === error);
const replaced = (event: Fields, from: string, to: string): Fields => ({
  ...event,
  ...(typeof event.text === 'string' && { text: event.text.replace(from, to) }),
});
const trimsNodeIds = eachEvent((event) => ({
  ...event,
  ...(typeof event.nodeId === 'string' && { nodeId: event.nodeId.trim() }),
}));
/** Whether the session is encrypted or over before this step. */
const isLater = (test: Vector, step: Fields): boolean =>
  test.steps
    .slice(0, test.steps.indexOf(step))
    .some(({ events }: Fields) =>
      (events as Fields[] | undefined)?.some(({ type }) => type === 'ready' || type === 'close'),
    );

const isHub = ({ steps }: Vector): boolean => steps[0].role === 'hub';

const BAD_PAYLOAD = ['psk-differs', 'kk-failed', 'bad-handshake-payload'];

const SESSION_MISTAKES: readonly (readonly [cause: string, answer: Answer])[] = [
  [
    'node id: it is taken without the white space around it',
    (test, at) =>
      test.comment === "a pinned hub's name with a blank after it" &&
      test.steps[at].do === 'receive' &&
      at === 2
        ? { events: [{ type: 'psk-needed' }] }
        : trimsNodeIds(test, at),
  ],
  [
    'pins: they are looked up by the node id in lower case',
    session((events, _step, test) => {
      const [nodeId] = Object.keys(test.steps[0].pins ?? {});
      if (nodeId !== nodeId?.toLowerCase()) return events.map((event) => replaced(event, 'KKpsk0', 'XXpsk2'));
      return test.comment === "a pinned hub's name in capitals" && endsWith(events, 'unknown-hub')
        ? [{ type: 'psk-needed' }]
        : undefined;
    }),
  ],
  [
    'psk: stored ones are looked up by the node id in lower case',
    session((events, _step, test) => {
      const [nodeId] = Object.keys(test.steps[0].psks ?? {});
      if (test.comment === 'a stored PSK of another hub, whose name differs in case')
        return events.some(({ type }) => type === 'psk-needed')
          ? [{ type: 'transmit', text: '' }]
          : undefined;
      return nodeId !== nodeId?.toLowerCase() && events.some(({ text }) => /"pattern"/.test(String(text)))
        ? [{ type: 'psk-needed' }]
        : undefined;
    }),
  ],
  [
    'pin: KKpsk0 is used although the pin is suspect',
    eachEvent((event, _step, test) =>
      test.steps[0].suspects === undefined ? event : replaced(event, 'XXpsk2', 'KKpsk0'),
    ),
  ],
  [
    'pin: a suspect pin is replaced where it is to be kept',
    session((events, _step, test) =>
      test.steps[0].suspects !== undefined && endsWith(events, 'hub-key-changed')
        ? [{ type: 'pin' }, { type: 'transmit', text: '' }, { type: 'ready' }]
        : undefined,
    ),
  ],
  [
    'msg: only its first 80 digits are written',
    eachEvent((event) =>
      event.type === 'transmit' && event.text !== undefined
        ? { ...event, text: String(event.text).replace(/("msg":"[\da-f]{80})[\da-f]+/, '$1') }
        : event,
    ),
  ],
  [
    'announcement: its site_id is "kitchen"',
    eachEvent((event, step, test) =>
      step.do === 'start' && !isHub(test) ? replaced(event, '"site_id":""', '"site_id":"kitchen"') : event,
    ),
  ],
  [
    'HELLO: of several the node id of the first one is kept',
    eachEvent((event, _step, test) =>
      test.flags.includes('LatestHello') && typeof event.nodeId === 'string'
        ? { ...event, nodeId: JSON.parse(test.steps[1].text).payload.node_id }
        : event,
    ),
  ],
  [
    'psk: the stored PSK of another hub is used',
    session((events, _step, test) =>
      events.some(({ type }) => type === 'psk-needed') && Object.keys(test.steps[0].psks ?? {}).length > 0
        ? [...events.filter(({ type }) => type !== 'psk-needed'), { type: 'transmit', text: '{}' }]
        : undefined,
    ),
  ],
  [
    'pin: it does not come where XXpsk2 has shown that a suspect pin is right',
    session((events, _step, test) =>
      test.steps[0].suspects?.length > 0 && !events.some(({ replaces }) => replaces)
        ? events.filter(({ type }) => type !== 'pin')
        : undefined,
    ),
  ],
  [
    'pin: it does not come where XXpsk2 has shown another key than the suspect pin',
    session((events) => events.filter(({ type, replaces }) => type !== 'pin' || replaces === undefined)),
  ],
  [
    'psk-suspect: it comes after a KKpsk0 that failed',
    session((events) =>
      events.some(({ type }) => type === 'pin-suspect')
        ? [{ type: 'psk-suspect', nodeId: 'hub-1' }, ...events]
        : undefined,
    ),
  ],
  [
    'pin-suspect: it does not come where KKpsk0 ends with bad-hex',
    session((events) =>
      events.some(({ error }) => error === 'bad-hex')
        ? events.filter(({ type }) => type !== 'pin-suspect')
        : undefined,
    ),
  ],
  [
    'envelopes: one that arrives as bytes before the session is not read',
    session((_events, step, test) =>
      !isHub(test) && step.bytes !== undefined && !isLater(test, step) ? closing('not-authentic') : undefined,
    ),
  ],
  [
    'message 2: its payload is not read',
    session((events, _step, { flags }) =>
      flags.some((flag: string) => /^(?:Message2(?:Noise|Payload)|PayloadFirst)$/.test(flag)) &&
      BAD_PAYLOAD.some((code) => endsWith(events, code))
        ? flags.includes('PayloadFirst')
          ? closing('hub-key-changed')
          : [{ type: 'transmit', text: '' }, { type: 'ready' }]
        : events.map((event) => (event.encoding == null ? event : { ...event, encoding: null })),
    ),
  ],
  [
    'pin: it is compared before the payload of message 2 is read',
    session((events, _step, { flags }) =>
      flags.includes('PayloadFirst') && BAD_PAYLOAD.some((code) => endsWith(events, code))
        ? closing('hub-key-changed')
        : undefined,
    ),
  ],
  [
    'ready: it does not tell the encoding that message 2 names',
    eachEvent((event) => (event.encoding == null ? event : { ...event, encoding: null })),
  ],
  [
    'message 1: one that names only the pattern or only the suite',
    session((events, step, test) => {
      const noise = isHub(test) && /"noise":(\{[^}]*\})/.exec(String(step.text))?.[1];
      const isHalf = noise && /"pattern"/.test(noise) !== /"suite"/.test(noise) && /"msg"/.test(noise);
      return isHalf && events.length === 0 && !isLater(test, step) ? closing('bad-hex') : undefined;
    }),
  ],
  [
    'HELLO: a first message that is none is swallowed',
    session((events) => {
      const at = events.findIndex(({ error }) => error === 'no-hello');
      return at >= 0 ? events.slice(0, at + 1) : undefined;
    }),
  ],
  [
    'negotiation: a hub takes a suite that it did not offer',
    session((events, step) =>
      endsWith(events, 'not-offered') && /AESGCM/.test(String(step.text))
        ? [{ type: 'transmit', text: '' }]
        : undefined,
    ),
  ],
  [
    'prologue: a hub binds only the fields of its HELLO or HANDSHAKE',
    session((events, step, test) => {
      const offer = String(test.steps[1].events?.[1]?.text);
      const isBare = /^\{"max_protocol_version":3,"noise":\{[^}]*\}\}$/.test(
        isHub(test) && offer.startsWith('{') ? JSON.stringify(JSON.parse(offer).payload) : '',
      );
      const isRead = step.do === 'receive' && events.some(({ text }) => text !== undefined);
      return isHub(test) && isRead && !isBare ? closing('prologue-differs') : undefined;
    }),
  ],
];

/** A session that reads a part of envelopes in a wrong way: it refuses what the reader does not accept, and takes what it does. */
const reading = (
  part: RegExp,
  code: string,
  isRight: (value: string) => boolean,
  accepts: (value: string) => boolean,
): Answer =>
  session((events, step) => {
    const value = part.exec(String(step.text))?.[1];
    if (value === undefined || events.length === 0) return undefined;
    const close = events.find(({ type }) => type === 'close');
    if (isRight(value)) return close === undefined && !accepts(value) ? closing(code) : undefined;
    return close?.error === code && accepts(value) ? closing('message-too-short') : undefined;
  });
const VERSION = /"max_protocol_version":\s*("[^"]*"|[^\s,}\]]+)/;
const MSG = /"noise":\s*\{[^}]*"msg":\s*"((?:[^"\\]|\\.)*)"/;
const TYPE = /"msg_type":\s*"((?:[^"\\]|\\.)*)"/;
const isVersion = (token: string): boolean => /^-?\d/.test(token) && Number(token) >= 3;
const isType = (type: string): boolean => ['hello', 'shake', 'handshake'].includes(type);
const isHex = (text: string): boolean => /^(?:[\da-f]{2})*$/i.test(text);
/** What a peer does that takes a key for the pinned one. */
const ANOTHER_KEY: Fields[] = [{ type: 'transmit', text: '' }, { type: 'ready' }];
const isNearly = ({ comment }: Vector): boolean => /(?:17th|last) byte alone/.test(comment);
const isOfPin = (events: Fields[]): boolean =>
  endsWith(events, 'hub-key-changed') || endsWith(events, 'client-key-changed');

const READING_MISTAKES: readonly (readonly [cause: string, answer: Answer])[] = [
  [
    'version: max_protocol_version is read up to the first character that is no digit (atoi of C)',
    reading(VERSION, 'protocol-version', isVersion, (token) => Number.parseInt(token, 10) % 2 ** 32 >= 3),
  ],
  [
    'version: max_protocol_version is read as an integer in digits alone',
    reading(VERSION, 'protocol-version', isVersion, (token) => /^\d+$/.test(token) && Number(token) >= 3),
  ],
  [
    'version: max_protocol_version is read from a string, too',
    reading(VERSION, 'protocol-version', isVersion, (token) => Number(token.replace(/"/g, '')) >= 3),
  ],
  [
    'msg: hex is read with sscanf or strtol of C',
    reading(
      MSG,
      'bad-hex',
      isHex,
      (text) => text.length % 2 === 0 && text.match(/../gs)!.every((pair) => /^[ +]?[\da-f]/i.test(pair)),
    ),
  ],
  [
    'msg: hex is read in lower case alone',
    reading(MSG, 'bad-hex', isHex, (text) => isHex(text) && !/[A-F]/.test(text)),
  ],
  [
    'msg_type: it is compared by its beginning',
    reading(TYPE, 'unexpected-message', isType, (type) => /^(?:hello|(?:hand)?shake)/.test(type)),
  ],
  [
    'msg_type: it is compared without regard to case',
    reading(TYPE, 'unexpected-message', isType, (type) => isType(type.toLowerCase())),
  ],
  [
    'pin: only the first bytes of the key are compared',
    session((events, _step, test) => (isNearly(test) && isOfPin(events) ? ANOTHER_KEY : undefined)),
  ],
  [
    'pin: keys are compared up to a zero byte',
    session((events, _step, { comment }) =>
      /both begin with a zero/.test(comment) && isOfPin(events) ? ANOTHER_KEY : undefined,
    ),
  ],
  [
    'pin: a client whose key is not the pinned one is accepted',
    session((events) => (endsWith(events, 'client-key-changed') ? [{ type: 'ready' }] : undefined)),
  ],
];

/** The flag that is a word, in topics or a broker that it decides about. */
const wordOf = ({ mqtt, flags }: Vector, operation: string): unknown =>
  operation === 'broker'
    ? /^(?:mqtt|ws):/i.test(mqtt?.endpoint) && mqtt.tls
    : flags.includes('HashedTopics') && (mqtt?.hash_topics ?? mqtt?.hashTopics);

const FLAG_MISTAKES: readonly (readonly [cause: string, isUnread: (flag: unknown) => boolean])[] = [
  ['flags: the word "on" is not read as true', (flag) => /^on$/i.test(String(flag))],
  ['flags: words are read in lower case alone', (flag) => flag === 'ON'],
  ['flags: words are not read', (flag) => typeof flag === 'string' && /^(?:1|true|yes|on)$/i.test(flag)],
  ['broker: `tls` is ignored', (flag) => flag === true || /^(?:1|true|yes|on)$/i.test(String(flag))],
];

for (const [cause, isUnread] of FLAG_MISTAKES) {
  test(`names in brokers, and nothing else: ${cause}`, async () => {
    const causes = await causesWith('broker', (test) =>
      test.error === undefined && isUnread(wordOf(test, 'broker'))
        ? test.tls
          ? { error: 'plaintext-endpoint' }
          : { ...test, tls: true }
        : undefined,
    );
    assert.ok(causes.length > 0 && causes.every((other) => other.startsWith(cause)), causes.join('\n'));
  });
}

test('names a word that is no flag in topics', async () => {
  const causes = await causesWith('topics', (test) =>
    /^on$/i.test(String(wordOf(test, 'topics'))) ? { error: 'identity-field' } : undefined,
  );
  assert.equal(
    [...new Set(causes.map((cause) => cause.split(';')[0]))],
    ['flags: the word "on" is not read as true'],
  );
});

for (const [cause, answer] of [...SESSION_MISTAKES, ...READING_MISTAKES]) {
  test(`names in sessions, and nothing else: ${cause}`, async () => {
    const causes = await causesWith('session', answer);
    assert.ok(causes.length > 0 && causes.every((other) => other.startsWith(cause)), causes.join('\n'));
  });
}

const SAID: readonly (readonly [sentence: RegExp, expected: Fields[], got: Fields[], step?: Fields])[] = [
  [/^a client takes HELLO that it refuses as bad-node-id$/, closing('bad-node-id'), []],
  [/^a client refuses HELLO that it takes, as bad-node-id$/, [], closing('bad-node-id')],
  [
    /^a client refuses HELLO as bad-payload where it is bad-node-id$/,
    closing('bad-node-id'),
    closing('bad-payload'),
  ],
  [/^a client opens HELLO that it refuses as bad-node-id$/, closing('bad-node-id'), closing('psk-differs')],
  [/^on HELLO a client gives nothing where pin is due$/, [{ type: 'pin' }], []],
  [/^on HELLO a client gives ready, which is not due$/, [], [{ type: 'ready' }]],
  [
    /^on HELLO a client gives envelope where pin, sealed message are due$/,
    [{ type: 'pin' }, { type: 'transmit', bytes: '' }],
    [{ type: 'transmit', text: '' }],
  ],
  [/^on its end a client gives nothing where ended is due$/, [{ type: 'ended' }], [], { do: 'closed' }],
  [/^on a PSK a client/, [{ type: 'ready' }], [], { do: 'psk' }],
  [/^on HANDSHAKE a client/, [{ type: 'ready' }], [], received({ msg_type: 'handshake', payload: {} })],
  [
    /^on message 2 a client/,
    [{ type: 'ready' }],
    [],
    received({ msg_type: 'shake', payload: { noise: { msg: '' } } }),
  ],
  [/^on another envelope a client/, [{ type: 'ready' }], [], received({ msg_type: 'bus', payload: {} })],
  [/^on a message a client/, [{ type: 'ready' }], [], { do: 'receive', bytes: '00' }],
];

test('says what a session does wrong in a step, in the same words wherever it is the same', () => {
  const hello = received({ msg_type: 'hello', payload: {} });
  const point = { step: 1, isHub: false, flags: [] };
  for (const [sentence, expected, got, step = hello] of SAID) {
    assert.match(saidOfEvents({ ...point, steps: [{ do: 'open' }, step] }, expected, got)!.says, sentence);
  }
  const steps = [
    { do: 'start', events: [{ type: 'ready' }] },
    { do: 'receive', bytes: '00' },
  ];
  assert.match(
    saidOfEvents({ ...point, steps }, [{ type: 'message' }], [])!.says,
    /^on a sealed message a client/,
  );
  const noise = { msg: '', pattern: 'XXpsk2' };
  const first = received({ msg_type: 'shake', payload: { noise } });
  assert.match(
    saidOfEvents({ ...point, isHub: true, steps: [first, first] }, [], [{ type: 'ready' }])!.says,
    /^on message 1 a hub/,
  );
  assert.is(saidOfEvents({ ...point, steps: [hello, hello] }, [], closing('psk-differs')), undefined);
});

test('names neither the prologue of a hub that opens no message 1, nor the node id of a client that finds no pin', async () => {
  const refuses = session((events, step, test) =>
    isHub(test) && /"pattern"/.test(String(step.text)) && events.some(({ type }) => type === 'transmit')
      ? closing('prologue-differs')
      : undefined,
  );
  assert.equal(await causesWith('session', refuses), []);
  const finds = eachEvent((event) => replaced(event, 'KKpsk0', 'XXpsk2'));
  const causes = await causesWith('session', finds);
  assert.equal(
    causes.filter((cause) => /^(?:node id|pins): /.test(cause)),
    [],
  );
});

test('names one counter for both directions, if what does not open after sealing opens before', async () => {
  const respond = createAdapter();
  let hasSealed = false;
  const send = async (request: Fields): Promise<Fields> => {
    if (request.op === 'handshake') hasSealed = false;
    if (request.op === 'seal') hasSealed = true;
    if (request.op === 'open' && hasSealed)
      return { results: (request.messages as unknown[]).map(() => ({ error: 'not-authentic' })) };
    return JSON.parse(JSON.stringify(respond({ id: 1, ...request })));
  };
  const only = ['handshake-3'];
  const [verdict] = await runVectors({ adapter: { send, stop: async () => {} }, only });
  assert.match(verdict!.failure!.causes.join(), /^nonce: one counter serves both directions/);
});

const LOST: readonly string[] = ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'];

test('names the cause of no connection that is ignored, and does not name a close code that there is not', async () => {
  const causes = await causesWith(
    'session',
    eachEvent((event) => (LOST.includes(String(event.error)) ? { ...event, error: 'dropped' } : event)),
  );
  assert.ok(causes.some((cause) => cause.startsWith('endings: the cause for which there is no connection')));
  assert.not.match(causes.join(), /undefined/);
});

test('does not say which repeats are refused where only the second HELLO is', async () => {
  const isSecond = (test: Vector, step: Fields): boolean =>
    test.flags.includes('LatestHello') && test.steps.indexOf(step) === 2;
  const refuses = session((_events, step, test) =>
    isSecond(test, step) ? closing('unexpected-message') : undefined,
  );
  assert.equal(
    (await causesWith('session', refuses)).map((cause) => cause.split(':')[0]),
    ['HELLO', 'repeats'],
  );
  const answers = session((_events, step, test) => (isSecond(test, step) ? [{ type: 'ready' }] : undefined));
  assert.equal(await causesWith('session', answers), []);
});

test('does not say that a hub is ready early where it is ready twice', async () => {
  const twice = session((events, _step, test) =>
    isHub(test) && events.at(-1)?.type === 'ready' ? [...events, events.at(-1)!] : undefined,
  );
  assert.equal(await causesWith('session', twice), []);
});

test('names no flag where a topic that depends on one is wrong in another way', async () => {
  const causes = await causesWith('topics', (test) =>
    test.flags.includes('Word') ? { ...test, status: `${test.status}/x` } : undefined,
  );
  assert.equal(
    causes.filter((cause) => cause.startsWith('flags')),
    [],
  );
});

test('names the part of the head of a binary message that is wrong', () => {
  // The first bit that is set, no version, the type 1, no compression, 2 bytes of metadata: {}.
  const right = '82027b7d';
  for (const [cause, message] of [
    ['binary: 1 zeros come before the first bit', '41013dbe80'],
    ['binary: the bit that tells of a version is 1', 'c2027b7d'],
    ['binary: the code of the type is 2; it is 1', '84027b7d'],
    ['binary: the bit that tells compression is 1', '83027b7d'],
    ['binary: the length of the metadata is wrong', '82037b7d'],
  ] as const) {
    const [found] = mistakesInBinary({ message: right } as unknown as Vector, { message });
    assert.ok(found?.startsWith(cause), found);
  }
  for (const message of ['82027b7d00', '0000', undefined])
    assert.equal(mistakesInBinary({ message: right } as unknown as Vector, { message }), []);
});

test('says how the tokens of canonical JSON differ, where no known mistake does', () => {
  const said = (right: string, got: string): { says?: string; gist?: string } =>
    saidOfJson(Buffer.from(right).toString('hex'), Buffer.from(got).toString('hex'));
  assert.match(said('{"a":1,"b":2}', '{"b":2,"a":1}').says!, /^keys: they stand in another order/);
  assert.match(said('[2,1]', '[1,2]').says!, /^lists: their items stand in another order/);
  assert.match(said('{"a":[1]}', '{"a":1[]}').says!, /^lists/);
  assert.match(said('{"a":{}}', '{"a":[]}').says!, /^\[ is written where \{ is due$/);
  assert.match(said('["\\"a"]', '["a"]').gist!, /^strings: /);
  assert.match(said('[1.0]', '[1]').gist!, /^numbers: /);
  assert.match(said('{"a":1}', '{}').gist!, /^something is left out/);
  assert.match(said('[]', '[1]').gist!, /^something is added/);
  assert.equal(said('[1]', ''), {});
  assert.equal(said('[1]', ' [1]'), {});
  assert.equal(said(`["${'a'.repeat(30)}"]`, '["b"]').says, undefined);
});

test('says that random bytes may run out only where the words are an implementation’s own', () => {
  const vector = { random: [], results: [{ decision: { do: 'dial', after: 0 } }] } as unknown as Vector;
  assert.match(mistakesInPauses(vector, { error: 'raised StopIteration' }).join(), /random bytes run out/);
  assert.equal(mistakesInPauses(vector, { error: 'bad-random' }), []);
  const enough = { ...vector, random: ['000001'] } as unknown as Vector;
  assert.equal(mistakesInPauses(enough, { error: 'raised StopIteration' }), []);
});

test('names a text that is sent although it is not JSON', async () => {
  const causes = await causesWith('session', ({ steps }, at) =>
    steps[at].error === 'not-json' ? { messages: [] } : undefined,
  );
  assert.is(causes.length, 1);
  assert.match(causes[0]!, /^send: a text that is not JSON/);
});

test('names no suspect pin where XXpsk2 is taken without an offer, and no announcement that only lacks fields', async () => {
  const noise = { pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: '' };
  const text = JSON.stringify({ msg_type: 'shake', payload: { noise } });
  const takes = session((events, _step, test) =>
    test.steps[0].suspects !== undefined && endsWith(events, 'no-common-pattern')
      ? [{ type: 'transmit', text }]
      : undefined,
  );
  assert.equal(await causesWith('session', takes), []);
  const lacks = eachEvent((event, step) =>
    step.do === 'start' ? replaced(event, '"pubkey":null,', '') : event,
  );
  const causes = await causesWith('session', lacks);
  assert.equal(
    causes.filter((cause) => cause.startsWith('announcement: ')),
    [],
  );
});

test('names no announcement where a hub changes a field of its HELLO', async () => {
  const changes = eachEvent((event, step, test) =>
    step.do === 'start' && isHub(test) ? replaced(event, '"peer":', '"pear":') : event,
  );
  const causes = await causesWith('session', changes);
  assert.equal(
    causes.filter((cause) => cause.startsWith('announcement: ')),
    [],
  );
});

/** Whether a chunk that is not the last one is short. */
const isShort = ({ marker, length, bytes = '' }: Fields): boolean => {
  const [kind, size] = [
    marker ?? Number.parseInt(String(bytes).slice(0, 2), 16),
    length ?? String(bytes).length / 2 - 1,
  ];
  return Number(kind) > 1 && kind !== 5 && Number(size) > 0 && Number(size) < 65000;
};
const lengthOf = (frames: readonly Fields[]): number =>
  frames.reduce((sum, { length }) => sum + Number(length), 0);

function inChunksOf64000(kind: string, length: number): Fields | undefined {
  if (length <= 64000) return undefined;
  const count = Math.ceil(length / 64000);
  const first = kind === 'json' ? 2 : 3;
  const frames = Array.from({ length: count }, (_, i) => ({
    marker: i === 0 ? first : i === count - 1 ? 5 : 4,
    length: i === count - 1 ? length - 64000 * i : 64000,
  }));
  return { frames };
}

/** The results of messages whose tags are not checked: each opens to nothing. */
function unchecked({ results, messages, flags }: Vector): Fields | undefined {
  if (!flags.includes('FlippedBit') && !flags.includes('WrongKey')) return undefined;
  return {
    results: results.map((result: Fields) => (result.error === undefined ? result : { plaintext: '' })),
    messages,
  };
}

/** The issued topics, used as they are. */
const asIssued = ({ mqtt }: Vector): Fields => ({
  publish: mqtt.c2s_topic ?? 'a',
  subscribe: mqtt.s2c_topic ?? 'a',
  status: mqtt.status_topic ?? 'a',
});

const NUMBER = /"(default_port|qos)":"([^"]*)"/;

/** An identity whose port, or QoS, is read from a string in another way. */
function withNumber({ text, identity }: Vector, read: (text: string) => number): Fields | undefined {
  const [, name, value] = NUMBER.exec(text) ?? [];
  if (value === undefined || identity === undefined) return undefined;
  const number = read(JSON.parse(`"${value}"`));
  const isPort = name === 'default_port';
  if (!Number.isInteger(number) || number < (isPort ? 1 : 0) || number > (isPort ? 65535 : 2))
    return undefined;
  const changed = isPort ? { defaultPort: number } : { mqtt: { ...identity.mqtt, qos: number } };
  return { identity: { ...identity, ...changed }, redacted: {} };
}

const isSpaced = (text: unknown): boolean => typeof text === 'string' && /[\f\v]/.test(text);

const OTHER_MISTAKES: readonly (readonly [operation: string, cause: string, answer: Answer])[] = [
  [
    'canonical-json',
    'JSON: form feed and vertical tab between tokens are accepted',
    ({ text, error }) => (error !== undefined && isSpaced(text) ? { canonical: '6e756c6c' } : undefined),
  ],
  [
    'canonical-json',
    'JSON: hexadecimal numbers are accepted',
    ({ comment }) => (comment === 'hexadecimal' ? { canonical: '6e756c6c' } : undefined),
  ],
  [
    'canonical-json',
    'JSON: longer forms of characters in UTF-8 are accepted',
    ({ bytes }) =>
      /^(?:..)*(?:c[01]|e0[89]|f08)/.test(String(bytes)) ? { canonical: '6e756c6c' } : undefined,
  ],
  ['open', 'tag: a message that does not authenticate is taken', unchecked],
  [
    'reassemble',
    'reassembly: a message ends before its first zero byte',
    ({ events: [event, ...others], frames: [{ offset }] }) =>
      event?.type === 'message' && event.length > 0 && offset === 0
        ? { events: [{ ...event, length: 0 }, ...others] }
        : undefined,
  ],
  [
    'topics',
    'topics: one is in scope if its text begins with the prefix',
    (test) => (/^a level that only starts like the prefix/.test(test.comment) ? asIssued(test) : undefined),
  ],
  [
    'topics',
    'topics: the client’s own level is looked for as a part of the text',
    (test) =>
      /^(?:a level that only starts like the key|the key inside a level)/.test(test.comment)
        ? asIssued(test)
        : undefined,
  ],
  [
    'identity',
    'numbers: one in a string is read up to the first character that is no digit',
    (test) => withNumber(test, (text) => Number.parseInt(text, 10)),
  ],
  [
    'identity',
    'numbers: one in a string is read as a number of JavaScript',
    (test) => withNumber(test, (text) => (text === '' ? Number.NaN : Number(text))),
  ],
  [
    'identity',
    'numbers: one in a string is read with leading zeros',
    (test) => withNumber(test, (text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN)),
  ],
  [
    'canonical-json',
    'JSON: the escape \\/ is refused',
    ({ text, error }) =>
      error === undefined && /(?<!\\)\\\//.test(text) ? { error: 'bad-json' } : undefined,
  ],
  [
    'split',
    'markers: the first chunk of a binary message has 2',
    ({ kind, frames }) =>
      kind === 'binary' && frames.length > 1
        ? { frames: [{ ...frames[0], marker: 2 }, ...frames.slice(1)] }
        : undefined,
  ],
  [
    'reassemble',
    'chunks: each is decoded as UTF-8 by itself',
    ({ events, frames }) =>
      events[0]?.kind === 'json' &&
      frames.some(({ bytes }: Fields) => typeof bytes === 'string' && !isUtf8(hex(bytes.slice(2))))
        ? { events: [], error: 'bad-utf8' }
        : undefined,
  ],
  [
    'reassemble',
    'frame: a chunk of less than 65000 bytes is refused',
    ({ error, frames }) =>
      error === undefined && frames.some(isShort) ? { events: [], error: 'bad-length' } : undefined,
  ],
  [
    'reassemble',
    'cap: a message is dropped at once',
    ({ events: [event], frames }) =>
      event?.reason === 'too-large' && frames.length > 1
        ? { events: [{ ...event, length: event.length - 1 }], error: 'chunk-without-start' }
        : undefined,
  ],
  [
    'reassemble',
    'cap: the length of a dropped message is too small',
    ({ events: [event] }) =>
      event?.reason === 'too-large' ? { events: [{ ...event, length: event.length - 1 }] } : undefined,
  ],
  [
    'split',
    'chunk limit: chunks hold 64000 bytes',
    ({ kind, frames }) => inChunksOf64000(kind, lengthOf(frames)),
  ],
  [
    'authorization',
    'authorization: an address without a path gets none',
    ({ address, url }) =>
      url !== undefined && !/^\w+:\/\/[^/?]*\//.test(address) ? { url: url.replace('/?', '?') } : undefined,
  ],
];

for (const [operation, cause, answer] of OTHER_MISTAKES) {
  test(`names, and nothing else: ${cause}`, async () => {
    const causes = await causesWith(operation, answer);
    assert.ok(causes.length > 0 && causes.every((other) => other.startsWith(cause)), causes.join('\n'));
  });
}

test.run();
