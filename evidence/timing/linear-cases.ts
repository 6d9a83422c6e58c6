/**
 * What evidence/timing/linear.ts measures: every function that takes data of a peer, with input of any length, and of bad forms, and
 * everything that may wait or be kept in any number.
 */
import { deflateSync, inflateSync } from 'node:zlib';
import { Listeners } from '../../client/dist/listeners.js';
import { decodeBinary, encodeBinary } from '../../dist/binary.js';
import { bytesToUtf8 } from '../../dist/bytes.js';
import { nodeCrypto } from '../../dist/crypto/node.js';
import { engine } from '../../dist/engine.js';
import {
  brokerEndpoint,
  buildUtterance,
  ClientLink,
  canonicalJson,
  createKeyring,
  deriveTopics,
  type Json,
  parseIdentity,
  parseJson,
  parseKeyring,
  RequestScheduler,
  redactIdentity,
  selectEndpoint,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../dist/index.js';
import {
  ClientSession,
  HandshakeState,
  Reassembler,
  ReplyCollector,
  splitMessage,
} from '../../dist/parts.js';
import { parseEnvelope } from '../../dist/wire/envelope.js';

export interface Case {
  /** The longest input in bytes, where that is less than 8 MiB. */
  readonly limit?: number;
  /** Makes the input, of about this many bytes, and returns the call to measure. It is made anew for each call. */
  readonly prepare: (size: number) => () => unknown;
}

/** Copies of a piece, as many as fit. */
const fill = (size: number, piece: string): string =>
  piece.repeat(Math.max(1, Math.floor(size / piece.length)));
const list = (size: number, piece: string): string => `[${fill(size, piece).slice(0, -1)}]`;
const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const DEVICE =
  '{"id":12345,"name":"Kitchen lamp","state":{"on":true,"level":80},"tags":["a","bc"],"note":"é\\n"},';
const members = (size: number, key: (index: number) => string): string =>
  `{${Array.from({ length: Math.max(1, Math.floor(size / 12)) }, (_, i) => `"${key(i)}":1`).join()}}`;

/** JSON of any length, of forms that are ordinary, and of such as an attacker would send. */
const TEXTS: { readonly [name: string]: (size: number) => string } = {
  objects: (size) => list(size, DEVICE),
  'arrays of one': (size) => list(size, '[1],'),
  'one object': (size) => members(size, (i) => `key${i}`),
  'keys that are indices': (size) => members(size, (i) => `${i}`),
  'numbers with fractions': (size) => list(size, '0.25,'),
  'one number': (size) => fill(size, '1'),
  'one string': (size) => `"${fill(size, 'a')}"`,
  escapes: (size) => `"${fill(size, '\\u0001')}"`,
  'not closed': (size) => `["${fill(size, 'é')}`,
};

/** As on an engine that has no TextDecoder. */
function withoutEngine(call: () => unknown): () => unknown {
  return () => {
    engine().codec = undefined;
    return call();
  };
}

const tolerant = (call: () => unknown) => () => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

function ofJson(): { [name: string]: Case } {
  const cases: { [name: string]: Case } = {};
  for (const [form, make] of Object.entries(TEXTS)) {
    const parse = (size: number) => {
      const bytes = utf8(make(size));
      return tolerant(() => parseJson(bytes));
    };
    cases[`parseJson, ${form}`] = { prepare: parse };
    cases[`parseJson without the engine, ${form}`] = { prepare: (size) => withoutEngine(parse(size)) };
    if (form === 'not closed') continue;
    cases[`canonicalJson, ${form}`] = {
      prepare: (size) => {
        const value = parseJson(make(size));
        return () => canonicalJson(value);
      },
    };
  }
  return cases;
}

const STATIC_KEY = new Uint8Array(32).fill(7);
const PSK = new Uint8Array(32).fill(5);
const randomBytes = (length: number): Uint8Array => new Uint8Array(length).fill(9);
const ACCESS_KEY = 'key-of-the-client';

const client = (): ClientSession =>
  new ClientSession({
    crypto: nodeCrypto,
    siteId: 'lobby',
    randomBytes,
    keyring: { staticKey: STATIC_KEY, psks: [{ nodeId: 'hub', key: PSK }] },
  });
const envelope = (type: string, payload: object): string => JSON.stringify({ msg_type: type, payload });
const hello = (further: Json): string => envelope('hello', { node_id: 'hub', further });
const offer = (further: Json): string =>
  envelope('shake', {
    max_protocol_version: 3,
    noise: { patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] },
    further,
  });

