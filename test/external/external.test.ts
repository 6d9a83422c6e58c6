/**
 * The runner of public vectors, on small files in their formats, made from our own vectors: what fails. `test/external/run` compares how
 * many pass with the table of vectors/README.md.
 */
import { spawnSync } from 'node:child_process';
import { hkdfSync } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as assert from 'uvu/assert';
import { ALL_PATTERNS, ALL_SUITES } from '../../src/noise/patterns.ts';
import { readVectors, type Vector } from '../world/vectors.ts';
import { counts, flip, rowOf, suiteWithFolder, write } from './files.ts';
import { main } from './main.ts';
import { run } from './run-vectors.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HANDSHAKES = readVectors('handshake', 'Handshake');
const transportHas = (vector: Vector, side: string) =>
  vector.transport.some(({ from }: { from: string }) => from === side);

/** One vector of each protocol, with transport messages from both sides. */
const FOUR = ALL_PATTERNS.flatMap((pattern) =>
  ALL_SUITES.map((suite) => {
    const its = HANDSHAKES.filter((vector) => vector.pattern === pattern && vector.suite === suite);
    return its.find((vector) => transportHas(vector, 'init') && transportHas(vector, 'resp'))!;
  }),
);

const test = suiteWithFolder('external');

interface Message {
  payload: string;
  ciphertext: string;
}

/** The messages of a transcript; transport messages take turns, beginning with the given side. */
function messagesOf(vector: Vector, first: 'init' | 'resp'): Message[] {
  const from = (side: string): Message[] =>
    vector.transport
      .filter((sent: { from: string }) => sent.from === side)
      .map(({ plaintext, message }: { [field: string]: string }) => ({
        payload: plaintext,
        ciphertext: message,
      }));
  const [sent, replies] = [from(first), from(first === 'init' ? 'resp' : 'init')];
  const turns = Array.from({ length: Math.min(sent.length, replies.length, 3) }, (_, i) => [
    sent[i]!,
    replies[i]!,
  ]);
  assert.ok(turns.length > 0);
  const handshake = vector.messages.map(({ payload, message }: { [field: string]: string }) => ({
    payload,
    ciphertext: message,
  }));
  return [...handshake, ...turns.flat()];
}

/** A transcript in the format of cacophony. */
function noiseJson(vector: Vector) {
  const knowsPeer = vector.pattern === 'KKpsk0';
  return {
    protocol_name: `Noise_${vector.pattern}_${vector.suite}`,
    init_prologue: vector.prologue,
    init_psks: [vector.psk],
    init_static: vector.initStatic,
    init_ephemeral: vector.initEphemeral,
    ...(knowsPeer && { init_remote_static: vector.respStaticPublic }),
    resp_prologue: vector.prologue,
    resp_psks: [vector.psk],
    resp_static: vector.respStatic,
    resp_ephemeral: vector.respEphemeral,
    ...(knowsPeer && { resp_remote_static: vector.initStaticPublic }),
    handshake_hash: vector.handshakeHash,
    messages: messagesOf(vector, vector.messages.length % 2 === 0 ? 'init' : 'resp'),
  };
}

/** A copy of a transcript with one message replaced. */
function withMessage(transcript: ReturnType<typeof noiseJson>, index: number, message: Message) {
  return { ...transcript, messages: transcript.messages.map((old, i) => (i === index ? message : old)) };
}

test('fails a transcript with one flipped digit anywhere', async ({ folder }) => {
  for (const vector of FOUR) {
    const right = noiseJson(vector);
    const messages = right.messages.flatMap((message, i) =>
      (['payload', 'ciphertext'] as const)
        .filter((field) => message[field] !== '')
        .map((field) => withMessage(right, i, { ...message, [field]: flip(message[field]) })),
    );
    const others = [
      { ...right, handshake_hash: flip(right.handshake_hash) },
      { ...right, init_psks: [flip(vector.psk)] },
      { ...right, resp_psks: [flip(vector.psk)] },
      { ...right, init_remote_static: flip(vector.respStaticPublic) },
      { ...right, resp_remote_static: flip(vector.initStaticPublic) },
      { ...right, messages: right.messages.slice(0, 1) },
      { ...right, init_psks: undefined },
    ];
    write(folder, { 'cacophony.txt': { vectors: [...messages, ...others] } });
    assert.equal(counts(await rowOf(folder)), [0, messages.length + others.length, {}]);
  }
});

/** A file in the format of Wycheproof, with one group. */
function wycheproof(algorithm: string, group: object, tests: object[]): object {
  const tested = tests.map((test, i) => ({ tcId: i + 1, comment: '', flags: [], result: 'valid', ...test }));
  return { algorithm, numberOfTests: tests.length, testGroups: [{ ...group, tests: tested }] };
}

const AEADS: [string, string][] = [
  ['CHACHA20-POLY1305', 'ChaChaPoly'],
  ['AES-GCM', 'AESGCM'],
];

for (const [algorithm, type] of AEADS) {
  const sizes = { type: 'AeadTest', keySize: 256, ivSize: 96, tagSize: 128 };
  const right = readVectors('rfc', type).map(
    ({ key, nonce, associatedData, plaintext, ciphertext, tag }) => ({
      key,
      iv: nonce,
      aad: associatedData,
      msg: plaintext,
      ct: ciphertext,
      tag,
    }),
  );
  const damaged = right.map((test) => ({ ...test, tag: flip(test.tag) }));

  test(`${algorithm}: fails tests with a wrong tag or a wrong result`, async ({ folder }) => {
    const accepted = right.map((test) => ({ ...test, result: 'invalid' }));
    write(folder, { 'aead.json': wycheproof(algorithm, sizes, [...damaged, ...accepted]) });
    assert.equal(counts(await rowOf(folder)), [0, 2 * right.length, {}]);
  });
}

