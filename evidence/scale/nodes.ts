/**
 * Measures what connections, short messages and idle sessions cost in each Node.js that is supported, and prints one table. Each cell is
 * the time of hub-protocol divided by the time of what it is compared with, and the time of hub-protocol itself; or a size.
 *
 *     evidence/scale/nodes          some ten minutes
 *     evidence/scale/nodes --goals  what users wait for and pay for, with goals, also in Bun
 *     evidence/scale/nodes --write  draws the table of docs/evidence/scale.md, too
 */
import { execFileSync } from 'node:child_process';
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { jsCrypto } from '../../dist/crypto/js.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { nodeCrypto, randomBytes } from '../../dist/crypto/node.js';
import {
  buildUtterance,
  type CipherFactory,
  type CryptoProvider,
  type Pattern,
  parseJson,
  RequestScheduler,
} from '../../dist/index.js';
import { jsonToBytes } from '../../dist/wire/write-json.js';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { packCopy } from '../../tools/pack.ts';
import { connect, handshake, newKeys } from './both-ends.ts';
import { libp2pNoise, noiseHandshake, PATTERNS, rawNode } from './handshakes.ts';
import { calls, progress } from './paired.ts';
import { libsodium, sodiumNative } from './peers/index.js';
import { bytesOf, cellOf, compare, goalOf, type Row } from './rows.ts';
import { conversations, start, storm } from './sockets.ts';

const VERSIONS = ['20', '22', '24', '26'];
const BUN = 'Bun';
const self = fileURLToPath(import.meta.url);
const engineOf = (version: string): string => {
  const path = version === BUN ? '@oven/bun-linux-x64/bin/bun' : `node-${version}/bin/node`;
  return fileURLToPath(new URL(`../../test/package/runtimes/node_modules/${path}`, import.meta.url));
};

/** The version that peers/ has. */
const SOCKET_IO: string = JSON.parse(readFileSync(new URL('peers/package.json', import.meta.url), 'utf8'))
  .dependencies['socket.io-client'];

const KEY = randomBytes(32);
const NONCE = new Uint8Array(12);

/** Each is measured in a process of its own, since what V8 learned about a function in one would slow it down in the next. */
const CASES: readonly (() => Promise<Row[]>)[] = [
  ...PATTERNS.map((pattern) => () => connection(pattern)),
  ...PATTERNS.map((pattern) => () => withoutNode(pattern)),
  x25519,
  () => sealAndOpen(64),
  () => sealAndOpen(1024),
  json,
];

/** What a user waits for, or pays for. */
const GOALS: readonly (() => Promise<Row[]>)[] = [
  imports,
  () => start(values.installed),
  conversations,
  storm,
  firstConnections,
  idle,
  queue,
];

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    goals: { type: 'boolean', default: false },
    case: { type: 'string' },
    installed: { type: 'string', default: '' },
  },
});

const cases = values.goals ? GOALS : CASES;

async function measureAll(): Promise<void> {
  const installed = await install();
  const engines = values.goals ? [...VERSIONS, BUN] : VERSIONS;
  const names = engines.map(nameOf);
  const measured = engines.map((version, at) =>
    cases.map((_, i): Row[] => {
      progress(`${names[at]}: ${i + 1} of ${cases.length}`);
      const flags = version === BUN ? ['run'] : ['--expose-gc', '--import', 'tsx'];
      const args = [...flags, self, '--case', String(i), '--installed', installed];
      if (values.goals) args.push('--goals');
      return JSON.parse(execFileSync(engineOf(version), args, { encoding: 'utf8' }));
    }),
  );
  rmSync(installed, { recursive: true });
  progress('');
  const rows = measured[0]!
    .flat()
    .map((row, i) => [
      row.what,
      row.beside ?? '',
      ...(values.goals ? [goalOf(row)] : []),
      ...measured.map((each) => cellOf(each.flat()[i]!)),
    ]);
  const goal = values.goals ? ['goal'] : [];
  const drawn = table(['', 'compared with', ...goal, ...names], rows);
  console.log(drawn);
  if (values.write) writeMeasured('docs/evidence/scale.md', { [values.goals ? 'goals' : 'nodes']: drawn });
}

