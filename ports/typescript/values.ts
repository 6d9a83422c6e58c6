/** The values of the library, and the same values as JSON for the requests and responses of the judge. */
import { createHash } from 'node:crypto';
import {
  ClientLink,
  type CryptoProvider,
  canonicalJson,
  createKeyring,
  forgetPsks,
  type HubOptions,
  HubSession,
  type JsonObject,
  type Keyring,
  LocalError,
  type Order,
  parseJson,
  pinHub,
  RequestScheduler,
  type Suite,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import {
  ClientSession,
  HandshakeState,
  type PolicyDecision,
  type RequestDecision,
  type SessionEvent,
  type Transport,
} from '../../src/parts.ts';
import type { ClientOptions } from '../../src/small/client-session.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses have the fields of their operation
type Fields = Record<string, any>;

export function hex(digits: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(digits, 'hex'));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A frame given as bytes, or by rule: its marker, then bytes of a message whose byte i is i mod 127. */
export function frameOf({ bytes, marker, offset, length }: Fields): Uint8Array {
  if (bytes !== undefined) return hex(bytes);
  const payload = new Uint8Array(length); // engines of devices have no Buffer.alloc
  const first = Math.min(127, length);
  for (let i = 0; i < first; i++) payload[i] = (offset + i) % 127;
  for (let filled = first; filled < length; filled *= 2) {
    payload.set(payload.subarray(0, Math.min(filled, length - filled)), filled);
  }
  return marker === undefined ? payload : Buffer.concat([Uint8Array.of(marker), payload]);
}

/** ChaChaPoly or AESGCM, which is in the name of the suite. */
function cipherOf(suite: string): 'ChaChaPoly' | 'AESGCM' {
  return suite.split('_')[1] as 'ChaChaPoly' | 'AESGCM';
}

const MAX_COUNTER = 1000;

/**
 * Both ends of a transport with this key and counter, or undefined if that takes too long. The library cannot set either,
 * on purpose: keys come from handshakes, and counters count. So a handshake runs with a cipher that already has its key,
 * and empty messages follow until the counter is reached.
 */
export function transportAt(
  crypto: CryptoProvider,
  { suite, key, counter }: Fields,
): { sender: Transport; receiver: Transport } | undefined {
  if (Number(counter) > MAX_COUNTER) return undefined;
  const cipher = crypto.ciphers[cipherOf(suite)]!;
  const options = {
    crypto: { ...crypto, ciphers: { [cipherOf(suite)]: () => cipher(hex(key)) } },
    pattern: 'XXpsk2' as const,
    suite,
    prologue: new Uint8Array(0),
    psk: new Uint8Array(32).fill(1),
    staticKey: new Uint8Array(32).fill(2),
    randomBytes: (length: number) => new Uint8Array(length).fill(3),
  };
  const initiator = new HandshakeState({ ...options, role: 'initiator' });
  const responder = new HandshakeState({ ...options, role: 'responder' });
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  responder.readMessage(initiator.writeMessage());
  const sender = initiator.split();
  const receiver = responder.split();
  for (let i = 0; i < Number(counter); i++) receiver.decrypt(sender.encrypt(new Uint8Array(0)));
  return { sender, receiver };
}

/** The options that a request has for either side. */
function optionsOf(crypto: CryptoProvider, { suites, ephemeralKey, hello, patterns }: Fields): Fields {
  const ciphers = Object.fromEntries(
    (suites as Suite[]).map((suite) => [cipherOf(suite), crypto.ciphers[cipherOf(suite)]]),
  );
  return {
    crypto: { ...crypto, ciphers }, // their order is the order of preference
    randomBytes: () => hex(ephemeralKey),
    hello: hello && JSON.parse(hello),
    patterns,
  };
}

export function optionsOfClient(crypto: CryptoProvider, request: Fields): ClientOptions {
  const entriesOf = (keys: { [nodeId: string]: string }) =>
    Object.entries(keys).map(([nodeId, key]) => ({ nodeId, key: hex(key) }));
  const { siteId, staticKey, onKkFailure, trust, staticKeyIsFresh, pins, psks, suspects = [] } = request;
  const keyring = {
    staticKey: hex(staticKey),
    staticKeyIsFresh,
    pins: entriesOf(pins).map((pin) => ({ ...pin, isSuspect: suspects.indexOf(pin.nodeId) >= 0 })),
    psks: entriesOf(psks),
  };
  return { ...(optionsOf(crypto, request) as ClientOptions), siteId, keyring, onKkFailure, trust };
}

export function openSession(crypto: CryptoProvider, request: Fields): ClientSession | HubSession {
  if (request.role === 'client') return new ClientSession(optionsOfClient(crypto, request));
  const { nodeId, staticKey, psk, clientKey, handshake } = request;
  return new HubSession({
    ...(optionsOf(crypto, request) as Pick<HubOptions, 'crypto' | 'randomBytes'>),
    nodeId,
    staticKey: hex(staticKey),
    psk: hex(psk),
    clientKey: clientKey && hex(clientKey),
    handshake: handshake && (parseJson(handshake) as JsonObject),
  });
}

const BYTES = ['salt', 'key', 'replaces', 'hubKey', 'clientKey', 'handshakeHash'];

/** An event with bytes in hexadecimal and errors as codes; `byHash` gives messages by length and SHA-256. */
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
  // Its key does not enumerate, but in MicroQuickJS, where what hides it enumerates too.
  if (type === 'psk') return { type, nodeId: fields.nodeId, key: toHex((event as Fields).key) };
  const json: Fields = { type, ...fields };
  for (const name of BYTES) if (fields[name] !== undefined) json[name] = toHex(fields[name]);
  if (fields.error !== undefined) json.error = fields.error.code;
  if (type === 'ready' && 'hubKey' in fields) {
    json.sessionId = fields.sessionId ?? null;
    json.encoding = fields.encoding ?? null;
  }
  return json;
}

