/** What this library takes and gives, in the values of the judge's requests and answers. */
import { createHash } from 'node:crypto';
import {
  ClientSession,
  type Crypto,
  canonicalJson,
  HubSession,
  type JsonObject,
  parseJson,
  type RequestDecision,
  type Suite,
} from 'hub-protocol';
import { CheckedCrypto } from '../../src/crypto/checked.ts';
import { CipherState } from '../../src/noise/cipher-state.ts';
import { SUITES } from '../../src/noise/patterns.ts';
import { Transport } from '../../src/noise/transport.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and answers have the fields of their operation
type Fields = Record<string, any>;

export function hex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A frame as it is, or by rule: its marker, then bytes of a message whose byte i is i mod 127. */
export function frameOf({ bytes, marker, offset, length }: Fields): Uint8Array {
  if (bytes !== undefined) return hex(bytes);
  const payload = new Uint8Array(length);
  for (let i = 0; i < length; i++) payload[i] = (offset + i) % 127;
  return marker === undefined ? payload : Buffer.concat([Uint8Array.of(marker), payload]);
}

/** A Transport whose nonces stand at a counter. The library has no way to put them there, on purpose. */
export function transportAt(crypto: Crypto, { suite, key, counter }: Fields): Transport {
  const cipher = SUITES[suite as Suite];
  const states = [0, 1].map(() => {
    const state = new CipherState(new CheckedCrypto(crypto), cipher);
    state.initializeKey(hex(key));
    const { nonce } = state as unknown as { nonce: Uint8Array };
    new DataView(nonce.buffer).setBigUint64(4, BigInt(counter), cipher === 'ChaChaPoly');
    return state;
  });
  return new Transport(states[0]!, states[1]!, new Uint8Array(32), new Uint8Array(32));
}

export function openSession(crypto: Crypto, request: Fields): ClientSession | HubSession {
  const { staticKey, ephemeralKey, suites, hello, patterns, onKkFailure } = request;
  const common = {
    // What is present is what can be negotiated, in order of preference.
    crypto: { ...crypto, ciphers: ciphersOf(crypto, suites) },
    staticKey: hex(staticKey),
    randomBytes: () => hex(ephemeralKey),
    hello: hello && (parseJson(hello) as JsonObject),
    patterns,
  };
  if (request.role === 'client') {
    const lookUp = (keys: { [nodeId: string]: string }) => (nodeId: string) =>
      Object.prototype.hasOwnProperty.call(keys, nodeId) ? hex(keys[nodeId]!) : undefined;
    const stores = { pin: lookUp(request.pins), psk: lookUp(request.psks) };
    return new ClientSession({ ...common, ...stores, siteId: request.siteId, onKkFailure });
  }
  const { nodeId, psk, clientKey, handshake } = request;
  return new HubSession({
    ...common,
    nodeId,
    psk: hex(psk),
    clientKey: clientKey && hex(clientKey),
    handshake: handshake && (parseJson(handshake) as JsonObject),
  });
}

function ciphersOf(crypto: Crypto, suites: Suite[]): Crypto['ciphers'] {
  return Object.fromEntries(suites.map((suite) => [SUITES[suite], crypto.ciphers[SUITES[suite]]]));
}

const BYTES = ['salt', 'key', 'hubKey', 'clientKey', 'handshakeHash'];

/** An event, with bytes in hexadecimal and errors by code; long messages by length and SHA-256. */
export function eventToJson(event: { type: string }, byHash: boolean): Fields {
  const { type, ...fields }: Fields = event;
  if (type === 'transmit') {
    const { data } = fields;
    return typeof data === 'string' ? { type, text: data } : { type, bytes: toHex(data) };
  }
  if (type === 'message') {
    const { kind, text, bytes } = fields;
    const content = bytes ?? Buffer.from(text);
    if (byHash) return { type, kind, length: content.length, sha256: sha256(content) };
    return kind === 'json' ? { type, kind, text } : { type, kind, bytes: toHex(bytes) };
  }
  if (type === 'dropped') return { type, kind: fields.kind, length: fields.bytes, reason: fields.reason };
  if (type === 'hello') {
    return fields.error
      ? { type, error: fields.error.code }
      : { type, payload: Buffer.from(canonicalJson(fields.payload)).toString() };
  }
  const answer: Fields = { type, ...fields };
  for (const name of BYTES) if (fields[name] !== undefined) answer[name] = toHex(fields[name]);
  if (fields.error !== undefined) answer.error = fields.error.code;
  if (type === 'ready' && 'encoding' in fields) answer.encoding = fields.encoding ?? null;
  return answer;
}

/** A decision of the scheduler of requests; of a reply its text, since the vectors of replies have the rest. */
export function decisionToJson(decision: RequestDecision): Fields {
  if (decision.do === 'send') return { do: 'send', requestId: decision.requestId };
  if (decision.do === 'handle') {
    const { type, requestId = null } = decision.event;
    return { do: 'handle', type, requestId };
  }
  const { requestId, ending, reply, wasSent } = decision;
  return { do: 'finish', requestId, ending, text: reply.text, wasSent };
}
