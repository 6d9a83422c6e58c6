/**
 * The mistakes in a handshake, and in the transport messages after it. A mistake leads to predictable bytes: its sentence is
 * printed if an implementation writes just these, and if no other test contradicts it.
 */
import { bytesToHex, concatBytes, equalBytes, hexToBytes, type Pattern, type Suite } from '../protocol.ts';
import type { Causes } from '../verdict.ts';
import { MISTAKES, type Mistake } from './noise-mistakes.ts';
import {
  dhKeysWith,
  NoiseWithMistake,
  preMessagesWith,
  publicKeyOf,
  type Side,
  sealWith,
  sharedSecretOf,
  tokensWith,
} from './noise-with-mistake.ts';

/** The keys and messages of a vector of type Handshake, in hexadecimal. */
export interface Transcript {
  readonly pattern: Pattern;
  readonly suite: Suite;
  readonly prologue: string;
  readonly psk: string;
  readonly initStatic: string;
  readonly initEphemeral: string;
  readonly respStatic: string;
  readonly respEphemeral: string;
  readonly messages: readonly { readonly payload: string; readonly message: string }[];
  readonly transport: readonly { readonly from: Side; readonly plaintext: string }[];
}

/** What one side writes, in hexadecimal: `message 1`, `handshakeHash`, `sealed 0`. */
interface Written {
  readonly [name: string]: string;
}

const bytes = (hex: string): Uint8Array => hexToBytes(hex)!;

const known = new WeakMap<Transcript, Map<string, Written>>();

/** What one side of a handshake writes that makes this mistake, or none. The other side's messages are as in the transcript. */
export function handshakeWith(mistake: Partial<Mistake>, side: Side, transcript: Transcript): Written {
  const all = known.get(transcript) ?? new Map<string, Written>();
  known.set(transcript, all);
  const name = `${side} ${mistake.cause ?? ''}`;
  const written = all.get(name) ?? play(mistake, side, transcript);
  all.set(name, written);
  return written;
}

function play(mistake: Partial<Mistake>, side: Side, transcript: Transcript): Written {
  const { pattern, suite } = transcript;
  const privateKeys = {
    init: { s: bytes(transcript.initStatic), e: bytes(transcript.initEphemeral) },
    resp: { s: bytes(transcript.respStatic), e: bytes(transcript.respEphemeral) },
  };
  const noise = new NoiseWithMistake(mistake, pattern, suite);
  const preMessages = preMessagesWith(mistake, pattern, side).map((owner) =>
    publicKeyOf(privateKeys[owner].s),
  );
  noise.mixPrologue(bytes(transcript.prologue), preMessages);
  const tokens = tokensWith(mistake, pattern);
  const written: { [name: string]: string } = {};
  for (const [index, { payload, message }] of transcript.messages.entries()) {
    const writer = index % 2 === 0 ? 'init' : 'resp';
    const read = bytes(message);
    const parts: Uint8Array[] = [];
    let at = 0;
    /** Writes our own part of a message, or skips the other side's, which enters the hash as it came. */
    const put = (plaintext: Uint8Array, length: number): void => {
      if (writer === side) parts.push(noise.encryptAndHash(plaintext));
      else noise.mixSealed(plaintext, read.subarray(at, at + length));
      at += length;
    };
    for (const token of tokens[index]!) {
      if (token === 'psk') noise.mixKeyAndHash(bytes(transcript.psk));
      else if (token === 'e') {
        const ephemeral = publicKeyOf(privateKeys[writer].e);
        noise.mixEphemeral(ephemeral);
        parts.push(ephemeral);
        at += 32;
      } else if (token === 's') put(publicKeyOf(privateKeys[writer].s), 48);
      else {
        const [init, resp] = dhKeysWith(mistake, token);
        noise.mixKey(sharedSecretOf(privateKeys.init[init], publicKeyOf(privateKeys.resp[resp])));
      }
    }
    if (payload !== '' || mistake.emptyPayload === undefined) put(bytes(payload), read.length - at);
    if (writer === side) written[`message ${index + 1}`] = bytesToHex(concatBytes(parts));
  }
  written.handshakeHash = bytesToHex(noise.handshakeHash);
  const { sendKey, receiveKey } = noise.split(side);
  const seal = (key: Uint8Array, index: number, plaintext: Uint8Array): string => {
    const counter = mistake.nonce === 'never-advanced' ? 0n : BigInt(index);
    return bytesToHex(sealWith(mistake, suite, key, counter, noise.transportData, plaintext));
  };
  for (const [index, { plaintext }] of transcript.transport.filter(({ from }) => from === side).entries())
    written[`sealed ${index}`] = seal(sendKey, index, bytes(plaintext));
  written.opens = seal(receiveKey, 0, new Uint8Array(0)); // nobody sends this; it differs if messages do not open
  return written;
}

/** The mistakes with which a side writes `got` as this, and everything before it as it must be. */
export function mistakesIn(side: Side, transcript: Transcript, what: string, got: unknown): Causes {
  const right = handshakeWith({}, side, transcript);
  const fits = (mistake: Mistake): boolean => {
    const written = handshakeWith(mistake, side, transcript);
    const names = Object.keys(right);
    return (
      written[what] === got &&
      names.slice(0, names.indexOf(what)).every((name) => written[name] === right[name])
    );
  };
  return MISTAKES.filter(fits).map(({ cause }) => cause);
}

/** Whether a test that passes rules this mistake out: either side would write something else. */
export function showsIn(transcript: Transcript, cause: string): boolean {
  const mistake = MISTAKES.find((mistake) => mistake.cause === cause);
  if (mistake === undefined) return false;
  return (['init', 'resp'] as const).some((side) => {
    const [right, wrong] = [{}, mistake].map((made) => handshakeWith(made, side, transcript)) as [
      Written,
      Written,
    ];
    return Object.keys(right).some((name) => right[name] !== wrong[name]);
  });
}

/** The mistakes under which `key` seals to `got`, as the message after `index` others since `counter`. */
export function mistakesInSealing(
  suite: Suite,
  key: Uint8Array,
  counter: bigint,
  index: number,
  plaintext: Uint8Array,
  got: unknown,
): Causes {
  const fits = (mistake: Mistake): boolean => {
    const at = mistake.nonce === 'never-advanced' ? counter : counter + BigInt(index);
    const sealed = sealWith(mistake, suite, key, at, new Uint8Array(0), plaintext);
    return mistake.nonce !== undefined && equalBytes(sealed, hexToBytes(String(got)) ?? new Uint8Array(0));
  };
  return MISTAKES.filter(fits).map(({ cause }) => cause);
}
