/** The table of docs/reference/api/crypto.md: which suites each provider has. */
import { pskCrypto } from '../bundles/psk.ts';
import type { CryptoProvider } from '../src/crypto/crypto.ts';
import { deviceCrypto } from '../src/crypto/device.ts';
import { jsCrypto } from '../src/crypto/js.ts';
import { nobleCrypto } from '../src/crypto/noble.ts';
import { nobleCryptoWithAesGcm } from '../src/crypto/noble-aesgcm.ts';
import { nodeCrypto } from '../src/crypto/node.ts';
import { suitesOf } from '../src/session/negotiation.ts';
import { table } from './draw.ts';

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
