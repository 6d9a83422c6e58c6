/**
 * Transcripts of Noise handshakes, in the two formats that implementations publish them in:
 *
 * - JSON, as of cacophony, snow and noise-c: `{vectors: [{protocol_name or name, init_…, resp_…, messages}]}`, or an
 *   array of these. The transport messages go on alternating, so after XXpsk2 the responder's comes first.
 * - `field=value` lines, as of flynn/noise, with an empty line after each transcript. The initiator's transport
 *   message always comes first.
 *
 * Transcripts of our four protocols are replayed in both roles, others are skipped.
 */
import { bytesToHex } from '../../src/bytes.ts';
import type { Crypto } from '../../src/crypto/crypto.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { ALL_PATTERNS, ALL_SUITES, PATTERNS, protocolName, SUITES } from '../../src/noise/patterns.ts';
import {
  answers,
  bytes,
  count,
  type Fields,
  isObject,
  Mismatch,
  PROVIDERS,
  type Vector,
  type VectorSet,
} from './vector-set.ts';

type Role = 'initiator' | 'responder';

/** What one side knows; all bytes are in hex. */
interface Side {
  readonly prologue: string;
  readonly psk: string;
  readonly staticKey: string;
  readonly ephemeralKey: string;
  /** Where the transcript gives it, although the peer's private key gives it too. */
  readonly remoteStaticKey: string | undefined;
}

interface Transcript {
  readonly protocolName: string;
  readonly sides: { readonly [role in Role]: Side };
  readonly messages: readonly { readonly payload: string; readonly ciphertext: string }[];
  readonly handshakeHash: string | undefined;
  /** Whether the transport messages begin with the initiator, whoever wrote the last handshake message. */
  readonly initiatorFirst: boolean;
}

const OURS = new Map(
  ALL_PATTERNS.flatMap((pattern) =>
    ALL_SUITES.map((suite) => [protocolName(pattern, suite), { pattern, suite }] as const),
  ),
);

/** One side of the transcript: its messages are written and compared, the other side's are read and compared. */
function replay(transcript: Transcript, crypto: Crypto, role: Role, title: string): void {
  const { protocolName, sides, messages, handshakeHash, initiatorFirst } = transcript;
  const { pattern, suite } = OURS.get(protocolName)!;
  const own = sides[role];
  const peer = sides[role === 'initiator' ? 'responder' : 'initiator'];
  const remoteStaticKey = crypto.x25519.publicKey(bytes(peer.staticKey));
  if (own.remoteStaticKey !== undefined) {
    answers(`${title}: the peer's static public key`, own.remoteStaticKey, () => remoteStaticKey);
  }

  const { staticKeysKnown, messages: handshake } = PATTERNS[pattern];
  const state = new HandshakeState({
    crypto,
    role,
    pattern,
    suite,
    prologue: bytes(own.prologue),
    psk: bytes(own.psk),
    staticKey: bytes(own.staticKey),
    remoteStaticKey: staticKeysKnown ? remoteStaticKey : undefined,
    randomBytes: () => bytes(own.ephemeralKey),
  });
  if (messages.length < handshake.length) {
    throw new Mismatch(`${title}: messages`, `at least ${handshake.length}`, `${messages.length}`);
  }
  const isOurs = (turn: number) => (turn % 2 === 0) === (role === 'initiator');
  handshake.forEach((_, i) => {
    const { payload, ciphertext } = messages[i]!;
    const what = `${title}: message ${i}`;
    if (isOurs(i)) answers(what, ciphertext, () => state.writeMessage(bytes(payload)));
    else answers(`${what}, its payload`, payload, () => state.readMessage(bytes(ciphertext)));
  });

  const transport = state.split();
  answers(`${title}: remoteStaticKey`, bytesToHex(remoteStaticKey), () => transport.remoteStaticKey);
  if (handshakeHash !== undefined) {
    answers(`${title}: handshakeHash`, handshakeHash, () => transport.handshakeHash);
  }
  for (let i = handshake.length; i < messages.length; i++) {
    const { payload, ciphertext } = messages[i]!;
    const what = `${title}: transport message ${i}`;
    if (isOurs(initiatorFirst ? i - handshake.length : i)) {
      answers(what, ciphertext, () => transport.encrypt(bytes(payload)));
    } else {
      answers(`${what}, its plaintext`, payload, () => transport.decrypt(bytes(ciphertext)));
    }
  }
}