/** A decision of the scheduler of requests; of a reply its text, since the vectors of replies have the rest. */
export function decisionToJson(decision: RequestDecision): Fields {
  if (decision.do === 'send') return { do: 'send', requestId: decision.requestId };
  if (decision.do === 'handle') {
    const { type, requestId = null } = decision.event;
    return { do: 'handle', type, requestId };
  }
  if (decision.do === 'part') {
    const { requestId, text, expectsAnswer } = decision;
    return { do: 'part', requestId, text, expectsAnswer };
  }
  const { requestId, ending, reply, wasSent } = decision;
  return { do: 'finish', requestId, ending, text: reply.text, wasSent };
}

/** The event of a client that the JSON stands for, as far as ConnectionPolicy reads it. */
export function eventOf({ error, ...fields }: Fields): SessionEvent {
  return { ...fields, error: { code: error } } as unknown as SessionEvent;
}

/** A decision of the policy of connections, with the code of its error. */
export function policyDecisionToJson(decision: PolicyDecision | undefined): Fields | null {
  if (decision === undefined) return null;
  if (decision.do === 'ask') {
    const { after, error } = decision;
    return { do: 'ask', error: error.code, ...(after !== undefined && { after }) };
  }
  return decision.do === 'dial' ? { do: 'dial', after: decision.after } : { ...decision };
}

/** Takes the steps of a link. Returns the result of each. A question is cancelled with the object that was asked. */
export function runLink(crypto: CryptoProvider, { options, steps }: Fields): Fields[] {
  const { siteId, staticKey, staticPublicKey, ephemeralKeys, random, questions, paced, trust, ...further } =
    options;
  const { policy, shared } = further;
  const keys = ephemeralKeys.map(hex);
  const draws = random.map((draw: string | null) => draw ?? undefined);
  const own = createKeyring({
    accessKey: 'vectors',
    staticKey: staticKey ? hex(staticKey) : { publicKey: hex(staticPublicKey) },
    crypto,
  });
  const link = new ClientLink({
    crypto: { ...crypto, ciphers: { ChaChaPoly: crypto.ciphers.ChaChaPoly } },
    randomBytes: (length) => (length === 3 ? hex(draws.shift()) : keys.shift()),
    siteId,
    keyring: keyringOf(further, own),
    session: { paced, trust },
    policy,
    requests: questions && (({ sessionId }) => new RequestScheduler({ sessionId })),
    shared,
  });
  const asked: { [id: string]: JsonObject } = {};
  return steps.map((step: Fields) => {
    if (step.do === 'ask') asked[step.envelope.payload.context.request_id] = step.envelope;
    if (step.do === 'cancel') step.envelope = asked[step.requestId] ?? {};
    try {
      const orders = inputOf(link, step, own);
      return { orders: orders.map(orderToJson), deadline: link.deadline ?? null, state: link.state };
    } catch (error) {
      if (error instanceof LocalError) return { error: error.code };
      throw error;
    }
  });
}

