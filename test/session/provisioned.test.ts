/**
 * A device with a provisioned PSK: it has no memory for Argon2id and no BLAKE2b, so it could not
 * replace a PSK that it lost. It applies every event to its keyring, stores that, and restarts after every attempt.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  createKeyring,
  derivePsk,
  type HubOptions,
  type Keyring,
  parseKeyring,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import type { ClientOptions } from '../../src/parts.ts';
import { findHub } from '../../src/session/keyring-fields.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import { changeMessage, fieldsOf, find, flip, Pair, readyPair, type Wire } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

const ACCESS_KEY = 'kiosk-7';
const { blake2b: _, argon2id: __, ...CRYPTO } = nodeCrypto;
const NEW_PSK = new Uint8Array(32).fill(6);
const NEW_HUB_STATIC = new Uint8Array(32).fill(9);
const NEW_HUB_KEY = nodeCrypto.x25519.publicKey(NEW_HUB_STATIC);
const HUB: Partial<HubOptions> = { clientKey: CLIENT_KEY };

type Policy = NonNullable<ClientOptions['onKkFailure']>;

class Device {
  #keyring: Keyring;
  readonly #policy: Policy;
  /** How each attempt went: the pattern when it was ready, or when to dial again. */
  readonly attempts: string[] = [];

  constructor(policy: Policy, keyring: Keyring) {
    this.#policy = policy;
    this.#keyring = keyring;
  }

  get keyring(): Keyring {
    return this.#keyring;
  }

  /** The keyring as it is after a restart. */
  get stored(): Keyring {
    return parseKeyring(serializeKeyring(this.#keyring), ACCESS_KEY);
  }

  connect(hub: Partial<HubOptions>, wire?: Wire): void {
    this.#keyring = this.stored;
    const pair = new Pair({
      client: {
        crypto: CRYPTO,
        onKkFailure: this.#policy,
        ...fieldsOf(this.keyring),
      },
      hub,
      ...(wire && { wire }),
    }).run();
    const { client, hub: peer, clientEvents } = pair;
    const isReady = client.state === 'ready' && peer.state === 'ready';
    if (isReady) pair.advance('client', pair.toClient(peer.sendJson({})));
    else pair.advance('client', client.closed(wire === silence ? 'timeout' : 1008));
    for (const event of clientEvents) {
      assert.is.not(event.type, 'psk-needed', 'the device cannot derive a PSK');
      this.#keyring = updateKeyring(this.#keyring, event);
      if (event.type === 'ready' && isReady) this.attempts.push(`ready ${event.pattern}`);
      if (event.type === 'ended') this.attempts.push(event.retry);
    }
  }
}

/** A device that has been connected to its hub before. */
function provisioned(policy: Policy): Device {
  const keyring = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
  const device = new Device(policy, storePsk(keyring, NODE_ID, PSK, { isProvisioned: true }));
  device.connect({});
  device.connect(HUB);
  assert.equal(device.attempts.splice(0), ['ready XXpsk2', 'ready KKpsk0']);
  return device;
}

const silence: Wire = (to, data) => (to === 'hub' ? [] : [data]);
const spoiled: Wire = (to, data, count) => [
  to === 'client' && count === 4 ? changeMessage(data, flip(-1)) : data,
];

interface Row {
  readonly what: string;
  /** The hub and the wire of each attempt. */
  readonly attempts: readonly [Partial<HubOptions>, Wire?][];
  /** The pin at the end under replace-pin, if it is another. */
  readonly pin?: Uint8Array;
}

const REPLACED = { ...HUB, staticKey: NEW_HUB_STATIC };
const CHANGED = { ...HUB, psk: NEW_PSK };
const ROWS: Row[] = [
  {
    what: 'the hub’s key is replaced',
    attempts: [[REPLACED], [REPLACED]],
    pin: NEW_HUB_KEY,
  },
  {
    what: 'the hub is set up anew: another key, and no knowledge of the client’s',
    attempts: [[{ staticKey: NEW_HUB_STATIC }]],
  },
  {
    what: 'the password changes, and later changes back',
    attempts: [[CHANGED], [CHANGED], [CHANGED], [HUB]],
  },
  {
    what: 'the hub has another static key for this client',
    attempts: [[{ clientKey: HUB_KEY }], [{ clientKey: HUB_KEY }]],
  },
  {
    what: 'the broker is silent',
    attempts: [[HUB, silence], [HUB, silence], [HUB], [HUB]],
  },
  {
    what: 'message 2 arrives with a flipped bit',
    attempts: [[HUB, spoiled], [HUB], [HUB]],
  },
];

for (const { what, attempts, pin = HUB_KEY } of ROWS) {
  for (const policy of ['replace-pin', 'keep-pin'] as const) {
    test(`${what}: under ${policy} the device keeps its PSK`, () => {
      const device = provisioned(policy);
      for (const [hub, wire] of attempts) {
        device.connect(hub, wire);
        const [psk] = device.keyring.psks;
        assert.equal(psk?.key, PSK);
        assert.is(psk?.isProvisioned, true);
      }
      assert.equal(device.keyring.pins[0]?.key, policy === 'keep-pin' ? HUB_KEY : pin);
    });
  }
}

test('the device cannot derive the PSK', () => {
  raisesLocal(() => derivePsk({ crypto: CRYPTO, password: 'x', nodeId: NODE_ID }), 'blake2b-unavailable');
});

test('a derived PSK that message 2 of XXpsk2 puts in doubt is asked for again, and kept until another is proved', () => {
  const keyring = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
  const device = new Device('replace-pin', storePsk(keyring, NODE_ID, NEW_PSK));
  device.connect({});
  assert.equal(device.attempts, ['later']);
  assert.equal(device.keyring.psks[0]?.key, NEW_PSK);
  const pair = new Pair({ client: fieldsOf(device.keyring) }).run();
  assert.is(pair.clientEvents.at(-1)?.type, 'psk-needed');
  assert.equal(findHub(device.stored.psks, NODE_ID)?.key, NEW_PSK); // it is tried again after a restart
  const updated = updateKeyring(device.keyring, find(pair.release().clientEvents, 'psk'));
  assert.equal(updated.psks[0]?.key, PSK);
  assert.is(updated.psks.length, 1);
});

test('a derived PSK survives a failed KKpsk0, since only the next XXpsk2 shows whether it is wrong', () => {
  for (const policy of ['replace-pin', 'keep-pin'] as const) {
    const keyring = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
    const device = new Device(policy, storePsk(keyring, NODE_ID, PSK));
    device.connect({});
    device.connect(HUB, spoiled);
    assert.equal(device.keyring.psks[0]?.key, PSK);
    device.connect({ ...HUB, staticKey: HUB_STATIC });
    assert.is(device.attempts.at(-1), 'ready XXpsk2');
  }
});

test('a password that changes on both sides needs a new provisioned PSK, and nothing else', () => {
  const device = provisioned('keep-pin');
  const keyring = storePsk(device.keyring, NODE_ID, NEW_PSK, { isProvisioned: true });
  readyPair({ client: { crypto: CRYPTO, ...fieldsOf(keyring) }, hub: CHANGED });
});

test.run();
