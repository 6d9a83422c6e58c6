/**
 * Recorded sessions of a client and a hub with a fault between them or in one of them. What is faulty runs the library’s own
 * code over faulty inputs (cryptography, patterns, prologue); no code is shared with what finds the fault. And what `explain` says.
 */

import * as assert from 'uvu/assert';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { type Explanation, explain } from '../../cli/src/explain/explain.ts';
import { type Recording, type Role, readRecording } from '../../cli/src/explain/recording.ts';
import { bytesToHex } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import {
  type CryptoProvider,
  canonicalJson,
  type HubOptions,
  type Json,
  type JsonObject,
} from '../../src/index.ts';
import { Handshake } from '../../src/noise/handshake.ts';
import { PATTERNS, type Token } from '../../src/noise/patterns.ts';
import type { ClientSession } from '../../src/parts.ts';
import { HandshakeState, protocolName, selectNoise } from '../../src/parts.ts';
import { recordClientSession, recordHubSession } from '../../src/recording/recording.ts';
import { OFFERED_SUITES } from '../../src/session/options.ts';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import { readNoiseMessage, readOffer } from '../../src/wire/handshake.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  DERIVED,
  HUB_KEY,
  HUB_PIN,
  HUB_PSK,
  HUB_STATIC,
  NODE_ID,
  PASSWORD,
  PSK,
} from '../world/keys.ts';
import { type ClientAndKeyring, clientOptions } from '../world/pair.ts';

export { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_STATIC, NODE_ID, PSK };

export type Data = string | Uint8Array;

/** A side: a session, or a stand-in for one. */
export interface Side {
  start?(): readonly { readonly type: string }[];
  receive(data: Data): readonly { readonly type: string }[];
  closed(code: number): unknown;
}

export interface Setup {
  client?: ClientAndKeyring;
  hub?: Partial<HubOptions>;
  /** Sees each message on its way, and returns what arrives in its place. Messages of a side are counted from 1. */
  wire?: (from: Role, data: Data, count: number) => Data[];
  ephemeralKey?: boolean;
  /** Whether the client sends a HELLO first, before the hub has a session. */
  isMqtt?: boolean;
  /** Takes the place of the client, or changes what a side does when something arrives. */
  standIn?: Side;
  around?: Partial<Record<Role, (receive: () => ReturnType<Side['receive']>) => ReturnType<Side['receive']>>>;
  /** Called once, when both sides have nothing more to say. */
  after?: (sides: {
    client: ReturnType<typeof recordClientSession>;
    hub: ReturnType<typeof recordHubSession>;
  }) => void;
}

/** Both pinned each other, so that KKpsk0 is chosen. */
export const KK: Setup = { client: { pins: [HUB_PIN] }, hub: { clientKey: CLIENT_KEY } };

/** The client has the PSK under the name that `replacing` gives the hub, too, and so does not ask for it. */
const PSKS = [HUB_PSK, { nodeId: 'hub-2', key: PSK }];

/** Plays a connection to its end, and returns both recordings. */
export function play(setup: Setup = {}): {
  client: Recording;
  hub: Recording;
  lines: Record<Role, string[]>;
} {
  const { wire = (_from, data) => [data], ephemeralKey = false, around = {} } = setup;
  const lines: Record<Role, string[]> = { client: [], hub: [] };
  const client = recordClientSession(clientOptions({ psks: PSKS, ...setup.client }), {
    write: (line) => lines.client.push(line),
    ephemeralKey,
  });
  const hub = recordHubSession(
    { crypto: nodeCrypto, nodeId: NODE_ID, staticKey: HUB_STATIC, randomBytes, psk: PSK, ...setup.hub },
    { write: (line) => lines.hub.push(line), ephemeralKey },
  );
  if (setup.isMqtt) client.start();
  const sides: Record<Role, Side> = { client: setup.standIn ?? client, hub };
  const other = { client: 'hub', hub: 'client' } as const;
  const counts = { client: 0, hub: 0 };
  const queue: { from: Role; events: readonly { type: string }[] }[] = [{ from: 'hub', events: hub.start() }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { from, events } = next;
    const to = other[from];
    for (const event of events) {
      if (event.type === 'close') sides[to].closed(1008);
      if (event.type !== 'transmit') continue;
      for (const arrived of wire(from, (event as { data?: Data }).data!, ++counts[from])) {
        const receive = (): ReturnType<Side['receive']> => sides[to].receive(arrived);
        queue.push({ from: to, events: (around[to] ?? ((receive) => receive()))(receive) });
      }
    }
  }
  setup.after?.({ client, hub });
  const read = (role: Role): Recording => readRecording(role, Buffer.from(lines[role].join('\n')));
  return { client: read('client'), hub: read('hub'), lines };
}

/** Replaces text in the messages of the hub. */
export const replacing =
  (what: string, by: string): NonNullable<Setup['wire']> =>
  (from, data) => [from === 'hub' && typeof data === 'string' ? data.replace(what, by) : data];