/** Both ends of a session. */
function transports(): ReturnType<HandshakeState['split']>[] {
  const side = (role: 'initiator' | 'responder') =>
    new HandshakeState({
      ...{ crypto: nodeCrypto, role, pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256' },
      ...{ prologue: new Uint8Array(0), psk: PSK, staticKey: STATIC_KEY, randomBytes },
    });
  const [initiator, responder] = [side('initiator'), side('responder')];
  responder.readMessage(initiator.writeMessage());
  initiator.readMessage(responder.writeMessage());
  responder.readMessage(initiator.writeMessage());
  return [initiator.split(), responder.split()];
}

/** Pushes a message in chunks of this many bytes, all of which are one array. */
function reassemble(size: number, length: number): () => unknown {
  const [first, middle, last] = [0x02, 0x04, 0x05].map((marker) =>
    new Uint8Array(1 + length).fill(97).fill(marker, 0, 1),
  );
  return () => {
    const reassembler = new Reassembler();
    reassembler.push(first!);
    for (let at = 2 * length; at < size; at += length) reassembler.push(middle!);
    return reassembler.push(last!);
  };
}

const identity = (fields: object): string =>
  JSON.stringify({ access_key: ACCESS_KEY, password: 'the password', ...fields });

const keyring = (size: number): string => {
  const entries = Array.from({ length: Math.max(1, Math.floor(size / 120)) }, (_, i) => ({
    node_id: `hub-${i}`,
    key: 'ab'.repeat(32),
  }));
  const empty = JSON.parse(serializeKeyring(createKeyring({ accessKey: ACCESS_KEY, staticKey: STATIC_KEY })));
  return JSON.stringify({ ...empty, pins: entries });
};

/** Bytes for each request, listener or hub of a queue; the scheduler takes no more than 10,000 requests. */
const EACH = 256;
const QUEUE = 2 ** 21;

const question = (id: string, sessionId: string) =>
  buildUtterance({ text: 'What is on today?', requestId: id, sessionId });

/** Makes requests, all at once, and then answers each as it is sent. */
function schedule(size: number, isNamed: boolean, sessionOf: (id: string) => string): () => unknown {
  const ids = Array.from({ length: size / EACH }, (_, i) => `r${i}`);
  const envelopes = ids.map((id) => question(id, sessionOf(id)));
  const event = (id: string, type: string, data: object): string => {
    const context = { ...(isNamed && { request_id: id }), session: { session_id: sessionOf(id) } };
    return JSON.stringify({ msg_type: 'bus', payload: { type, data, context } });
  };
  return () => {
    const scheduler = new RequestScheduler();
    const decisions = envelopes.flatMap((envelope, now) => scheduler.request(envelope, now, 1e6));
    for (const decision of decisions) {
      if (decision.do !== 'send') continue;
      const { requestId } = decision;
      decisions.push(...scheduler.receive(event(requestId, 'speak', { utterance: 'Nothing.' }), EACH));
      scheduler.nextDeadline(EACH);
      decisions.push(...scheduler.receive(event(requestId, 'ovos.utterance.handled', {}), EACH));
      scheduler.nextDeadline(EACH);
    }
    return decisions;
  };
}

function ofQueues(): { [name: string]: Case } {
  const limit = QUEUE;
  return {
    'RequestScheduler, one session': { limit, prepare: (size) => schedule(size, true, () => 's') },
    'RequestScheduler, one session, without request ids': {
      limit,
      prepare: (size) => schedule(size, false, () => 's'),
    },
    'RequestScheduler, a session for each': { limit, prepare: (size) => schedule(size, true, (id) => id) },
    'RequestScheduler, the same without request ids': {
      limit,
      prepare: (size) => schedule(size, false, (id) => id),
    },
    'ClientLink, questions without a connection': {
      limit,
      prepare: (size) => {
        const link = new ClientLink({
          ...{
            crypto: nodeCrypto,
            randomBytes,
            siteId: 'lobby',
            keyring: parseKeyring(keyring(1), ACCESS_KEY),
          },
          requests: () => new RequestScheduler(),
        });
        const envelopes = Array.from({ length: size / EACH }, (_, i) => question(`r${i}`, 's'));
        return () => {
          for (const [now, envelope] of envelopes.entries()) link.ask(envelope, now);
          return link.wake(1e6);
        };
      },
    },
    'ClientSession, a keyring of many hubs': {
      prepare: (size) => {
        const parsed = parseKeyring(keyring(size), ACCESS_KEY);
        return () => {
          const session = new ClientSession({ crypto: nodeCrypto, siteId: '', randomBytes, keyring: parsed });
          return [session.receive(hello(null)), session.receive(offer(null))];
        };
      },
    },
    Listeners: {
      prepare: (size) => {
        const all = Array.from({ length: size / EACH }, () => () => {});
        return () => {
          const listeners = new Listeners();
          for (const listener of all) listeners.add('end', listener);
          listeners.emit({ type: 'end' });
          for (const listener of all) listeners.remove('end', listener);
        };
      },
    },
  };
}

export const CASES: { readonly [name: string]: Case } = {
  ...ofJson(),
  ...ofQueues(),
  'bytesToUtf8, ASCII': { prepare: (size) => bytesToUtf8.bind(null, utf8(fill(size, 'a'))) },
  'bytesToUtf8, é': { prepare: (size) => bytesToUtf8.bind(null, utf8(fill(size / 2, 'é'))) },
  'bytesToUtf8 without the engine': {
    prepare: (size) => withoutEngine(bytesToUtf8.bind(null, utf8(fill(size / 2, 'é')))),
  },
  parseEnvelope: {
    limit: 2 ** 18,
    prepare: (size) => parseEnvelope.bind(null, hello(fill(size - 80, 'a'))),
  },
  'ClientSession.receive, HELLO': {
    prepare: (size) => {
      const session = client();
      const text = hello(JSON.parse(list(size, DEVICE)));
      return () => session.receive(text);
    },
  },
  'ClientSession.receive, offer': {
    prepare: (size) => {
      const session = client();
      session.receive(hello(null));
      const text = offer(JSON.parse(list(size, DEVICE)));
      return () => session.receive(text);
    },
  },
  'Reassembler, chunks of 1 byte': { prepare: (size) => reassemble(size, 1) },
  'Reassembler, chunks of 1000 bytes': { prepare: (size) => reassemble(size, 1000) },
  'decodeBinary, JSON': {
    prepare: (size) => {
      const payload = { a: parseJson(list(size, DEVICE)) };
      return decodeBinary.bind(null, encodeBinary({ msg_type: 'bus', payload }), {});
    },
  },
  'decodeBinary, a payload of bytes': {
    prepare: (size) => {
      const message = encodeBinary({ msg_type: 'bin', payload: new Uint8Array(size) });
      return decodeBinary.bind(null, message, {});
    },
  },
  'decodeBinary, a stream beyond the limit': {
    prepare: (size) => {
      const stream = deflateSync(new Uint8Array(size), { level: 0 });
      const message = new Uint8Array(Buffer.concat([Uint8Array.of(0x83, 0), stream]));
      const inflate = (bytes: Uint8Array, maxOutputLength: number): Uint8Array =>
        inflateSync(bytes, { maxOutputLength });
      return tolerant(() => decodeBinary(message, { inflate, maxInflated: 2 ** 20 }));
    },
  },
  'encodeBinary, a payload of bytes': {
    prepare: (size) => encodeBinary.bind(null, { msg_type: 'bin', payload: new Uint8Array(size) }),
  },
  'Transport.decrypt': {
    prepare: (size) => {
      const [sender, receiver] = transports();
      const frames = splitMessage('binary', new Uint8Array(size));
      const sealed = frames.map((frame) => sender!.encrypt(frame));
      return () => {
        for (const message of sealed) receiver!.decrypt(message);
      };
    },
  },
  ReplyCollector: {
    prepare: (size) => {
      const reply = new ReplyCollector({ requestId: 'r', sessionId: 's' });
      const event = JSON.stringify({
        msg_type: 'bus',
        payload: {
          type: 'speak',
          data: { utterance: 'Good morning' },
          context: { session: { session_id: 's' } },
        },
      });
      return () => {
        for (let at = 0; at < size; at += event.length) reply.push(event, true);
        return reply.reply;
      };
    },
  },
  'ReplyCollector, one event': {
    prepare: (size) => {
      const reply = new ReplyCollector({ requestId: 'r', sessionId: 's' });
      const utterance = fill(size, '<s>a</s> ');
      const event = JSON.stringify({
        msg_type: 'bus',
        payload: { type: 'speak', data: { utterance }, context: { session: { session_id: 's' } } },
      });
      return () => {
        reply.push(event, true);
        return reply.reply;
      };
    },
  },
  parseIdentity: {
    prepare: (size) => parseIdentity.bind(null, identity({ further: JSON.parse(list(size, DEVICE)) })),
  },
  'redactIdentity, periodic text': {
    prepare: (size) => {
      const parsed = parseIdentity(identity({ site_id: fill(size, 'key-of-the-clienkey-of-') }));
      return () => redactIdentity(parsed);
    },
  },
  'redactIdentity, digits': {
    prepare: (size) => {
      const parsed = parseIdentity(identity({ default_master: `${fill(size, '1')}!` }));
      return () => redactIdentity(parsed);
    },
  },
  parseKeyring: { prepare: (size) => parseKeyring.bind(null, keyring(size), ACCESS_KEY) },
  updateKeyring: {
    prepare: (size) => {
      const parsed = storePsk(parseKeyring(keyring(size), ACCESS_KEY), 'hub-0', PSK);
      return () => updateKeyring(parsed, { type: 'pin-suspect', nodeId: 'hub-0' });
    },
  },
  deriveTopics: {
    limit: 2 ** 16,
    prepare: (size) => {
      const prefix = fill(size - 64, 'level/').slice(0, -1);
      return tolerant(() => deriveTopics({ topic_prefix: prefix, hub_id: 'h' }, { accessKey: ACCESS_KEY }));
    },
  },
  brokerEndpoint: {
    prepare: (size) => {
      const endpoint = `mqtts://${fill(size, 'host.')}org:8883`;
      return tolerant(() => brokerEndpoint({ endpoint, username: 'u', password: 'p' }));
    },
  },
  selectEndpoint: {
    prepare: (size) => {
      const parsed = parseIdentity(
        identity({ data_plane_endpoints: { wss: `wss://hub.example/${fill(size, 'a/')}` } }),
      );
      return tolerant(() => selectEndpoint(parsed));
    },
  },
};
