/** What must hold of a client and its hub in the small world. */
import type { HubSessionEvent, Keyring } from '../../../src/index.ts';
import type { SessionEvent } from '../../../src/parts.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import type { Connection } from './connection.ts';
import { CLIENT_KEY, HUB_KEY, IMPOSTOR_STATIC, NODE_ID, PSK, type Scenario } from './scenarios.ts';

export type ReadyClient = Extract<SessionEvent, { type: 'ready' }>;
export type ReadyHub = Extract<HubSessionEvent, { type: 'ready' }>;

const SUITE = '25519_ChaChaPoly_SHA256';

export function violation(what: string): never {
  throw new Error(what);
}

/** A client is ready: with the hub that proved its key, the pinned key, the PSK, and the best pattern and suite of both. */
export function checkClient(
  { isInsider, trust, onKkFailure }: Scenario,
  { isImpostor, pin, isSuspect, patterns, derivedPsk, history }: Connection,
  ready: ReadyClient,
  keyring: Keyring,
): void {
  if (isImpostor && !isInsider) violation('ready with an impostor');
  const key = isImpostor ? toyCrypto.x25519.publicKey(IMPOSTOR_STATIC) : HUB_KEY;
  if (!same(ready.hubKey, key) || ready.nodeId !== NODE_ID)
    violation('ready with another hub than the one that proved its key');
  const mayBeReplaced = isSuspect && onKkFailure === 'replace-pin';
  if (pin && !same(pin, ready.hubKey) && !mayBeReplaced)
    violation('ready with another hub than the pinned one');
  const stored = keyring.psks.find(({ nodeId, isSuspect }) => nodeId === NODE_ID && !isSuspect);
  const psk = derivedPsk ? PSK : stored?.key;
  if (!psk || !same(psk, PSK)) violation('ready without the PSK of the hub');
  const offersKk = isImpostor || history.hub.split(';')[0] !== 'false undefined';
  const expected = pin && !isSuspect && offersKk && patterns.includes('KKpsk0') ? 'KKpsk0' : 'XXpsk2';
  if (ready.pattern !== expected || ready.suite !== SUITE)
    violation(`a downgrade to ${ready.pattern}, ${ready.suite}`);
  if (trust === 'pinned-only' && !pin) violation('ready with a hub that is not pinned');
}

/** A hub is ready: so is its client, with the same channel, key, pattern and suite. */
export function checkHub({ ready: { client } }: Connection, ready: ReadyHub): void {
  if (client === undefined) violation('a hub is ready, and the client of this connection is not');
  if (!same(client.handshakeHash, ready.handshakeHash))
    violation('both sides are ready, with different channels');
  if ((client as ReadyClient).pattern !== ready.pattern || client.suite !== ready.suite)
    violation('both sides are ready, and differ');
  if (!same(ready.clientKey, CLIENT_KEY)) violation('a hub is ready with another client');
}

/** An event has changed what a client stores. */
export function checkStored(
  { isInsider, onKkFailure }: Scenario,
  { isImpostor, isSuspect, sent }: Connection,
  before: Keyring,
  after: Keyring,
): void {
  const { pins, psks } = after;
  const hasAnswered = sent.some(({ from, kind }) => from === 'hub' && kind === 'message');
  const isProved = hasAnswered && (!isImpostor || isInsider);
  for (const { nodeId, key } of psks) {
    const isNew = !before.psks.some((psk) => psk.nodeId === nodeId && same(psk.key, key));
    if (isNew && (!isProved || nodeId !== NODE_ID || !same(key, PSK)))
      violation('a PSK was stored that was not proved');
  }
  if (psks.length < before.psks.length) violation('a PSK is gone');
  if (new Set(pins.map(({ nodeId }) => nodeId)).size < pins.length) violation('two pins for one hub');
  for (const { key } of pins) {
    const isNew = !before.pins.some((pin) => same(pin.key, key));
    if (isNew && !same(key, HUB_KEY) && !isInsider) violation('a key was pinned that is not the hub’s');
  }
  if (pins.length < before.pins.length) violation('a pin was dropped');
  for (const { nodeId, key } of before.pins) {
    const isKept = pins.some((pin) => pin.nodeId === nodeId && same(pin.key, key));
    if (!isKept && !(isSuspect && isProved && onKkFailure === 'replace-pin'))
      violation('a pin was replaced that was not shown to be stale');
  }
  const isProvisioned = (psk: Keyring['psks'][number]): boolean => psk.isProvisioned;
  if (before.psks.some(isProvisioned) && !psks.some(isProvisioned)) violation('a provisioned PSK is gone');
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
