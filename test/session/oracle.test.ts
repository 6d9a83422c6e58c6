/**
 * An impostor of the hub that does not know the password, and sends a message 2 that opens under many guessed PSKs: what the
 * client does next must not tell whether one of them is right.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { CipherName } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type CryptoProvider, HubSession, type Keyring, storePsk, updateKeyring } from '../../src/index.ts';
import { CLIENT_KEY, HUB_KEY, HUB_STATIC, NODE_ID } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import { find } from '../world/pair.ts';
import { type Guess, sealForAll } from './many-keys.ts';
import { type Peer, WatchedDevice, type WatchedOptions } from './observed-device.ts';

const IMPOSTOR_STATIC = new Uint8Array(32).fill(7);
const TAG_LENGTH = 16;

function guessed(number: number): Uint8Array {
  return nodeCrypto.sha256(Buffer.from(`password ${number}`));
}

/** As many guesses as fit into message 2, with 16 bytes for each. */
const FITTING = 4;

interface Attack {
  readonly cipher: CipherName;
  readonly guesses: number;
  readonly staticKey?: Uint8Array;
  readonly offersKk?: boolean;
}

/** The impostor. It answers each message 1 with a ciphertext that opens under every guess. */
class Impostor implements Peer {
  /** How many guesses each of its messages 2 held, as far as they open. */
  readonly opened: number[] = [];
  readonly #attack: Attack;
  readonly #answers = new Map<string, string>();

  constructor(attack: Attack) {
    this.#attack = attack;
  }

  start(): Data[] {
    return this.#hub(guessed(0), nodeCrypto)
      .start()
      .map((event) => (event as { data: Data }).data);
  }

  receive(message1: Data): Data[] {
    const key = String(message1);
    const answer = this.#answers.get(key) ?? this.#answer(message1);
    this.#answers.set(key, answer); // the same message 1, the same answer: it takes a while
    return [answer];
  }

  #answer(message1: Data): string {
    const { cipher, guesses: count } = this.#attack;
    const guesses: Guess[] = [];
    let envelope = { payload: { noise: { msg: '' } } };
    let payloadLength = 0;
    for (let i = 0; i < count; i++) {
      // A hub with this guess as its PSK seals the payload of message 2 last. All before it is the same for all guesses.
      let last: Guess | undefined;
      const watched = watching((guess, length) => {
        last = guess;
        payloadLength = length;
      });
      const hub = this.#hub(guessed(i), watched);
      hub.start();
      envelope = JSON.parse(find(hub.receive(message1), 'transmit').data as string);
      guesses.push(last!);
    }
    const message2 = Buffer.from(envelope.payload.noise.msg, 'hex');
    const sealed = sealForAll(cipher, guesses);
    const opens = ({ key, associatedData }: Guess): boolean =>
      nodeCrypto.ciphers[cipher]!(key).open(new Uint8Array(12), associatedData, sealed) !== undefined;
    this.opened.push(guesses.filter(opens).length);
    const before = message2.subarray(0, message2.length - payloadLength - TAG_LENGTH);
    envelope.payload.noise.msg = Buffer.concat([before, sealed]).toString('hex');
    return JSON.stringify(envelope);
  }

  #hub(psk: Uint8Array, crypto: CryptoProvider): HubSession {
    const { staticKey = IMPOSTOR_STATIC, offersKk } = this.#attack;
    return new HubSession({
      crypto,
      nodeId: NODE_ID,
      staticKey,
      psk,
      clientKey: offersKk ? CLIENT_KEY : undefined,
      randomBytes: (length) => new Uint8Array(length).fill(0x24),
    });
  }
}

