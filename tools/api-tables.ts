/** The tables of docs/reference/api/ that come from the code rather than from docstrings. */
import { readFileSync } from 'node:fs';
import { readVectorFile } from 'hub-protocol-judge/internals';
import { pskCrypto } from '../bundles/psk.ts';
import type { CryptoProvider } from '../src/crypto/crypto.ts';
import { deviceCrypto } from '../src/crypto/device.ts';
import { jsCrypto } from '../src/crypto/js.ts';
import { nobleCrypto } from '../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../src/crypto/node.ts';
import * as limits from '../src/limits.ts';
import { suitesOf } from '../src/session/negotiation.ts';
import { FILES } from './bundles.ts';
import { grouped, table } from './draw.ts';

const ROOT = new URL('..', import.meta.url);

// Which suites has this provider?

interface Provider {
  readonly from: string;
  readonly crypto: Partial<CryptoProvider>;
  readonly argon2id: string;
  readonly needs: string;
}

const FILE = (name: string): string => `[\`${name}\`](../devices.md#which-file)`;

const PROVIDERS: { readonly [name: string]: Provider } = {
  nodeCrypto: {
    from: '`hub-protocol/node`',
    crypto: nodeCrypto,
    argon2id: 'from Node.js 24.7 on',
    needs: 'Node.js, Bun, Deno; noble',
  },
  jsCrypto: { from: '`hub-protocol/js`', crypto: jsCrypto, argon2id: 'no', needs: 'nothing' },
  nobleCrypto: { from: '`hub-protocol/noble`', crypto: nobleCrypto, argon2id: 'no', needs: 'noble; BigInt' },
  nobleCryptoWithAesGcm: {
    from: '`hub-protocol/noble-aesgcm`',
    crypto: nobleCryptoWithAesGcm,
    argon2id: 'no',
    needs: 'noble; BigInt; 650 KB for tables',
  },
  deviceCrypto: {
    from: `${FILE('hub-protocol.js')}, ${FILE('hub-protocol.es5.js')}`,
    crypto: deviceCrypto,
    argon2id: 'no',
    needs: 'BigInt; in `hub-protocol.es5.js` the X25519 of `jsCrypto`, and nothing',
  },
  pskCrypto: {
    from: FILE('hub-protocol.psk.js'),
    crypto: pskCrypto,
    argon2id: 'no',
    needs: 'nothing; for `derivePsk` and `pskDerivation` only',
  },
};

export function providersTable(): string {
  const key = new Uint8Array(32);
  const rows = Object.entries(PROVIDERS).map(([name, { from, crypto, argon2id, needs }]) => {
    const { ciphers = {} } = crypto;
    const inPlace = Object.entries(ciphers).filter(([, make]) => make!(key).openInPlace !== undefined);
    return [
      `\`${name}\``,
      from,
      suitesOf({ ciphers })
        .map((suite) => `\`${suite}\``)
        .join(', ') || 'none',
      crypto.blake2b === undefined ? 'no' : 'yes',
      argon2id,
      inPlace.map(([cipher]) => cipher).join(', ') || 'no',
      needs,
    ];
  });
  return [
    table(
      [
        'Provider',
        'From',
        'Suites, the preferred one first',
        'BLAKE2b, for `derivePsk`',
        'Native Argon2id',
        'Opens in place',
        'Needs',
      ],
      rows,
    ),
    'Every hub must offer `25519_ChaChaPoly_SHA256`. A `deviceCrypto` has no BLAKE2b, since no device derives a PSK. To derive one ' +
      'with `jsCrypto`, pass `{ ...jsCrypto, blake2b: nobleBlake2b }`. For the AES of ' +
      'a chip, see [`examples/aes-gcm.ts`](../../../examples/aes-gcm.ts); for a private key that stays in one, ' +
      '[`examples/external-key.ts`](../../../examples/external-key.ts).',
  ].join('\n\n');
}