/** The set, given the name of each transcript's protocol and how to read those that are ours. */
function vectorSet(names: readonly string[], read: (index: number) => Transcript): VectorSet {
  const vectors: Vector[] = [];
  const skipped = new Map<string, number>();
  names.forEach((name, index) => {
    const protocol = OURS.get(name);
    if (protocol === undefined) {
      count(skipped, 'other protocol');
      return;
    }
    const run = () => {
      const transcript = read(index);
      for (const [provider, crypto] of PROVIDERS) {
        if (crypto.ciphers[SUITES[protocol.suite]] === undefined) continue;
        replay(transcript, crypto, 'initiator', `${provider} as initiator`);
        replay(transcript, crypto, 'responder', `${provider} as responder`);
      }
    };
    vectors.push({ name: `transcript ${index + 1}, ${name}`, run });
  });
  return { kind: 'Noise transcripts', vectors, skipped };
}

/** Reads the JSON of cacophony, snow and noise-c; `undefined` where it is something else. */
export function noiseJson(json: unknown): VectorSet | undefined {
  const entries = flatten(json);
  const names = entries.map((entry) => (isObject(entry) ? (entry.protocol_name ?? entry.name) : undefined));
  const isTranscript = (entry: unknown, i: number) =>
    isObject(entry) && typeof names[i] === 'string' && Array.isArray(entry.messages);
  if (entries.length === 0 || !entries.every(isTranscript)) return undefined;
  return vectorSet(names, (index) => {
    const entry = entries[index] as Fields;
    const side = (prefix: 'init' | 'resp'): Side => ({
      prologue: entry[`${prefix}_prologue`] ?? '',
      psk: entry[`${prefix}_psks`]?.[0],
      staticKey: entry[`${prefix}_static`],
      ephemeralKey: entry[`${prefix}_ephemeral`],
      remoteStaticKey: entry[`${prefix}_remote_static`],
    });
    return {
      protocolName: names[index],
      sides: { initiator: side('init'), responder: side('resp') },
      messages: entry.messages,
      handshakeHash: entry.handshake_hash,
      initiatorFirst: false,
    };
  });
}

function flatten(json: unknown): unknown[] {
  if (Array.isArray(json)) return json.flatMap(flatten);
  return isObject(json) && Array.isArray(json.vectors) ? json.vectors.flatMap(flatten) : [json];
}

/** Reads the lines of flynn/noise; `undefined` where it is something else. */
export function noiseLines(text: string): VectorSet | undefined {
  if (!/^handshake=Noise_/m.test(text)) return undefined;
  const blocks = text
    .split(/^(?=handshake=)/m)
    .map(fieldsOf)
    .filter(({ handshake }) => handshake !== undefined);
  return vectorSet(
    blocks.map(({ handshake }) => handshake),
    (index) => {
      const block = blocks[index]!;
      const side = (prefix: 'init' | 'resp'): Side => ({
        prologue: block.prologue ?? '',
        psk: block.preshared_key,
        staticKey: block[`${prefix}_static`],
        ephemeralKey: block[`gen_${prefix}_ephemeral`],
        remoteStaticKey: undefined,
      });
      const messages = [];
      for (let i = 0; block[`msg_${i}_payload`] !== undefined; i++) {
        messages.push({ payload: block[`msg_${i}_payload`], ciphertext: block[`msg_${i}_ciphertext`] });
      }
      return {
        protocolName: block.handshake,
        sides: { initiator: side('init'), responder: side('resp') },
        messages,
        handshakeHash: undefined,
        initiatorFirst: true,
      };
    },
  );
}

function fieldsOf(lines: string): Fields {
  return Object.fromEntries(
    [...lines.matchAll(/^(\w+)=(.*?)\r?$/gm)].map(([, name, value]) => [name, value]),
  );
}
