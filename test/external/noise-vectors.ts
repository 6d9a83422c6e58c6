/**
 * Transcripts of Noise handshakes, in the two formats in which implementations publish them:
 *
 * - JSON, from cacophony, snow and noise-c: `{vectors: [{protocol_name or name, init_…, resp_…, messages}]}`, or an array
 *   of these. Transport messages go on alternating, so after XXpsk2 the responder sends the first one.
 * - `field=value` lines, from flynn/noise, with an empty line after each transcript. The initiator always sends the first
 *   transport message.
 *
 * Transcripts of our four protocols are replayed in both roles; others are skipped.
 */
import { bytesToHex } from '../../src/bytes.ts';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { ALL_PATTERNS, ALL_SUITES, cipherNameOf, PATTERNS, protocolName } from '../../src/noise/patterns.ts';
import {
  bytes,
  count,
  expectResult,
  type Fields,
  isObject,
  Mismatch,
  type Vector,
  type VectorSet,
  withProviders,
} from './vector-set.ts';

type Role = 'initiator' | 'responder';

/** What one side knows, in hex. */
interface Side {
  readonly prologue: string;
  readonly psk: string;
  readonly staticKey: string;
  readonly ephemeralKey: string;
  /** In some transcripts, although it follows from the peer's private key. */
  readonly remoteStaticKey: string | undefined;
}

interface Transcript {
  readonly protocolName: string;
  readonly sides: { readonly [role in Role]: Side };
  readonly messages: readonly { readonly payload: string; readonly ciphertext: string }[];
  readonly handshakeHash: string | undefined;
  /** Whether the initiator sends the first transport message, whoever sent the last handshake message. */
  readonly initiatorFirst: boolean;
}

const OURS = new Map(
  ALL_PATTERNS.flatMap((pattern) =>
    ALL_SUITES.map((suite) => [protocolName(pattern, suite), { pattern, suite }] as const),
  ),
);

/** Replays a transcript in one role: writes that side's messages, reads the other's, and compares all. */
function replay(transcript: Transcript, crypto: CryptoProvider, role: Role, title: string): void {
  const { protocolName, sides, messages, handshakeHash, initiatorFirst } = transcript;
  const { pattern, suite } = OURS.get(protocolName)!;
  const own = sides[role];
  const peer = sides[role === 'initiator' ? 'responder' : 'initiator'];
  const remoteStaticKey = crypto.x25519.publicKey(bytes(peer.staticKey));
  if (own.remoteStaticKey !== undefined) {
    expectResult(`${title}: the peer's static public key`, own.remoteStaticKey, () => remoteStaticKey);
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
    throw new Mismatch(`${title}: number of messages`, `at least ${handshake.length}`, `${messages.length}`);
  }
  const isOurs = (turn: number) => (turn % 2 === 0) === (role === 'initiator');
  handshake.forEach((_, i) => {
    const { payload, ciphertext } = messages[i]!;
    const what = `${title}: message ${i}`;
    if (isOurs(i)) expectResult(what, ciphertext, () => state.writeMessage(bytes(payload)));
    else expectResult(`${what}, its payload`, payload, () => state.readMessage(bytes(ciphertext)));
  });

  const transport = state.split();
  expectResult(`${title}: remoteStaticKey`, bytesToHex(remoteStaticKey), () => transport.remoteStaticKey);
  if (handshakeHash !== undefined) {
    expectResult(`${title}: handshakeHash`, handshakeHash, () => transport.handshakeHash);
  }
  for (let i = handshake.length; i < messages.length; i++) {
    const { payload, ciphertext } = messages[i]!;
    const what = `${title}: transport message ${i}`;
    if (isOurs(initiatorFirst ? i - handshake.length : i)) {
      expectResult(what, ciphertext, () => transport.encrypt(bytes(payload)));
    } else {
      expectResult(`${what}, its plaintext`, payload, () => transport.decrypt(bytes(ciphertext)));
    }
  }
}

/** Makes a set of vectors from the protocol names of all transcripts, and a function that reads one of ours. */
function vectorSet(names: readonly string[], read: (index: number) => Transcript): VectorSet {
  const vectors: Vector[] = [];
  const skipped = new Map<string, number>();
  names.forEach((name, index) => {
    const protocol = OURS.get(name);
    if (protocol === undefined) {
      count(skipped, 'other protocol');
      return;
    }
    const runs = withProviders((crypto, provider) => {
      const transcript = read(index);
      replay(transcript, crypto, 'initiator', `${provider} as initiator`);
      replay(transcript, crypto, 'responder', `${provider} as responder`);
    }, cipherNameOf(protocol.suite));
    vectors.push({ name: `transcript ${index + 1}, ${name}`, runs });
  });
  return { kind: 'Noise transcripts', vectors, skipped };
}

/** Reads the JSON of cacophony, snow and noise-c. Returns `undefined` for anything else. */
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

/** Reads the lines of flynn/noise. Returns `undefined` for anything else. */
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
