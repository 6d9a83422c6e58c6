/** `explain` only becomes surer: true evidence that is added takes back no right cause and leads to no wrong one. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { type Explanation, explain } from '../../cli/src/explain/explain.ts';
import { bytesToHex } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import {
  CLIENT_STATIC,
  HUB_KEY,
  HUB_STATIC,
  KK,
  NODE_ID,
  OTHER_NONCE_ORDER,
  PSK,
  play,
  replacing,
  type Setup,
  withSwappedKeys,
  withTokens,
} from './faults.ts';

const OTHER = new Uint8Array(32).fill(9);
const SECRETS = { ephemeralKey: true };

interface Fault {
  readonly name: string;
  readonly setup: Setup;
  readonly right: RegExp;
  /** What it looks like to who has not seen everything: it may be likely, and is never certain. */
  readonly looksLike?: RegExp;
  /** Nothing tells it. */
  readonly isHidden?: true;
  /** What is true of each side, where it is not what the others have. */
  readonly truth?: Partial<Evidence>;
}

const withOtherPsk = { psks: [{ nodeId: NODE_ID, key: OTHER }] };
const tokens = (...messages: ('e' | 's' | 'ee' | 'es' | 'se' | 'psk')[][]): ReturnType<typeof withTokens> =>
  withTokens(messages);
const AT_START = tokens(['psk', 'e'], ['e', 'ee', 's', 'es'], ['s', 'se']);
const AT_END = tokens(['e'], ['e', 'ee', 's', 'es'], ['s', 'se', 'psk']);

const REFUSED = /^refused$/;
const OTHER_PSK = /^psk-(?:differs|stale)$/;