/** With its version, and that of OpenSSL. */
function nameOf(version: string): string {
  const versionOf = (name: string): string =>
    execFileSync(engineOf(version), ['-p', `process.versions.${name}`], { encoding: 'utf8' }).trim();
  return version === BUN
    ? `${BUN} ${versionOf('bun')}`
    : `Node ${versionOf('node')}, OpenSSL ${versionOf('openssl')}`;
}

/** Installs the packages as they are published, and returns the folder. */
async function install(): Promise<string> {
  progress('packing the packages');
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-nodes-'));
  const packed = await packCopy(folder);
  const paths = packed.filter(({ name }) => name !== 'hub-protocol-judge').map(({ path }) => path);
  if (values.goals) paths.push(`socket.io-client@${SOCKET_IO}`);
  writeFileSync(join(folder, 'package.json'), '{}');
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', ...paths], { cwd: folder });
  return folder;
}

/** The time of the processor that a process takes until it has imported a package. */
async function imports(): Promise<Row[]> {
  const timeOf = (line: string): number => {
    const says = 'const { userCPUTime, systemCPUTime } = process.resourceUsage();';
    const program = `${line}\n${says}\nconsole.log((userCPUTime + systemCPUTime) / 1000);`;
    const options = { cwd: values.installed, encoding: 'utf8' } as const;
    return Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], options));
  };
  const importing = (name: string) => (count: number) => {
    let ms = 0;
    for (let i = 0; i < count; i++) ms += timeOf(`import '${name}';`) - timeOf('');
    return ms;
  };
  const peer = { name: 'import of ws', time: importing('ws') };
  return compare('import of `hub-protocol-client`', importing('hub-protocol-client'), [peer], 10);
}

/** What a process pays until its code is compiled. */
async function firstConnections(): Promise<Row[]> {
  const hundred = calls(() => connect('XXpsk2'));
  const [first, ...later] = Array.from({ length: 10 }, () => (hundred(100) as number) / 100);
  const [ms, besideMs] = [first!, later.at(-1)!];
  const beside = 'connections 901 to 1000';
  return [{ what: 'connections 1 to 100, XXpsk2', ms, beside, ratio: ms / besideMs }];
}

/** Whole sessions, from `start()` to both `ready`, with static keys that were imported before. */
function connection(pattern: Pattern): Promise<Row[]> {
  const ours = calls(() => connect(pattern));
  ours(3000);
  const peers = [rawNode(pattern), ...(pattern === 'XXpsk2' ? [noiseHandshake(), libp2pNoise()] : [])];
  return compare(`connection, ${pattern}, \`nodeCrypto\``, ours, peers, 15, 100);
}

/** The Noise handshake alone, in JavaScript. */
function withoutNode(pattern: Pattern): Promise<Row[]> {
  const [own, peer] = [newKeys(nobleCrypto), newKeys(nobleCrypto)];
  const through = (crypto: CryptoProvider) => calls(() => handshake(crypto, pattern, own, peer));
  const peers = [
    { name: '`nobleCrypto`', time: through(nobleCrypto) },
    ...(pattern === 'XXpsk2' ? [libp2pNoise()] : []),
  ];
  return compare(`handshake, ${pattern}, \`jsCrypto\``, through(jsCrypto), peers, 4);
}

/** ChaChaPoly of node:crypto for messages of all lengths. */
const openSsl: CipherFactory = (key) => ({
  seal(nonce, associatedData, plaintext) {
    const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
    cipher.setAAD(associatedData, { plaintextLength: plaintext.length });
    const ciphertext = cipher.update(plaintext);
    cipher.final();
    return new Uint8Array(Buffer.concat([ciphertext, cipher.getAuthTag()]));
  },
  open(nonce, associatedData, sealed) {
    const end = sealed.length - 16;
    const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 });
    decipher.setAAD(associatedData, { plaintextLength: end });
    decipher.setAuthTag(sealed.subarray(end));
    const plaintext = decipher.update(sealed.subarray(0, end));
    decipher.final();
    return new Uint8Array(plaintext);
  },
});

