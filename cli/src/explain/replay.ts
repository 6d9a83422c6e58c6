/**
 * Recomputes a recorded handshake with a given mistake, or none, and opens each part of each message. If all parts open,
 * the messages were made this way. It needs only one private key of each Diffie-Hellman pair, and stops if it has none.
 */
import {
  hkdf,
  memoized,
  nameHash,
  nameOf,
  openWith,
  splitInput,
  tokensWith,
} from '../../../judge/src/mistakes/noise.ts';
import type { Mistake } from '../../../judge/src/mistakes/noise-mistakes.ts';
import {
  bytesToHex,
  equalBytes,
  nodeCrypto,
  PATTERNS,
  type Pattern,
  parseJson,
  type Suite,
} from '../protocol.ts';

/** The known keys of one side: private keys, and the public static key. */
export interface SideKeys {
  readonly s?: Uint8Array | undefined;
  readonly e?: Uint8Array | undefined;
  readonly publicKey?: Uint8Array | undefined;
}

export interface Handshake {
  readonly pattern: Pattern;
  readonly suite: Suite;
  readonly prologue: Uint8Array;
  /** `undefined` if it is not known. */
  readonly psk: Uint8Array | undefined;
  readonly client: SideKeys;
  readonly hub: SideKeys;
  readonly messages: readonly Uint8Array[];
  /** The first transport message of one side. */
  readonly sealed?:
    | { readonly from: 'client' | 'hub'; readonly message: Uint8Array; readonly counter: bigint }
    | undefined;
}

/** The progress of a replay. */
export interface Progress {
  /** How many messages have opened; the transport message counts. */
  readonly opened: number;
  /** The secret that it needs to continue. */
  readonly lacks?: 'psk' | 'key' | undefined;
  /** A static key in a message that does not belong to the given private key. */
  readonly other?: { readonly owner: 'client' | 'hub'; readonly publicKey: string } | undefined;
}

const NO_BYTES = new Uint8Array(0);
const { sha256, x25519 } = nodeCrypto;