const FAULTS: readonly Fault[] = [
  {
    name: 'another PSK at the client',
    setup: { client: withOtherPsk },
    right: /^psk-/,
    truth: { clientPsk: OTHER },
  },
  {
    name: 'another PSK at the hub',
    setup: { hub: { psk: OTHER } },
    right: /^psk-/,
    truth: { hubPsk: OTHER },
  },
  {
    name: 'another PSK at the client under KKpsk0',
    setup: { ...KK, client: { ...KK.client, ...withOtherPsk } },
    right: /^psk-/,
    truth: { clientPsk: OTHER },
  },
  {
    name: 'another PSK at the hub under KKpsk0',
    setup: { ...KK, hub: { ...KK.hub, psk: OTHER } },
    right: /^psk-/,
    truth: { hubPsk: OTHER },
  },
  {
    name: 'a replaced hub',
    setup: { client: { ...KK.client, patterns: ['XXpsk2'] }, hub: { staticKey: OTHER } },
    right: /^hub-replaced$/,
    truth: { hubStatic: OTHER, clientPin: bytesToHex(HUB_KEY) },
  },
  {
    name: 'a replaced hub under KKpsk0',
    setup: { ...KK, hub: { ...KK.hub, staticKey: OTHER } },
    right: /^hub-replaced$/,
    truth: { hubStatic: OTHER, clientPin: bytesToHex(HUB_KEY) },
  },
  {
    name: 'a client with a new key',
    setup: { client: { staticKey: OTHER }, hub: { ...KK.hub } },
    right: /^client-key-lost$/,
    looksLike: REFUSED,
    truth: { clientStatic: OTHER },
  },
  {
    name: 'a client with a new key under KKpsk0',
    setup: { ...KK, client: { ...KK.client, staticKey: OTHER } },
    right: /^client-key-lost$/,
    truth: { clientStatic: OTHER },
  },
  {
    name: 'a client with a fresh key under KKpsk0',
    setup: { ...KK, client: { ...KK.client, staticKey: OTHER, staticKeyIsFresh: true } },
    right: /^client-key-lost$/,
    truth: { clientStatic: OTHER },
  },
  {
    name: 'a stored public key of another pair',
    setup: {
      client: { staticKey: { privateKey: CLIENT_STATIC, publicKey: nodeCrypto.x25519.publicKey(OTHER) } },
    },
    right: /^key-pair$/,
    looksLike: REFUSED,
  },
  {
    name: 'the other nonce order at the client',
    setup: { client: { crypto: OTHER_NONCE_ORDER } },
    right: /^noise-mistake$/,
    looksLike: REFUSED,
  },
  {
    name: 'the other nonce order at the hub',
    setup: { hub: { crypto: OTHER_NONCE_ORDER } },
    right: /^noise-mistake$/,
    looksLike: REFUSED,
  },
  {
    name: 'keys of Split that the client swaps',
    setup: { around: { client: withSwappedKeys } },
    right: /^noise-mistake$/,
    looksLike: REFUSED,
  },
  {
    name: 'keys of Split that the hub swaps under KKpsk0',
    setup: { ...KK, around: { hub: withSwappedKeys } },
    right: /^noise-mistake$/,
    looksLike: REFUSED,
  },
  { name: 'psk0 at the hub', setup: { around: { hub: AT_START } }, right: /^noise-mistake$/, isHidden: true },
  { name: 'psk0 at the client', setup: { around: { client: AT_START } }, right: /^noise-mistake$/ },
  {
    name: 'psk3 at the hub',
    setup: { around: { hub: AT_END } },
    right: /^noise-mistake$/,
    looksLike: OTHER_PSK,
  },
  {
    name: 'psk3 at the client',
    setup: { around: { client: AT_END } },
    right: /^noise-mistake$/,
    looksLike: OTHER_PSK,
    isHidden: true,
  },
  {
    name: 'a static key that the hub sends too early',
    setup: { around: { hub: tokens(['e'], ['e', 's', 'ee', 'es', 'psk'], ['s', 'se']) } },
    right: /^noise-mistake$/,
  },
  {
    name: 'a HELLO that was changed',
    setup: { wire: replacing('"node_id":"hub-1"', '"node_id":"hub-1","x":1') },
    right: /^hello-changed$/,
  },
  {
    name: 'a suite that was removed on the way',
    setup: {
      wire: replacing('"25519_ChaChaPoly_SHA256","25519_AESGCM_SHA256"', '"25519_ChaChaPoly_SHA256"'),
    },
    right: /^suites-stripped$/,
  },
  {
    name: 'a message 2 that was changed',
    setup: {
      wire: (from, data, count) => [
        from === 'hub' && count === 3
          ? (data as string).replace(/..(?="}})/, (hex) => (hex === '00' ? '01' : '00'))
          : data,
      ],
    },
    right: /^message-changed$/,
    looksLike: OTHER_PSK,
  },
  {
    name: 'a message 2 that was lost',
    setup: {
      wire: (from, data, count) => (from === 'hub' && count === 3 ? [] : [data]),
      after: ({ client, hub }) => {
        client.closed('timeout');
        hub.closed(1000);
      },
    },
    right: /^message-lost$/,
  },
  {
    name: 'a hub that closes after KKpsk0',
    setup: {
      ...KK,
      after: ({ client }) => {
        client.closed(1008);
      },
    },
    right: /^refused$/,
  },
  { name: 'a hub that is not pinned', setup: { client: { trust: 'pinned-only' } }, right: /^unknown-hub$/ },
  {
    name: 'random bytes that are too few',
    setup: { hub: { randomBytes: () => new Uint8Array(31) } },
    right: /^own-fault$/,
  },
];

const PIECES = ['client', 'hub', 'clientPsk', 'hubPsk', 'clientStatic', 'hubStatic', 'clientPin'] as const;

/** 0: cannot tell. A wrong cause is below that. */
function surenessOf({ cause }: Explanation, { right, looksLike }: Fault): number {
  if (cause === undefined) return 0;
  const isCertain = cause.certainty === 'certain';
  if (right.test(cause.name)) return isCertain ? 2 : 1;
  return !isCertain && looksLike?.test(cause.name) ? 0 : -1;
}

for (const fault of FAULTS) {
  const { name, setup, truth, isHidden } = fault;
  test(`more true evidence never makes the answer about ${name} less certain`, () => {
    const { client, hub } = play({ ...setup, ...SECRETS });
    const all: Partial<Evidence> = {
      client,
      hub,
      clientPsk: PSK,
      hubPsk: PSK,
      clientStatic: CLIENT_STATIC,
      hubStatic: HUB_STATIC,
      ...truth,
    };
    const pieces = PIECES.filter((piece) => all[piece] !== undefined);
    const explained = new Map<number, Explanation>();
    const wrong: string[] = [];
    for (let set = 0; set < 1 << pieces.length; set++) {
      const held = pieces.filter((_, index) => (set >> index) & 1);
      if (!held.includes('client') && !held.includes('hub')) continue;
      const evidence = Object.fromEntries(held.map((piece) => [piece, all[piece]]));
      const explanation = explain({ derive: () => PSK, mistakenPsks: () => [], ...evidence });
      explained.set(set, explanation);
      const sureness = surenessOf(explanation, fault);
      const { cause } = explanation;
      if (sureness < 0) wrong.push(`${held.join()}: ${cause!.name}, ${cause!.certainty}`);
      for (const index of held.keys()) {
        const bit = 1 << pieces.indexOf(held[index]!);
        const fewer = explained.get(set & ~bit);
        if (fewer !== undefined && surenessOf(fewer, fault) > Math.max(0, sureness)) {
          wrong.push(
            `${held.join()}: ${cause?.name}, less sure than without ${held[index]}, ${fewer.cause!.name}`,
          );
        }
      }
      if (explanation.contradictions.length > 0) wrong.push(`${held.join()}: ${explanation.contradictions}`);
    }
    assert.equal(wrong, []);
    assert.is(
      [...explained.values()].some((explanation) => surenessOf(explanation, fault) > 0),
      isHidden === undefined,
    );
  });
}

test.run();