function keyringOf({ staticKeyIsFresh, pins, psks, provisioned = [] }: Fields, own: Keyring): Keyring {
  let keyring = own;
  for (const [nodeId, key] of Object.entries<string>(pins)) keyring = pinHub(keyring, nodeId, hex(key));
  for (const [nodeId, key] of Object.entries<string>(psks)) {
    keyring = storePsk(keyring, nodeId, hex(key), { isProvisioned: provisioned.indexOf(nodeId) >= 0 });
  }
  const accepted = { type: 'message', kind: 'json', text: '' } as const;
  return staticKeyIsFresh ? keyring : updateKeyring(keyring, accepted);
}

function inputOf(link: ClientLink, step: Fields, own: Keyring): Order[] {
  const { at, connection, error, text, bytes } = step;
  const failure: Error | undefined = error && Object.assign(new Error(error), { code: error });
  const closing = (): Fields | Error | undefined => {
    const { code, status, reason, cause, platformCode, retryAfter } = step;
    return failure ?? { code, status, reason, cause, platformCode, retryAfter };
  };
  switch (step.do) {
    case 'start':
      return link.start(at);
    case 'opened':
      return link.opened(connection, at);
    case 'received':
      return link.received(connection, text ?? hex(bytes), at);
    case 'closed':
      return link.closed(connection, closing(), at);
    case 'stored':
      return link.stored(failure, at, step.keyring && keyringOf(step.keyring, own));
    case 'derived':
      return link.derived(step.derivation, failure ?? hex(step.psk), at);
    case 'computed':
      return link.computed(connection, failure ?? hex(step.sharedSecret), at);
    case 'ask':
      return link.ask(step.envelope, at, step.timeout);
    case 'cancel':
      return link.cancel(step.envelope, at);
    case 'send':
      return link.send(step.message ?? hex(bytes), at);
    case 'trust':
      return link.trust(at);
    case 'change':
      return link.change(forgetPsks, at);
    case 'end':
      return link.end(at);
  }
  const orders = link.wake(at);
  while (step.isRepeated && link.deadline === at) orders.push(...link.wake(at));
  return orders;
}

function orderToJson(order: Order): Fields {
  const fields: Fields = { ...order };
  if (order.do === 'write') {
    const { data, ...write } = order;
    return typeof data === 'string'
      ? { ...write, envelope: JSON.parse(data) }
      : { ...write, bytes: toHex(data) };
  }
  if (order.do === 'store') {
    const { pins, psks, staticKeyIsFresh } = order.keyring;
    const named = (keys: typeof pins): Fields =>
      Object.fromEntries(keys.map(({ nodeId, key }) => [nodeId, toHex(key)]));
    const doubted = (entries: typeof pins): string[] =>
      entries.filter(({ isSuspect }) => isSuspect).map(({ nodeId }) => nodeId);
    const suspects = { suspects: doubted(pins), suspectPsks: doubted(psks) };
    return { do: 'store', keyring: { staticKeyIsFresh, pins: named(pins), psks: named(psks), ...suspects } };
  }
  if (order.do === 'tell') return { do: 'tell', event: toldToJson(order.event) };
  if (order.do === 'derive') fields.salt = toHex(order.salt);
  if (order.do === 'compute') fields.publicKey = toHex(order.publicKey);
  return fields;
}

function toldToJson(event: Fields): Fields {
  const { type, error } = event;
  switch (type) {
    case 'connect': {
      const { peer, binarize, ...json } = eventToJson({ ...event, type: 'ready' }, false);
      return { ...json, type };
    }
    case 'message':
      return { type, message: { type: event.message.type, requestId: event.message.requestId ?? null } };
    case 'bytes':
      return { type, bytes: toHex(event.bytes) };
    case 'reconnect':
      return { type, after: event.after };
    case 'part': {
      const { requestId, text, expectsAnswer } = event;
      return { type, requestId, text, expectsAnswer };
    }
    case 'finish': {
      const { requestId, ending, reply } = event;
      return { type, requestId, ending, text: reply.text, error: error?.code ?? null };
    }
    case 'unsent': {
      const { message } = event;
      return { type, message: message instanceof Uint8Array ? toHex(message) : message, error: error.code };
    }
    case 'new-hub':
    case 'static-key-fresh':
      return { type, nodeId: event.nodeId };
    default:
      return eventToJson(event as { type: string }, false);
  }
}
