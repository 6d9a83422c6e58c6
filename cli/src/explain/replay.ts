/**
 * Recomputes a recorded handshake with a given mistake, or none, and opens each part of each message. If all parts open,
 * the messages were made this way. It needs only one private key of each Diffie-Hellman pair, and stops if it has none.
 */
import {
  bytesToHex,
  dhKeysWith,
  equalBytes,
  type Mistake,
  NoiseWithMistake,
  openWith,
  type Pattern,
  parseJson,
  preMessagesWith,
  publicKeyOf,
  type Suite,
  sharedSecretOf,
  tokensWith,
} from 'hub-protocol-judge/internals';

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

export function replay(mistake: Partial<Mistake>, handshake: Handshake): Progress {
  const { pattern, suite, messages, psk } = handshake;
  const keys = { init: handshake.client, resp: handshake.hub };
  const publicKeys: { [name: string]: Uint8Array | undefined } = {
    'init s': publicKeyIn(keys.init),
    'resp s': publicKeyIn(keys.resp),
  };

  // This cannot show which side alone mixes its own key first, or swaps the keys of a Diffie-Hellman token.
  const side = undefined;
  const noise = new NoiseWithMistake(mistake, pattern, suite);
  const preMessages = preMessagesWith(mistake, pattern, side).map((owner) => publicKeys[`${owner} s`]);
  if (!preMessages.every((key) => key !== undefined)) return { opened: 0, lacks: 'key' };
  noise.mixPrologue(handshake.prologue, preMessages as Uint8Array[]);
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
        noise.mixEphemeral(ephemeral);
      } else if (token === 's') {
        const isClear = !noise.hasKey || mistake.staticInClear === true;
        const sealed = take(isClear ? 32 : 48);
        const opened = mistake.staticInClear ? sealed : noise.decryptAndHash(sealed);
        if (opened?.length !== 32) return stopped();
        if (mistake.staticInClear) noise.mixHash(opened);
        const known = publicKeys[`${writer} s`];
        if (keys[writer].s !== undefined && !equalBytes(known!, opened)) {
          other = { owner: writer === 'init' ? 'client' : 'hub', publicKey: bytesToHex(opened) };
        }
        publicKeys[`${writer} s`] = opened;
      } else if (token === 'psk') {
        if (psk === undefined) return stopped('psk');
        noise.mixKeyAndHash(psk);
      } else {
        const [init, resp] = dhKeysWith(mistake, token, side);
        const secret =
          sharedSecret(keys.init[init], publicKeys[`resp ${resp}`]) ??
          sharedSecret(keys.resp[resp], publicKeys[`init ${init}`]);
        if (secret === undefined) return stopped('key');
        noise.mixKey(secret);
      }
    }
    const rest = message.subarray(at);
    const isSealed = noise.hasKey;
    const payload = noise.decryptAndHash(rest);
    if (payload === undefined || (!isSealed && !isJson(payload))) return stopped();
  }
  const { sealed } = handshake;
  if (sealed === undefined) return { opened: messages.length, other };
  const { sendKey } = noise.split(sealed.from === 'client' ? 'init' : 'resp');
  const { counter, message } = sealed;
  const plaintext = openWith(mistake, suite, sendKey, counter, noise.transportData, message);
  return { opened: messages.length + Number(plaintext !== undefined), other };
}

/** An unsealed payload always opens: only its form shows that it is the payload. */
function isJson(payload: Uint8Array): boolean {
  try {
    parseJson(payload);
    return true;
  } catch {
    return false;
  }
}

function publicKeyIn({ s, publicKey }: SideKeys): Uint8Array | undefined {
  return s === undefined ? publicKey : publicKeyOf(s);
}

function sharedSecret(own: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array | undefined {
  return own === undefined || other === undefined ? undefined : sharedSecretOf(own, other);
}