/** A client that computes its prologue in its own way. */
export class StrangeClient implements Side {
  readonly #prologue: (hello: JsonObject, offer: JsonObject, name: string) => Uint8Array;
  #hello: JsonObject = {};
  #handshake: HandshakeState | undefined;

  constructor(prologue: (hello: JsonObject, offer: JsonObject, name: string) => Uint8Array) {
    this.#prologue = prologue;
  }

  receive(data: Data): { type: string; data: string }[] {
    const { type, payload } = parseEnvelope(data);
    if (type === 'hello') {
      this.#hello = payload;
      return [];
    }
    if (this.#handshake === undefined) {
      const choice = selectNoise(readOffer(payload), { suites: OFFERED_SUITES, pinned: false });
      this.#handshake = new HandshakeState({
        crypto: nodeCrypto,
        role: 'initiator',
        ...choice,
        prologue: this.#prologue(this.#hello, payload, protocolName(choice.pattern, choice.suite)),
        psk: PSK,
        staticKey: CLIENT_STATIC,
        randomBytes,
      });
      const message = this.#handshake.writeMessage(canonicalJson({ binarize: false, encodings: [] }));
      return [transmit({ ...choice, msg: bytesToHex(message) })];
    }
    this.#handshake.readMessage(readNoiseMessage(payload));
    return [transmit({ msg: bytesToHex(this.#handshake.writeMessage()) })];
  }

  closed(): void {}
}

function transmit(noise: { [field: string]: Json }): { type: string; data: string } {
  return { type: 'transmit', data: writeEnvelope('shake', { noise }) };
}

/** Cryptography that counts with the bytes of the counter in the wrong order. */
export const OTHER_NONCE_ORDER: CryptoProvider = {
  ...nodeCrypto,
  ciphers: {
    ChaChaPoly: (key) => {
      const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
      const turned = (nonce: Uint8Array): Uint8Array =>
        Uint8Array.from([...nonce.subarray(0, 4), ...[...nonce.subarray(4)].reverse()]);
      return {
        seal: (nonce, associatedData, plaintext) => cipher.seal(turned(nonce), associatedData, plaintext),
        open: (nonce, associatedData, sealed) => cipher.open(turned(nonce), associatedData, sealed),
      };
    },
  },
};

/** Runs a side with other tokens for XXpsk2. */
export function withTokens(
  messages: readonly (readonly Token[])[],
): (receive: () => ReturnType<Side['receive']>) => ReturnType<Side['receive']> {
  return (receive) => {
    const right = PATTERNS.XXpsk2;
    Object.assign(PATTERNS, { XXpsk2: { ...right, messages } });
    try {
      return receive();
    } finally {
      Object.assign(PATTERNS, { XXpsk2: right });
    }
  };
}

/** Runs a side that sends with the key with which it should receive. */
export function withSwappedKeys(receive: () => ReturnType<Side['receive']>): ReturnType<Side['receive']> {
  const { split } = Handshake.prototype;
  Handshake.prototype.split = function (this: Handshake) {
    const { sending, receiving, ...rest } = split.call(this);
    return { ...rest, sending: receiving, receiving: sending };
  };
  try {
    return receive();
  } finally {
    Handshake.prototype.split = split;
  }
}

/** A PSK that the other side does not have. */
export const wrongPsk: Uint8Array = new Uint8Array(32).fill(9);
/** Records the ephemeral keys. */
export const secrets: Setup = { ephemeralKey: true };

export function withPsk(key: Uint8Array): ClientAndKeyring {
  return { psks: [{ nodeId: NODE_ID, key }] };
}

/** The connection is closed at the client, and at the hub if that notices. */
export const closing =
  (ofClient: Parameters<ClientSession['closed']>[0], ofHub?: number): NonNullable<Setup['after']> =>
  ({ client, hub }) => {
    client.closed(ofClient);
    if (ofHub !== undefined) hub.closed(ofHub);
  };

export function why(evidence: Partial<Evidence>): Explanation {
  return explain({ derive: knownPsk, ...evidence });
}

/** Knows the PSK of one password at one hub. */
export function knownPsk(password: string, nodeId: string): Uint8Array {
  assert.equal([password, nodeId], [PASSWORD, NODE_ID]);
  return DERIVED;
}

/** Asserts what the cause is, and returns its text. */
export function blames(
  evidence: Partial<Evidence>,
  name: string,
  certainty: 'certain' | 'likely' = 'certain',
): string {
  const { verdict, cause, wouldHelp } = why(evidence);
  assert.is(cause?.name, name, cause?.text ?? `unknown; would help: ${wouldHelp.join('; ')}`);
  assert.is(cause?.certainty, certainty, cause?.text);
  assert.is(verdict, 'fault');
  if (certainty === 'certain') assert.equal(wouldHelp, []);
  return cause!.text;
}

export function cannotTell(evidence: Partial<Evidence>): Explanation {
  const explanation = why(evidence);
  assert.is(explanation.cause, undefined, explanation.cause?.text);
  assert.is(explanation.verdict, 'unknown');
  assert.ok(explanation.wouldHelp.length > 0);
  return explanation;
}