const X25519 = readVectors('rfc', 'X25519').map(({ privateKey, publicKey, sharedSecret }) => ({
  private: privateKey,
  public: publicKey,
  shared: sharedSecret,
}));
const LOW_ORDER = {
  public: '00'.repeat(32),
  shared: '00'.repeat(32),
  result: 'acceptable',
  flags: ['LowOrderPublic'],
};
const CURVE = { type: 'XdhComp', curve: 'curve25519' };

test('X25519: fails tests with a wrong secret or a wrong claim of low order', async ({ folder }) => {
  const wrong = X25519.map((test) => ({ ...test, shared: flip(test.shared) }));
  const zero = { ...X25519[0], ...LOW_ORDER };
  const tests = [...wrong, { ...zero, shared: flip(zero.shared) }, { ...zero, public: X25519[0]!.public }];
  write(folder, { 'x25519.json': wycheproof('XDH', CURVE, tests) });
  assert.equal(counts(await rowOf(folder)), [0, tests.length, {}]);
});

const HMAC = readVectors('rfc', 'HmacSha256').map(({ key, message, mac }) => ({
  key,
  msg: message,
  tag: mac,
}));

test('HMAC-SHA-256: fails tests with a wrong tag or a wrong result', async ({ folder }) => {
  const wrong = HMAC.map((test) => ({ ...test, tag: flip(test.tag) }));
  const accepted = HMAC.map((test) => ({ ...test, result: 'invalid' }));
  write(folder, { 'hmac.json': wycheproof('HMACSHA256', { tagSize: 256 }, [...wrong, ...accepted]) });
  assert.equal(counts(await rowOf(folder)), [0, 2 * HMAC.length, {}]);
});

const SALT = '00'.repeat(32);
/** RFC 5869, with HMAC of Node.js: T(1) to T(3). */
function hkdf(ikm: string, salt: string): string {
  const output = hkdfSync('sha256', Buffer.from(ikm, 'hex'), Buffer.from(salt, 'hex'), '', 96);
  return Buffer.from(output).toString('hex');
}

test('HKDF-SHA-256: compares outputs, and skips those that Noise does not have', async ({ folder }) => {
  const [ikm, salt] = ['0b'.repeat(22), '01'.repeat(13)];
  const right = { ikm, salt, info: '', size: 96, okm: hkdf(ikm, salt) };
  const tests = [
    right,
    { ...right, size: 42, okm: right.okm.slice(0, 84) },
    { ...right, salt: SALT, okm: hkdf(ikm, SALT) },
    { ...right, okm: flip(right.okm) },
    { ...right, info: '00' },
    { ...right, size: 97 },
  ];
  write(folder, { 'hkdf.json': wycheproof('HKDF-SHA-256', {}, tests) });
  const skipped = { 'info, which Noise does not have': 1, 'more than three outputs': 1 };
  assert.equal(counts(await rowOf(folder)), [3, 1, skipped]);
});

test('shows a JSON suite in one row, with a note if the parser is stricter on purpose', async ({
  folder,
}) => {
  write(folder, {
    'y_number.json': '[1.0, 1e400]',
    'n_comment.json': '[1] // one',
    'i_read.json': '[-0]',
    'i_refused.json': '["\\ud800"]',
    'y_object_duplicated_key.json': '{"a":1,"a":2}',
  });
  const row = await rowOf(folder);
  assert.equal(counts(row), [5, 0, {}]);
  assert.is(row.files, 5);
  assert.equal([...row.remarks], [['stricter on purpose: duplicate keys are rejected', 1]]);
});

test('fails JSON files that are accepted or rejected contrary to their names', async ({ folder }) => {
  write(folder, {
    'y_comment.json': '[1] // one',
    'y_object_duplicated_key.json': '{"a":1,"b":2}',
    'n_number.json': '[1]',
  });
  assert.equal(counts(await rowOf(folder)), [0, 3, {}]);
});

test('recognises none of this project’s own vectors', async () => {
  assert.equal((await run([`${ROOT}vectors`])).rows, []);
});

/** Runs the command in this process. */
async function command(...paths: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { log, error } = console;
  const printed = { stdout: '', stderr: '' };
  console.log = (line: string) => (printed.stdout += `${line}\n`);
  console.error = (line: string) => (printed.stderr += `${line}\n`);
  try {
    return { status: await main(paths), ...printed };
  } finally {
    Object.assign(console, { log, error });
  }
}

test('the program shows expected and actual values and exits with 1 if something failed', async ({
  folder,
}) => {
  const wrong = X25519.map((test) => ({ ...test, shared: flip(test.shared) }));
  write(folder, { 'x25519.json': wycheproof('XDH', CURVE, wrong) });
  const args = ['--import', 'tsx', 'test/external/main.ts', join(folder, 'x25519.json')];
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const { status, stdout } = spawnSync(process.execPath, args, options);
  assert.is(status, 1);
  assert.match(stdout, `expected  ${wrong[0]!.shared}\n  got       ${X25519[0]!.shared}\n`);
  assert.match(stdout, `${wrong.length} failed, 0 passed.`);
});

test('the command lists the known formats and returns 2 if it recognises nothing', async ({ folder }) => {
  write(folder, { 'a.json': '{"vectors":[{"name":"x"}]}', 'b.json': '[]', 'c.txt': 'handshake\n', d: '' });
  for (const path of [folder, '--help']) {
    const { status, stderr } = await command(path);
    assert.is(status, 2);
    assert.match(stderr, 'github.com/C2SP/wycheproof');
  }
});

test.run();