export function replay(mistake: Partial<Mistake>, handshake: Handshake): Progress {
  const { pattern, suite, messages } = handshake;
  const keys = { init: handshake.client, resp: handshake.hub };
  const publicKeys: { [name: string]: Uint8Array | undefined } = {
    'init s': publicKeyOf(keys.init),
    'resp s': publicKeyOf(keys.resp),
  };

  let key: Uint8Array | undefined;
  let counter = 0n;
  let hash = nameHash(nameOf(pattern, suite, mistake), mistake);
  let chainingKey: Uint8Array = mistake.chainingKey === 'zeros' ? new Uint8Array(32) : hash;
  const mixHash = (data: Uint8Array): void => {
    hash = mistake.mixHash === 'data-first' ? sha256(data, hash) : sha256(hash, data);
  };
  const setKey = (next: Uint8Array): void => {
    key = next;
    if (mistake.nonce !== 'never-reset') counter = 0n;
  };
  const mixKey = (input: Uint8Array): void => {
    const outputs = hkdf(chainingKey, input, 3, mistake);
    const keyAt = mistake.hkdf === 'third-is-key' ? 2 : mistake.hkdf === 'first-is-key' ? 0 : 1;
    chainingKey = outputs[keyAt === 0 ? 1 : 0]!;
    setKey(outputs[keyAt]!);
  };
  const mixPsk = (psk: Uint8Array): void => {
    const outputs = hkdf(chainingKey, psk, 3, mistake);
    chainingKey = outputs[0]!;
    if (mistake.psk === 'hashed-itself') mixHash(psk);
    else if (mistake.psk !== 'not-hashed') mixHash(outputs[mistake.psk === 'outputs-swapped' ? 2 : 1]!);
    setKey(outputs[mistake.psk === 'two-outputs' || mistake.psk === 'outputs-swapped' ? 1 : 2]!);
  };
  const open = (sealed: Uint8Array): Uint8Array | undefined => {
    if (key === undefined) {
      mixHash(sealed);
      return sealed;
    }
    if (sealed.length < 16) return undefined;
    const associatedData = mistake.associatedData === 'left-out' ? NO_BYTES : hash;
    const plaintext = openWith(mistake, suite, key, counter, associatedData, sealed);
    if (plaintext === undefined) return undefined;
    if (mistake.nonce !== 'never-advanced') counter++;
    if (mistake.mixes !== 'nothing') mixHash(mistake.mixes === 'plaintext' ? plaintext : sealed);
    return plaintext;
  };

  const isLate = mistake.prologue === 'after-pre-messages';
  if (mistake.prologue !== 'left-out' && !isLate) mixHash(handshake.prologue);
  if (PATTERNS[pattern].staticKeysKnown && mistake.preMessages !== 'left-out') {
    // This cannot show which side hashes its own key first, only that the two are swapped.
    for (const owner of mistake.preMessages === undefined ? ['init s', 'resp s'] : ['resp s', 'init s']) {
      if (publicKeys[owner] === undefined) return { opened: 0, lacks: 'key' };
      mixHash(publicKeys[owner]);
    }
  }
  if (isLate) mixHash(handshake.prologue);
  let other: Progress['other'];
  const tokens = tokensWith(mistake, pattern);
  for (const [index, message] of messages.entries()) {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    const stopped = (lacks?: Progress['lacks']): Progress => ({ opened: index, lacks, other });
    let at = 0;
    const take = (length: number): Uint8Array => {
      at += length;
      return message.subarray(at - length, at);
    };
    for (const token of tokens[index]!) {
      if (token === 'e') {
        const ephemeral = take(32);
        if (ephemeral.length < 32) return stopped();
        publicKeys[`${writer} e`] = ephemeral;
        if (!mistake.ephemeralNotHashed) mixHash(ephemeral);
        if (!mistake.ephemeralNotMixed) mixKey(ephemeral);
      } else if (token === 's') {
        const isClear = key === undefined || mistake.staticInClear === true;
        const opened = mistake.staticInClear ? take(32) : open(take(isClear ? 32 : 48));
        if (mistake.staticInClear) mixHash(opened!);
        if (opened?.length !== 32) return stopped();
        const known = publicKeys[`${writer} s`];
        if (keys[writer].s !== undefined && !equalBytes(known!, opened)) {
          other = { owner: writer === 'init' ? 'client' : 'hub', publicKey: bytesToHex(opened) };
        }
        publicKeys[`${writer} s`] = opened;
      } else if (token === 'psk') {
        if (mistake.psk === 'left-out') continue;
        const psk = mistake.psk === 'zeros' ? new Uint8Array(32) : handshake.psk;
        if (psk === undefined) return stopped('psk');
        mixPsk(psk);
      } else {
        // This cannot show which side alone swaps them.
        const isSwapped = mistake.dhSwapped === true && (token === 'es' || token === 'se');
        const [init, resp] = (isSwapped ? `${token[1]}${token[0]}` : token) as unknown as [
          's' | 'e',
          's' | 'e',
        ];
        const secret =
          sharedSecret(keys.init[init], publicKeys[`resp ${resp}`]) ??
          sharedSecret(keys.resp[resp], publicKeys[`init ${init}`]);
        if (secret === undefined) return stopped('key');
        mixKey(secret);
      }
    }
    const rest = message.subarray(at);
    if (mistake.emptyPayload === 'left-out' && rest.length === 0) continue;
    const isSealed = key !== undefined;
    const payload = open(rest);
    if (payload === undefined || (!isSealed && !isJson(payload))) return stopped();
  }
  const { sealed } = handshake;
  if (sealed === undefined || sealed.message.length < 16) return { opened: messages.length, other };
  const outputs = hkdf(chainingKey, splitInput(mistake, hash), 3, mistake);
  if (mistake.split === 'second-and-third') outputs.shift();
  const swapper = sealed.from === 'client' ? 'swapped-by-initiator' : 'swapped-by-responder';
  const isSwapped = mistake.split === 'swapped' || mistake.split === swapper;
  const isFirst = (sealed.from === 'client') !== isSwapped || mistake.split === 'one-key';
  const plaintext = openWith(
    mistake,
    suite,
    outputs[isFirst ? 0 : 1]!,
    sealed.counter,
    mistake.associatedData === 'in-transport' ? hash : NO_BYTES,
    sealed.message,
  );
  return { opened: messages.length + (plaintext === undefined ? 0 : 1), other };
}

/** An unsealed payload always opens: only its form shows that it is the payload. */
function isJson(payload: Uint8Array): boolean {
  try {
    parseJson(payload);
    return true;
  } catch {
    return payload.length === 0;
  }
}

function publicKeyOf({ s, publicKey }: SideKeys): Uint8Array | undefined {
  return s === undefined ? publicKey : memoized(bytesToHex(s), () => x25519.publicKey(s));
}

function sharedSecret(own: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array | undefined {
  if (own === undefined || other === undefined) return undefined;
  return memoized(`${bytesToHex(own)} with ${bytesToHex(other)}`, () => x25519.sharedSecret(own, other));
}
