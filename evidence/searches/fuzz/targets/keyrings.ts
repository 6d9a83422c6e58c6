/** Keyrings: any course of events and changes, and stored texts that were changed. */
import {
  createKeyring,
  dropPin,
  forgetPsks,
  type Keyring,
  parseKeyring,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../../../src/index.ts';
import type { SessionEvent } from '../../../../src/parts.ts';
import type { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { ask, breach, formsOf, showsNone } from '../law.ts';
import { anyJson, mutatedJson, mutatedText } from '../mutate.ts';

const HUBS = ['hub-1', 'hub-2', '__proto__', 'hub-1 ', 'toString'];
const STATIC = new Uint8Array(32).map((_, i) => 17 * i + 5);
const FORMS = formsOf(STATIC);

export function keyrings(random: Random): void {
  let keyring = createKeyring({
    accessKey: 'ak',
    staticKey: STATIC,
    ...(random.oneIn(2) && { crypto: toyCrypto }),
  });
  const provisioned = new Set<string>();
  for (let i = random.below(12); i > 0; i--) {
    const nodeId = random.pick(HUBS);
    const before = keyring;
    const stored = serializeKeyring(before);
    const act = random.below(10);
    let event: SessionEvent | undefined;
    if (act === 0) {
      const isProvisioned = random.oneIn(2);
      keyring = storePsk(keyring, nodeId, random.bytes(32), { isProvisioned });
      if (isProvisioned) provisioned.add(nodeId);
      else provisioned.delete(nodeId);
    } else if (act === 1) keyring = dropPin(keyring, nodeId);
    else if (act === 2 && random.oneIn(4)) {
      keyring = forgetPsks(keyring);
      provisioned.clear();
    } else {
      event = anyEvent(random, nodeId);
      const result = ask('updateKeyring', () => updateKeyring(before, event!));
      if (result.error === undefined) keyring = result.value;
    }
    if (serializeKeyring(before) !== stored) breach('a keyring was changed in place');
    check(before, keyring, event, provisioned);
  }
  if (random.oneIn(8)) showsNone(keyring, FORMS, 'a keyring');
  restore(random, keyring);
}

function anyEvent(random: Random, nodeId: string): SessionEvent {
  const event = {
    type: random.pick([
      'pin',
      'pin',
      'pin-suspect',
      'psk',
      'psk',
      'psk-suspect',
      'ready',
      'message',
      'dropped',
      'new-hub',
      'close',
      'ended',
      'transmit',
    ]),
    nodeId,
    key: random.pick([STATIC, random.bytes(32)]),
    replaces: random.pick([undefined, STATIC]),
    pattern: random.pick(['XXpsk2', 'KKpsk0']),
  };
  return (random.oneIn(5) ? mutatedJson(random, event) : event) as SessionEvent;
}

function check(
  before: Keyring,
  after: Keyring,
  event: SessionEvent | undefined,
  provisioned: Set<string>,
): void {
  const ids = after.pins.map(({ nodeId }) => nodeId);
  if (new Set(ids).size < ids.length) breach('two pins for one hub');
  for (const { nodeId, key } of after.pins) {
    const old = before.pins.find((pin) => pin.nodeId === nodeId)?.key;
    if (old !== undefined && Buffer.compare(old, key) !== 0 && Buffer.compare(old, STATIC) !== 0)
      breach('a pin was replaced that was not the stale one');
    if (old === undefined && event?.type !== 'pin') breach('a pin came from nowhere');
  }
  if (after.pins.length < before.pins.length && event !== undefined) breach(`${event.type} dropped a pin`);
  if (event !== undefined) checkPsks(before, after, event?.type);
  for (const nodeId of provisioned) {
    if (!after.psks.some((psk) => psk.nodeId === nodeId && psk.isProvisioned))
      breach('a provisioned PSK is gone');
  }
  if (before.staticKeyIsFresh !== after.staticKeyIsFresh && after.staticKeyIsFresh)
    breach('a static key became fresh');
}

/** Events add and replace PSKs only with `psk`, and remove none. */
function checkPsks(before: Keyring, after: Keyring, type: SessionEvent['type'] | undefined): void {
  for (const { nodeId, key, isSuspect } of after.psks) {
    const old = before.psks.find((psk) => psk.nodeId === nodeId);
    if (type !== 'psk' && !(old && Buffer.compare(old.key, key) === 0)) breach(`${type} stored a PSK`);
    if (type !== 'psk-suspect' && isSuspect && !old?.isSuspect) breach(`${type} made a PSK suspect`);
  }
  if (after.psks.length < before.psks.length) breach(`${type} removed a PSK`);
}

/** A keyring that was stored is read as it was; one whose text was changed is read to a keyring or to an error. */
function restore(random: Random, keyring: Keyring): void {
  const text = serializeKeyring(keyring);
  const same = ask('parseKeyring', () => parseKeyring(text, 'ak'));
  if (same.error !== undefined || serializeKeyring(same.value) !== text)
    breach('a keyring changes when it is stored', same.error);
  const changed = random.oneIn(2)
    ? mutatedText(random, text, text)
    : JSON.stringify(
        mutatedJson(random, JSON.parse(text), (random) =>
          random.oneIn(2) ? Buffer.from(random.bytes(32)).toString('hex') : anyJson(random),
        ),
      );
  const read = ask('parseKeyring', () => parseKeyring(changed, 'ak'));
  if (read.error !== undefined) return;
  const again = serializeKeyring(read.value);
  if (serializeKeyring(parseKeyring(again, 'ak')) !== again)
    breach('a keyring changes when it is stored again');
  const ids = read.value.pins.map(({ nodeId }) => nodeId);
  if (new Set(ids).size < ids.length) breach('a stored keyring with two pins for one hub was accepted');
}