/** A message sealed and opened by the bare cipher. */
async function sealAndOpen(length: number): Promise<Row[]> {
  await libsodium.ready;
  const plaintext = randomBytes(length);
  const empty = new Uint8Array(0);
  const through = (factory: CipherFactory) => {
    const cipher = factory(KEY);
    return calls(() => cipher.open(NONCE, empty, cipher.seal(NONCE, empty, plaintext)));
  };
  const native = calls(() => {
    const [sealed, opened] = [new Uint8Array(length + 16), new Uint8Array(length)];
    sodiumNative.crypto_aead_chacha20poly1305_ietf_encrypt(sealed, plaintext, null, null, NONCE, KEY);
    sodiumNative.crypto_aead_chacha20poly1305_ietf_decrypt(opened, null, sealed, null, NONCE, KEY);
  });
  const webAssembly = calls(() => {
    const sealed = libsodium.crypto_aead_chacha20poly1305_ietf_encrypt(plaintext, null, null, NONCE, KEY);
    libsodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, sealed, null, NONCE, KEY);
  });
  const peers = [
    { name: 'node:crypto', time: through(openSsl) },
    { name: '`nobleCrypto`', time: through(nobleCrypto.ciphers.ChaChaPoly!) },
    { name: 'libsodium, WebAssembly', time: webAssembly },
    { name: 'sodium-native', time: native },
  ];
  return compare(
    `seal and open ${length} bytes, \`nodeCrypto\``,
    through(nodeCrypto.ciphers.ChaChaPoly!),
    peers,
    5,
  );
}

const SPEECH = {
  msg_type: 'bus',
  payload: {
    type: 'speak',
    data: { utterance: 'It is warm. '.repeat(64), expect_response: false, meta: { skill: 'weather', n: 7 } },
    context: { request_id: 'abc-123', session: { session_id: 'default', lang: 'en-us' }, source: 'hub' },
  },
  metadata: {},
  route: [],
};
const LIST = {
  list: Array.from({ length: 19 }, (_, i) => ({ id: i, name: `item ${i}`, tags: ['a'], at: { x: 3 * i } })),
};

const encoder = new TextEncoder();

/** JSON of 1 KiB. */
async function json(): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, value] of Object.entries({
    'a message of 1 KiB': SPEECH,
    '1 KiB of small objects': LIST,
  })) {
    const text = JSON.stringify(value);
    const parse = { name: '`JSON.parse`', time: calls(() => JSON.parse(text)) };
    rows.push(
      ...(await compare(
        `${name} parsed`,
        calls(() => parseJson(text)),
        [parse],
        3,
      )),
    );
    const stringify = {
      name: '`JSON.stringify`, encoded',
      time: calls(() => encoder.encode(JSON.stringify(value))),
    };
    rows.push(
      ...(await compare(
        `${name} written`,
        calls(() => jsonToBytes(value, 1, 16)),
        [stringify],
        3,
      )),
    );
  }
  return rows;
}

/** What an idle session takes. */
async function idle(): Promise<Row[]> {
  return (['client', 'hub'] as const).flatMap((side) => {
    const { used, rss } = bytesOf(10_000, () => connect()[side]);
    const what = `an idle session of a ${side}`;
    return [
      { what, bytes: used },
      { what: `${what}, of the process`, bytes: rss },
    ];
  });
}

const WAITING = 10_000;

/** The time until so many requests of a session are queued behind the first one. */
async function queue(): Promise<Row[]> {
  const timeOf = (): number => {
    const envelopes = Array.from({ length: WAITING }, (_, i) =>
      buildUtterance({ text: 'hello', requestId: String(i), sessionId: 'lobby' }),
    );
    const scheduler = new RequestScheduler();
    const began = performance.now();
    for (const envelope of envelopes) scheduler.request(envelope, 0);
    return performance.now() - began;
  };
  timeOf();
  return [{ what: '10,000 requests wait in a queue', ms: timeOf() }];
}

async function x25519(): Promise<Row[]> {
  await libsodium.ready;
  const publicKey = jsCrypto.x25519.publicKey(randomBytes(32));
  const through = ({ x25519 }: CryptoProvider) => calls(() => x25519.sharedSecret(KEY, publicKey));
  const peers = [
    { name: '`nobleCrypto`', time: through(nobleCrypto) },
    { name: 'libsodium, WebAssembly', time: calls(() => libsodium.crypto_scalarmult(KEY, publicKey)) },
    {
      name: 'sodium-native',
      time: calls(() => sodiumNative.crypto_scalarmult(new Uint8Array(32), KEY, publicKey)),
    },
  ];
  return compare('X25519, `jsCrypto`', through(jsCrypto), peers, 4);
}

if (values.case !== undefined) console.log(JSON.stringify(await cases[Number(values.case)]!()));
else await measureAll();
