/**
 * Hubs of somebody who does not know the password, and who may know everything else, the private key of the hub included. A
 * message 2 can be made to open under many PSKs, and is noise under each. So each case runs twice: in one course message 2 does
 * not open, in the other it opens as noise. What the client sends, stores and asks is the same.
 */
import type { CipherName } from '../../../../src/crypto/crypto.ts';
import {
  type Closing,
  type CryptoProvider,
  createKeyring,
  HubSession,
  type Keyring,
  type Pattern,
  storePsk,
  updateKeyring,
} from '../../../../src/index.ts';
import { type Peer, WatchedDevice } from '../../../../test/session/observed-device.ts';
import { CLIENT_STATIC } from '../../../../test/world/keys.ts';
import type { Data } from '../../../../test/world/line.ts';
import { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { breach, tally } from '../law.ts';
import { type Item, tampered } from '../wire.ts';

const TAG_LENGTH = 16;
/** Where the payload of message 2 begins. */
const PAYLOAD_AT: { readonly [pattern in Pattern]: number } = { XXpsk2: 80, KKpsk0: 32 };
const NODE_IDS = ['hub-1', 'hub-1', 'hub-1', 'hub-2', '__proto__', 'x'.repeat(4096)];
const CLOSINGS: readonly Closing[] = ['timeout', 1000, 1006, 1008, { status: 401 }, { status: 503 }];
const TOY_CLIENT_KEY = toyCrypto.x25519.publicKey(CLIENT_STATIC);

export function outsiders(random: Random): void {
  const seed = random.next();
  const missed = courseOf(new Random(seed), false);
  const met = courseOf(new Random(seed), true);
  if (met !== missed) breach(`a guess that is right shows:\n${missed}\n---\n${met}`);
}

/** What a client does on some connections to an outsider. */
function courseOf(random: Random, meets: boolean): string {
  const psk = random.bytes(32);
  const hubStatic = random.bytes(32);
  const knowsHubKey = random.oneIn(3);
  const device = new WatchedDevice({
    crypto: openingNoise(meets, random.bytes(1024)),
    psk,
    keyring(fresh) {
      const keyring = random.oneIn(4) ? keptElsewhere(fresh) : fresh;
      return storing(random, keyring, psk, toyCrypto.x25519.publicKey(hubStatic));
    },
    onKkFailure: random.pick([undefined, 'replace-pin', 'keep-pin']),
    client: random.pick([{}, {}, { trust: 'pinned-only' }, { paced: true }]),
  });
  const recorded: Item[] = [];
  for (let i = 1 + random.below(5); i > 0; i--) {
    tally.sessions++;
    const { keyring } = device;
    const hub = outsider(random, knowsHubKey ? hubStatic : random.bytes(32), recorded);
    const decision = device.connect(hub, random.pick(CLOSINGS));
    device.log.push(device.stored);
    checkKept(keyring, device.keyring);
    if (decision.do === 'ask') device.resume();
  }
  return device.log.join('\n');
}

function storing(random: Random, fresh: Keyring, psk: Uint8Array, hubKey: Uint8Array): Keyring {
  let keyring = fresh;
  for (const nodeId of ['hub-1', 'hub-2']) {
    if (random.oneIn(2)) keyring = storePsk(keyring, nodeId, psk, { isProvisioned: random.oneIn(3) });
    const key = new Uint8Array(hubKey);
    if (random.oneIn(2)) keyring = updateKeyring(keyring, { type: 'pin', nodeId, key });
  }
  return keyring;
}

/** A keyring whose private key is kept elsewhere. */
function keptElsewhere({ accessKey }: Keyring): Keyring {
  return createKeyring({ accessKey, staticKey: { publicKey: TOY_CLIENT_KEY } });
}

/** Nobody has proved anything: nothing is new in the keyring, and nothing is gone. */
function checkKept(before: Keyring, after: Keyring): void {
  const pinsOf = ({ pins }: Keyring): string[] =>
    pins.map(({ nodeId, key }) => `${nodeId} ${Buffer.from(key).toString('hex')}`);
  if (pinsOf(after).join() !== pinsOf(before).join()) breach('an outsider changed the pins');
  const keys = (keyring: Keyring): string => String(keyring.psks.map(({ nodeId, key }) => [nodeId, key]));
  if (keys(after) !== keys(before)) breach('an outsider changed the PSKs');
}

/** Cryptography of a client that opens noise where a payload of message 2 does not open, if the guess `meets`. */
function openingNoise(meets: boolean, noise: Uint8Array): CryptoProvider {
  const open = (name: CipherName) => (key: Uint8Array) => {
    const cipher = toyCrypto.ciphers[name]!(key);
    return {
      seal: (nonce: Uint8Array, ad: Uint8Array, plaintext: Uint8Array) => cipher.seal(nonce, ad, plaintext),
      open(nonce: Uint8Array, ad: Uint8Array, sealed: Uint8Array): Uint8Array | undefined {
        const opened = cipher.open(nonce, ad, sealed);
        const length = sealed.length - TAG_LENGTH;
        // The static key of 32 bytes is sealed without the PSK. Less than a block cannot be made to open under two keys.
        const isPayload = length >= TAG_LENGTH && length !== 32;
        return opened ?? (meets && isPayload ? noise.slice(0, length) : undefined);
      },
    };
  };
  return { ...toyCrypto, ciphers: { ChaChaPoly: open('ChaChaPoly'), AESGCM: open('AESGCM') } };
}

/** A hub that reads `{}` in each message 1, and whose payload of message 2 is anything. */
function outsider(random: Random, staticKey: Uint8Array, recorded: Item[]): Peer {
  const blind = (name: CipherName) => (key: Uint8Array) => {
    const cipher = toyCrypto.ciphers[name]!(key);
    return {
      seal: (nonce: Uint8Array, ad: Uint8Array, plaintext: Uint8Array) => cipher.seal(nonce, ad, plaintext),
      open: (_nonce: Uint8Array, _ad: Uint8Array, sealed: Uint8Array): Uint8Array =>
        new Uint8Array(Buffer.from('{}'.padEnd(sealed.length - TAG_LENGTH))),
    };
  };
  const hub = new HubSession({
    crypto: { ...toyCrypto, ciphers: { ChaChaPoly: blind('ChaChaPoly'), AESGCM: blind('AESGCM') } },
    nodeId: random.pick(NODE_IDS),
    staticKey,
    psk: random.bytes(32),
    clientKey: random.oneIn(2) ? TOY_CLIENT_KEY : undefined,
    randomBytes: (length) => random.bytes(length),
  });
  let pattern: Pattern = 'XXpsk2';
  const sent = (events: ReturnType<HubSession['receive']>): Data[] =>
    events.flatMap((event) => {
      if (event.type !== 'transmit') return [];
      const data = answered(random, event.data, pattern);
      const item: Item = { from: 'hub', data };
      recorded.push(item);
      tally.inputs++;
      return random.oneIn(12) ? [tampered(random, item, recorded)] : [data];
    });
  return {
    start: () => sent(hub.start()),
    receive(data) {
      pattern = /KKpsk0/.test(String(data)) ? 'KKpsk0' : 'XXpsk2';
      return sent(hub.receive(data));
    },
  };
}

/** Puts a payload of any length into message 2. */
function answered(random: Random, data: Data, pattern: Pattern): Data {
  const envelope = JSON.parse(String(data));
  const { noise } = envelope.payload;
  if (noise?.msg === undefined) return data;
  const message = Buffer.from(noise.msg, 'hex');
  const length = random.pick([0, 2, 16, 33, 240, 256, 257, 1000]);
  const payload = random.bytes(length + TAG_LENGTH);
  noise.msg = Buffer.concat([message.subarray(0, PAYLOAD_AT[pattern]), payload]).toString('hex');
  return JSON.stringify(envelope);
}
