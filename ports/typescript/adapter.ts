/**
 * The adapter of this library for the judge: one response for each request, over the public API only. vectors/README.md
 * describes the requests. `ports/typescript/judge` runs it.
 */
import { createInterface } from 'node:readline';
import { inflateSync } from 'node:zlib';
import { decodeBinary, encodeBinary } from '../../src/binary.ts';
import type { Cipher } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import * as protocol from '../../src/index.ts';
import * as parts from '../../src/parts.ts';
import {
  decisionToJson,
  eventOf,
  eventToJson,
  frameOf,
  hex,
  openSession,
  policyDecisionToJson,
  runLink,
  sha256,
  toHex,
  transportAt,
} from './values.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses have the fields of their operation
type Fields = Record<string, any>;
type Operation = (request: Fields) => Fields;

/** Returns a function that answers requests. It holds one handshake, one transport and one session between them. */
export function createAdapter(crypto: protocol.CryptoProvider = nodeCrypto): Operation {
  let handshake: parts.HandshakeState;
  let transport: parts.Transport;
  let session: parts.ClientSession | protocol.HubSession;
  const operations: { [operation: string]: Operation } = {
    'canonical-json': ({ text, bytes }) => ({
      canonical: toHex(protocol.canonicalJson(protocol.parseJson(text ?? hex(bytes)))),
    }),
    prologue({ hello, handshake, protocolName }) {
      const [first, second] = [protocol.parseJson(hello), protocol.parseJson(handshake)];
      return { prologue: toHex(parts.buildPrologue(first, second, protocolName)) };
    },
    select({ patterns, suites, own, pinned }) {
      const { pattern, suite } = parts.selectNoise({ patterns, suites }, { suites: own, pinned });
      return { pattern, suite, protocolName: parts.protocolName(pattern, suite) };
    },
    psk: ({ password, nodeId }) => ({ psk: toHex(protocol.derivePsk({ crypto, password, nodeId })) }),
    argon2id({ password, salt, secret, associatedData, passes, memoryKiB, parallelism, length }) {
      const tag = parts.argon2id({
        crypto,
        password: hex(password),
        salt: hex(salt),
        secret: hex(secret),
        associatedData: hex(associatedData),
        passes,
        memoryKiB,
        parallelism,
        length,
      });
      return { tag: toHex(tag) };
    },
    handshake(request) {
      if (request.do === 'write') return { message: toHex(handshake.writeMessage(hex(request.payload))) };
      if (request.do === 'read') return { payload: toHex(handshake.readMessage(hex(request.message))) };
      if (request.do === 'split') {
        transport = handshake.split();
        const { handshakeHash, remoteStaticKey } = transport;
        return { handshakeHash: toHex(handshakeHash), remoteStaticKey: toHex(remoteStaticKey) };
      }
      const { role, pattern, suite, ephemeralKey, remoteStaticKey } = request;
      handshake = new parts.HandshakeState({
        crypto,
        role,
        pattern,
        suite,
        prologue: hex(request.prologue),
        psk: hex(request.psk),
        staticKey: hex(request.staticKey),
        remoteStaticKey: remoteStaticKey && hex(remoteStaticKey),
        randomBytes: () => hex(ephemeralKey),
      });
      return {};
    },
    seal({ plaintexts, ...state }) {
      const sender = state.key === undefined ? transport : transportAt(crypto, state)?.sender;
      if (sender === undefined) return { declined: true };
      return {
        results: each(plaintexts, (plaintext) => ({ message: toHex(sender.encrypt(hex(plaintext))) })),
      };
    },
    open({ messages, ...state }) {
      const receiver = state.key === undefined ? transport : transportAt(crypto, state)?.receiver;
      if (receiver === undefined) return { declined: true };
      return { results: each(messages, (message) => ({ plaintext: toHex(receiver.decrypt(hex(message))) })) };
    },
    split({ kind, length }) {
      const frames = parts.splitMessage(kind, frameOf({ offset: 0, length }));
      const payloads = frames.map((frame) => frame.subarray(1));
      return {
        frames: payloads.map((payload, i) => ({
          marker: frames[i]![0],
          length: payload.length,
          sha256: sha256(payload),
        })),
      };
    },
    reassemble({ frames, maxMessage }) {
      const reassembler = new parts.Reassembler({ maxMessage });
      const events: Fields[] = [];
      try {
        for (const frame of frames) {
          const event = reassembler.push(frameOf(frame));
          if (event !== undefined) events.push(eventToJson(event, true));
        }
      } catch (error) {
        return { events, error: (error as protocol.RemoteError).code };
      }
      return { events };
    },
    identity({ text }) {
      const identity = protocol.parseIdentity(text);
      const { dataPlaneEndpoints, mqtt } = identity;
      return {
        identity: {
          ...fieldsOf(identity, IDENTITY),
          dataPlaneEndpoints: fieldsOf(dataPlaneEndpoints, ENDPOINTS),
          ...(mqtt && { mqtt: fieldsOf(mqtt, MQTT) }),
        },
        redacted: protocol.redactIdentity(identity),
      };
    },
    endpoint: ({ text, ...options }) => ({
      ...protocol.selectEndpoint(protocol.parseIdentity(text), options),
    }),
    authorization: ({ address, userAgent, accessKey, ...options }) => ({
      url: protocol.authorizedUrl(address, userAgent, accessKey, options),
    }),
    disclosure({ aiDisclosure, tag, ...situation }) {
      const told = protocol.disclosureDue(
        { aiDisclosure },
        { ...(situation as Parameters<typeof protocol.disclosureDue>[1]), language: tag },
      );
      return told.due ? { ...told, text: told.text ?? null } : { due: false };
    },
    topics: ({ mqtt }) => ({ ...protocol.deriveTopics(mqtt) }),
    broker: ({ mqtt, ...options }) => ({ ...protocol.brokerEndpoint(mqtt, options) }),
    'client-id': ({ name, accessKey }) => ({ clientId: protocol.clientId(name, accessKey) }),
    presence: ({ status }) => ({ ...protocol.presence({ status }) }),
    request({ builder, arguments: fields }) {
      const build = {
        utterance: protocol.buildUtterance,
        action: protocol.buildAction,
        code: protocol.buildCode,
      };
      return { envelope: build[builder as keyof typeof build](fields) };
    },
    'session-ids': ({ declared, returned }) => ({ matches: parts.sessionIdsMatch(declared, returned) }),
    reply({ request: { sole, ...options }, events, end }) {
      const collector = new parts.ReplyCollector(options);
      for (const event of events) collector.push(event, sole);
      if (end === 'timeout') collector.timeout();
      if (end === 'stop') collector.stop();
      if (end === 'closed') collector.closed();
      const { state, ending = null, reply } = collector;
      const refusal = protocol.readRefusal(reply.rawEvent);
      return { state, ending, reply, ...(refusal && { refusal }) };
    },
    schedule({ options, steps }) {
      const scheduler = new protocol.RequestScheduler(options);
      const take: { [operation: string]: (step: Fields) => parts.RequestDecision[] | undefined } = {
        request: ({ envelope, at, timeout }) => scheduler.request(envelope, at, timeout),
        'note-sent': ({ at }) => void scheduler.noteSent(at),
        receive: ({ message, at }) => scheduler.receive(message, at),
        expire: ({ at }) => scheduler.expire(at),
        cancel: ({ requestId, at }) => scheduler.cancel(requestId, at),
        closed: () => scheduler.closed(),
      };
      const results = steps.map((step: Fields) => ({
        decisions: (take[step.do]!(step) ?? []).map(decisionToJson),
        deadline: scheduler.nextDeadline(step.at) ?? null,
        saysHandled: scheduler.saysHandled ?? null,
      }));
      return { results };
    },
    policy({ options, random, steps }) {
      const draws = random.map(hex);
      const policy = new parts.ConnectionPolicy({ ...options, randomBytes: () => draws.shift() });
      const calls: { [call: string]: (step: Fields) => Fields } = {
        begin: ({ at }) => ({ options: policy.begin(at) ?? null }),
        deadline: ({ state, at }) => ({ deadline: policy.deadline(state, at) ?? null }),
        take: ({ event, at }) => ({ decision: policyDecisionToJson(policy.take(eventOf(event), at)) }),
        goodbye: () => policy.goodbye() ?? {},
        resume: () => policy.resume() ?? {},
      };
      return { results: steps.map((step: Fields) => calls[step.do]!(step)) };
    },
    link: (request) => ({ results: runLink(crypto, request) }),
    'encode-binary'({ msgType, metadata: text, payload, binType, bytes }) {
      const metadata = JSON.parse(text);
      const message =
        msgType === 'bin'
          ? encodeBinary({ msg_type: msgType, bin_type: binType, metadata, payload: hex(bytes) })
          : encodeBinary({ msg_type: msgType, metadata, payload: JSON.parse(payload) });
      return { message: toHex(message) };
    },
    'decode-binary'({ message, maxInflated }) {
      const decoded = decodeBinary(hex(message), {
        inflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength }),
        maxInflated,
      });
      const { msg_type: msgType, metadata, payload } = decoded;
      if (decoded.msg_type !== 'bin') return { msgType, metadata, payload };
      return { msgType, metadata, binType: decoded.bin_type, bytes: toHex(decoded.payload) };
    },
    session(request) {
      const { text, bytes, code, status, reason, cause } = request;
      const data = text ?? (bytes === undefined ? undefined : hex(bytes));
      const isCode = status === undefined && reason === undefined && cause === undefined;
      const closing = isCode ? code : { code, status, reason, cause };
      let events: readonly { type: string }[] = [];
      if (request.do === 'open') session = openSession(crypto, request);
      else if (request.do === 'start') events = session.start();
      else if (request.do === 'receive') events = session.receive(data);
      else if (request.do === 'closed') events = session.closed(closing);
      else if (request.do === 'psk') events = (session as parts.ClientSession).providePsk(hex(request.psk));
      else {
        const messages = request.kind === 'json' ? session.sendJson(data) : session.sendBinary(data);
        return { messages: messages.map(toHex) };
      }
      return { events: events.map((event) => eventToJson(event, false)) };
    },
  };
  return ({ id, op, ...request }) => {
    const operation = operations[op];
    if (operation === undefined) return { id, declined: true };
    try {
      return { id, ...operation(request) };
    } catch (error) {
      const isRefusal = error instanceof protocol.LocalError || error instanceof protocol.RemoteError;
      if (isRefusal) return { id, error: error.code };
      throw error;
    }
  };
}

