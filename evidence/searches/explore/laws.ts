/** What must hold of a client and its hub in the small world, beside the laws of the link. */
import type { HubSessionEvent, Keyring } from '../../../src/index.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { CLIENT_KEY, type Scenario } from './scenarios.ts';
import type { ReadyClient, Transport } from './transport.ts';

type ReadyHub = Extract<HubSessionEvent, { type: 'ready' }>;

const SUITE = '25519_ChaChaPoly_SHA256';

export function violation(what: string): never {
  throw new Error(what);
}

/** A client is ready: with the hub that proved its key, the pinned key, the PSK, and the best pattern and suite of both. */
export function checkReady(
  { trust, onKkFailure }: Scenario,
  { server, pins, leavesOutKk }: Transport,
  ready: ReadyClient,
  stored: Keyring,
): void {
  const { nodeId, staticKey, psk, clientKey } = server!;
  const isOwn = (one: { readonly nodeId: string }): boolean => one.nodeId === nodeId;
  if (!same(ready.hubKey, toyCrypto.x25519.publicKey(staticKey)) || ready.nodeId !== nodeId)
    violation('ready with another hub than the one that proved its key');
  if (!stored.pins.some((pin) => isOwn(pin) && same(pin.key, ready.hubKey)))
    violation('a link is ready with a hub whose pin is not stored');
  if (!stored.psks.some((one) => isOwn(one) && same(one.key, psk)))
    violation('ready without the PSK of the hub');
  const pin = pins.find(isOwn);
  const mayBeReplaced = pin?.isSuspect === true && onKkFailure === 'replace-pin';
  if (pin && !same(pin.key, ready.hubKey) && !mayBeReplaced)
    violation('ready with another hub than the pinned one');
  const hasKk = pin !== undefined && !pin.isSuspect && clientKey !== undefined && !leavesOutKk;
  if (ready.pattern !== (hasKk ? 'KKpsk0' : 'XXpsk2') || ready.suite !== SUITE)
    violation(`a downgrade to ${ready.pattern}, ${ready.suite}`);
  if (trust === 'pinned-only' && !pin) violation('ready with a hub that is not pinned');
}

/** A hub is ready: so is its client, with the same channel, key, pattern and suite. */
export function checkHub({ ready: client }: Transport, ready: ReadyHub): void {
  if (client === undefined) violation('a hub is ready, and the client of this connection is not');
  if (!same(client.handshakeHash, ready.handshakeHash))
    violation('both sides are ready, with different channels');
  if (client.pattern !== ready.pattern || client.suite !== ready.suite)
    violation('both sides are ready, and differ');
  if (!same(ready.clientKey, CLIENT_KEY)) violation('a hub is ready with another client');
}

/** Events have changed what a client stores. */
export function checkStored(
  { onKkFailure }: Scenario,
  { server, sent, pins: begun }: Transport,
  before: Keyring,
  after: Keyring,
): void {
  const { pins, psks } = after;
  const isOwn = (one: { readonly nodeId: string }): boolean => one.nodeId === server?.nodeId;
  const hasAnswered = sent.some(({ from, kind }) => from === 'hub' && kind === 'message');
  const isProved = hasAnswered && psks.some((psk) => isOwn(psk) && same(psk.key, server!.psk));
  for (const psk of psks) {
    const isNew = !before.psks.some(({ nodeId, key }) => psk.nodeId === nodeId && same(psk.key, key));
    if (isNew && !(isProved && isOwn(psk) && same(psk.key, server!.psk)))
      violation('a PSK was stored that was not proved');
  }
  if (psks.length < before.psks.length) violation('a PSK is gone');
  if (new Set(pins.map(({ nodeId }) => nodeId)).size < pins.length) violation('two pins for one hub');
  for (const pin of pins) {
    const isNew = !before.pins.some(({ nodeId, key }) => pin.nodeId === nodeId && same(pin.key, key));
    const isProvedKey =
      isProved && isOwn(pin) && same(pin.key, toyCrypto.x25519.publicKey(server!.staticKey));
    if (isNew && !isProvedKey) violation('a key was pinned that is not the hub’s');
  }
  if (pins.length < before.pins.length) violation('a pin was dropped');
  for (const { nodeId, key } of before.pins) {
    const isKept = pins.some((pin) => pin.nodeId === nodeId && same(pin.key, key));
    const wasSuspect = begun.some((pin) => pin.nodeId === nodeId && pin.isSuspect);
    if (!isKept && !(wasSuspect && isProved && onKkFailure === 'replace-pin'))
      violation('a pin was replaced that was not shown to be stale');
  }
  const isProvisioned = (psk: Keyring['psks'][number]): boolean => psk.isProvisioned;
  if (before.psks.filter(isProvisioned).length > psks.filter(isProvisioned).length)
    violation('a provisioned PSK is gone');
}

export function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