// Which lengths?

/** The lengths in bytes of the messages of a handshake with empty payloads, from the first vector of a pattern. */
function messageLengths(pattern: string): number[] {
  const tests = readVectorFile('handshake').testGroups.flatMap((group) => group.tests);
  const { messages } = tests.find((test) => test.pattern === pattern) as unknown as {
    messages: readonly { payload: string; message: string }[];
  };
  return messages.map(({ payload, message }) => (message.length - payload.length) / 2);
}

export function lengthsTable(): string {
  const { KEY_LENGTH, TAG_LENGTH, MAX_NOISE_MESSAGE, MAX_CHUNK } = limits;
  const lengths: [string, string][] = [
    ['private key, public key, shared secret (X25519)', `${KEY_LENGTH}`],
    ['PSK', `${KEY_LENGTH}`],
    ['`salt` of `psk-needed`: SHA-256 of the node id', `${KEY_LENGTH}`],
    ['pin: a static public key', `${KEY_LENGTH}`],
    ['`randomBytes` is asked for', `${KEY_LENGTH} once a session; 3 for each pause of a ConnectionPolicy`],
    ['handshake hash', `${KEY_LENGTH}`],
    ['nonce of a cipher', '12'],
    ['tag', `${TAG_LENGTH}`],
    ['marker of a frame', '1'],
    ['plaintext of a transport message', `at most ${grouped(MAX_NOISE_MESSAGE - TAG_LENGTH)}`],
    [
      'transport message',
      `${1 + TAG_LENGTH} to ${grouped(MAX_NOISE_MESSAGE)}; at most ${grouped(1 + MAX_CHUNK + TAG_LENGTH)} from this library`,
    ],
    ['an X25519 key, a PSK or a pin in JSON', `${2 * KEY_LENGTH} hex digits`],
    ['memory of one Argon2id for a PSK', `${grouped(64 * 1024 * 1024)}`],
  ];
  for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
    messageLengths(pattern).forEach((length, i) => {
      lengths.push([`message ${i + 1} of ${pattern}, plus its payload`, `${length}`]);
    });
  }
  return [
    'In bytes. [The protocol’s limits](../protocol.md#limits) are in its rules; a session takes a lower one for messages as its option ' +
      '`maxMessage`: see [`ClientOptions`](sessions.md#clientoptions).',
    table(['What', 'Bytes'], lengths),
  ].join('\n\n');
}

// Which file has which name?

/** The names that a single file exports, values and types. */
function exportsOf(file: string): Set<string> {
  const text = readFileSync(new URL(`dist/${file.replace(/js$/, 'd.ts')}`, ROOT), 'utf8');
  const [, list] = /^export \{ (.*) \};$/m.exec(text)!;
  return new Set(list!.split(', '));
}

/**
 * @param links - the public names, with links to them
 */
export function filesTable(links: ReadonlyMap<string, string>): string {
  const modules = FILES.filter(({ syntax }) => syntax === 'es2020');
  const exported = modules.map(({ name }) => exportsOf(name));
  const values = new Set<string>();
  for (const { name } of modules) {
    const code = readFileSync(new URL(`dist/${name}`, ROOT), 'utf8');
    for (const [, list] of code.matchAll(/export\{([^}]*)\}/g)) {
      for (const each of list!.split(',')) values.add(each.split(' as ').pop()!.trim());
    }
  }
  const rows = [...values]
    .sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))
    .map((name) => [
      links.get(name) ?? `\`${name}\``,
      ...exported.map((names) => (names.has(name) ? 'yes' : '')),
    ]);
  return [
    '[Which file](../devices.md#which-file) says which to copy, and what it needs. Types are in the `.d.ts` of the same name. A ' +
      'script has the same names as its module.',
    table(['Name', ...modules.map(({ name }) => `\`${name.replace('hub-protocol', '…')}\``)], rows),
  ].join('\n\n');
}