// Fields of an identity that hold a secret do not enumerate, so they are read by name.
const IDENTITY =
  'accessKey password siteId cryptoKey publicKey defaultMaster defaultPort defaultPath protocols aiDisclosure';
const ENDPOINTS = 'wss https mqtt';
const MQTT =
  'endpoint username password tls qos accessKey topicPrefix hubId c2sTopic s2cTopic statusTopic hashTopics';

function fieldsOf(object: object, names: string): Fields {
  const values = object as Fields;
  const present = names.split(' ').filter((name) => values[name] !== undefined);
  return Object.fromEntries(present.map((name) => [name, values[name]]));
}

/** The result of each message. All are tried, also after a failure. */
function each(messages: string[], attempt: (message: string) => Fields): Fields[] {
  return messages.map((message) => {
    try {
      return attempt(message);
    } catch (error) {
      return { error: (error as protocol.LocalError | protocol.RemoteError).code };
    }
  });
}

/**
 * A response in JSON, on one line.
 * @throws Error if a number in it is NaN or infinite, which JSON writes as null
 */
export function lineOf(response: Fields): string {
  return JSON.stringify(response, (name, value) => {
    if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${name} is ${value}`);
    return value;
  });
}

/** The cryptography with notes of what Noise computes: h after each MixHash, ck after each HKDF, and each call of the AEAD. */
export function tracing(crypto: protocol.CryptoProvider, trace: Fields[]): protocol.CryptoProvider {
  const { sha256, hmacSha256, ciphers } = crypto;
  const watched = (cipher: Cipher, k: string): Cipher => {
    const noting = (name: 'seal' | 'open'): Cipher['open'] & Cipher['seal'] =>
      ((nonce: Uint8Array, ad: Uint8Array, text: Uint8Array) => {
        trace.push({ k, nonce: toHex(nonce), ad: toHex(ad) });
        return cipher[name](nonce, ad, text);
      }) as Cipher['open'] & Cipher['seal'];
    return { seal: noting('seal'), open: noting('open') };
  };
  return {
    ...crypto,
    sha256(...parts) {
      const hash = sha256(...parts);
      if (parts[0]!.length === 32) trace.push({ h: toHex(hash) }); // h, and what is mixed into it
      return hash;
    },
    hmacSha256(key, ...parts) {
      const output = hmacSha256(key, ...parts);
      if (parts[1]?.length === 1 && parts[1][0] === 1) trace.push({ ck: toHex(output) });
      return output;
    },
    ciphers: Object.fromEntries(
      Object.entries(ciphers).map(([name, cipher]) => [
        name,
        (key: Uint8Array) => watched(cipher!(key), toHex(key)),
      ]),
    ),
  };
}

function main(): void {
  const trace: Fields[] = [];
  const respond = createAdapter(tracing(nodeCrypto, trace));
  createInterface({ input: process.stdin }).on('line', (line) => {
    const response = respond(JSON.parse(line));
    process.stdout.write(
      `${lineOf(trace.length === 0 ? response : { ...response, trace: trace.splice(0) })}\n`,
    );
  });
}

if (import.meta.filename === process.argv[1]) main();