/** Cryptography that tells with what each payload is sealed, and that reads `{}` in all that it opens. */
function watching(seals: (guess: Guess, length: number) => void): CryptoProvider {
  const watch = (name: CipherName) => (key: Uint8Array) => {
    const cipher = nodeCrypto.ciphers[name]!(key);
    const kept = key.slice();
    return {
      seal(nonce: Uint8Array, associatedData: Uint8Array, plaintext: Uint8Array): Uint8Array {
        seals({ key: kept, associatedData: associatedData.slice() }, plaintext.length);
        return cipher.seal(nonce, associatedData, plaintext);
      },
      open: (_nonce: Uint8Array, _associatedData: Uint8Array, sealed: Uint8Array): Uint8Array =>
        new Uint8Array(Buffer.from('{}'.padEnd(sealed.length - TAG_LENGTH))),
    };
  };
  return { ...nodeCrypto, ciphers: { ChaChaPoly: watch('ChaChaPoly'), AESGCM: watch('AESGCM') } };
}

const pinned = (keyring: Keyring): Keyring =>
  updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY });

/** What a client does on four connections to the impostor, or until it asks a person, whatever its PSK is. */
function courseOf(
  attack: Attack,
  impostor: Impostor,
  psk: Uint8Array,
  options: Omit<WatchedOptions, 'crypto' | 'psk'>,
  stores: 'none' | 'derived' | 'provisioned',
): string[] {
  const { cipher } = attack;
  const device = new WatchedDevice({
    ...options,
    crypto: { ...nodeCrypto, ciphers: { [cipher]: nodeCrypto.ciphers[cipher] } },
    psk,
    keyring: (fresh) => {
      const keyring = options.keyring?.(fresh) ?? fresh;
      if (stores === 'none') return keyring;
      return storePsk(keyring, NODE_ID, psk, { isProvisioned: stores === 'provisioned' });
    },
  });
  const hex = Buffer.from(psk).toString('hex');
  for (let i = 0; i < 4; i++) {
    const decision = device.connect(impostor);
    device.log.push(device.stored.split(hex).join('the PSK'));
    if (decision.do === 'ask') break;
  }
  return device.log;
}

/** Asserts that the same follows, whether the first guess, the last one or none is right. Returns what follows. */
function assertSilent(
  attack: Attack,
  options: Omit<WatchedOptions, 'crypto' | 'psk'> = {},
  stores: Parameters<typeof courseOf>[4] = 'none',
): string[] {
  const impostor = new Impostor(attack);
  const course = (psk: Uint8Array): string[] => courseOf(attack, impostor, psk, options, stores);
  const none = course(guessed(-1));
  assert.equal(course(guessed(0)), none);
  assert.equal(course(guessed(attack.guesses - 1)), none);
  assert.ok(impostor.opened.length > 0);
  for (const count of impostor.opened) assert.is(count, attack.guesses);
  assert.not.ok(none.includes('ready'));
  return none;
}

for (const cipher of ['AESGCM', 'ChaChaPoly'] as const) {
  const guesses = FITTING;
  const codeIn = (log: string[], code: string): boolean => log.includes(`close 1008 ${code}`);

  for (const stores of ['none', 'derived', 'provisioned'] as const) {
    test(`${cipher}: ${guesses} guesses in one message 2 reveal nothing to an impostor (stored PSK: ${stores})`, () => {
      assert.ok(codeIn(assertSilent({ cipher, guesses }, {}, stores), 'psk-differs'));
    });
  }

  test(`${cipher}: nor do they if the hub is pinned and the impostor offers only XXpsk2`, () => {
    assert.ok(codeIn(assertSilent({ cipher, guesses }, { keyring: pinned }, 'derived'), 'psk-differs'));
  });

  for (const onKkFailure of ['replace-pin', 'keep-pin'] as const) {
    test(`${cipher}: nor does KKpsk0, if the impostor has the private key of the hub (${onKkFailure})`, () => {
      const attack: Attack = { cipher, guesses, staticKey: HUB_STATIC, offersKk: true };
      const log = assertSilent(attack, { keyring: pinned, onKkFailure }, 'derived');
      assert.ok(codeIn(log, 'kk-failed') && codeIn(log, 'psk-differs'));
    });
  }
}

test('more guesses are refused before any of them is tried', () => {
  const log = assertSilent({ cipher: 'AESGCM', guesses: FITTING + 1 });
  assert.ok(log.includes('close 1008 message-too-long'), log.join('\n'));
});

test.run();
