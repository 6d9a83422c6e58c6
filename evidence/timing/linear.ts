/**
 * Time and memory of the functions that take data of a peer, and of what may wait in any number, as their input doubles from 128 KiB
 * to 4 MiB: both may double with it, and no more.
 *
 *     evidence/timing/linear       all
 *     evidence/timing/linear JSON  those with this in their names
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { Listeners } from '../../client/dist/listeners.js';
import { decodeBinary, encodeBinary } from '../../dist/binary.js';
import { bytesToUtf8 } from '../../dist/bytes.js';
import { nodeCrypto as crypto } from '../../dist/crypto/node.js';
import {
  buildUtterance,
  ClientLink,
  canonicalJson,
  createKeyring,
  parseIdentity,
  parseJson,
  RequestScheduler,
  redactIdentity,
} from '../../dist/index.js';
import { ClientSession, Reassembler, ReplyCollector } from '../../dist/parts.js';
import { connect } from '../scale/both-ends.ts';

const SIZES = [17, 18, 19, 20, 21, 22].map((bits) => 2 ** bits);
/** By how much a cost may grow, in the median of the doublings, since engines change their ways once: 4 is quadratic. */
const MOST = 2.8;
/** Below these, what is measured is mostly noise. */
const LEAST_MS = 0.5;
const LEAST_BYTES = 4 * 2 ** 20;

/** Makes an input of about this many bytes, and returns the call to measure. It is made anew for each call. */
type Prepare = (size: number) => () => unknown;

/** Copies of a piece, as many as fit. */
const fill = (size: number, piece: string): string => piece.repeat(Math.floor(size / piece.length));
const list = (size: number, piece: string): string => `[${fill(size, piece).slice(0, -1)}]`;
const utf8 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const members = (size: number, key: (index: number) => string): string =>
  `{${Array.from({ length: Math.floor(size / 12) }, (_, i) => `"${key(i)}":1`).join()}}`;
const DEVICE =
  '{"id":12345,"name":"Kitchen lamp","state":{"on":true,"level":80},"tags":["a","bc"],"note":"é\\n"},';

/** JSON of forms that are ordinary, and of such as an attacker would send. */
const TEXTS: { readonly [name: string]: (size: number) => string } = {
  objects: (size) => list(size, DEVICE),
  'arrays of one': (size) => list(size, '[1],'),
  'one object': (size) => members(size, (i) => `key${i}`),
  'keys that are indices': (size) => members(size, String),
  'numbers with fractions': (size) => list(size, '0.25,'),
  'one number': (size) => fill(size, '1'),
  escapes: (size) => `"${fill(size, '\\u0001')}"`,
  'not closed': (size) => `["${fill(size, 'é')}`,
};

const tolerant = (call: () => unknown) => () => {
  try {
    return call();
  } catch (error) {
    return error;
  }
};

const STATIC_KEY = new Uint8Array(32).fill(7);
const PSK = new Uint8Array(32).fill(5);
const randomBytes = (length: number): Uint8Array => new Uint8Array(length).fill(9);
const ACCESS_KEY = 'key-of-the-client';
const FRESH = createKeyring({ accessKey: ACCESS_KEY, staticKey: STATIC_KEY });

const envelope = (type: string, payload: object): string => JSON.stringify({ msg_type: type, payload });
const hello = (further: unknown): string => envelope('hello', { node_id: 'hub', further });
const NOISE = { patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] };
const offer = (further: unknown): string =>
  envelope('shake', { max_protocol_version: 3, noise: NOISE, further });
const sessionWith = (keyring: object): ClientSession =>
  new ClientSession({ crypto, siteId: 'lobby', randomBytes, keyring: { staticKey: STATIC_KEY, ...keyring } });
const identity = (fields: object) =>
  parseIdentity(JSON.stringify({ access_key: ACCESS_KEY, password: 'the password', ...fields }));
const speak = (utterance: string): string => {
  const payload = { type: 'speak', data: { utterance }, context: { session: { session_id: 's' } } };
  return envelope('bus', payload);
};

/** Pushes a message in chunks of this many bytes. */
const reassemble =
  (length: number): Prepare =>
  (size) => {
    const [first, middle, last] = [2, 4, 5].map((marker) =>
      Uint8Array.of(marker, ...Buffer.alloc(length, 97)),
    );
    return () => {
      const reassembler = new Reassembler();
      reassembler.push(first!);
      for (let at = 2 * length; at < size; at += length) reassembler.push(middle!);
      return reassembler.push(last!);
    };
  };

/** Bytes for each request or listener of a queue: a scheduler takes no more than 10,000 requests. */
const EACH = 512;
const idsOf = (size: number): string[] => Array.from({ length: size / EACH }, (_, i) => `r${i}`);
const question = (requestId: string, sessionId: string) =>
  buildUtterance({ text: 'What is on today?', requestId, sessionId });

/** Makes requests, all at once, and then answers each as it is sent. */
const schedule =
  (isNamed: boolean, sessionOf: (id: string) => string): Prepare =>
  (size) => {
    const envelopes = idsOf(size).map((id) => question(id, sessionOf(id)));
    const event = (id: string, type: string, data: object): string => {
      const context = { ...(isNamed && { request_id: id }), session: { session_id: sessionOf(id) } };
      return envelope('bus', { type, data, context });
    };
    return () => {
      const scheduler = new RequestScheduler();
      const decisions = envelopes.flatMap((one, now) => scheduler.request(one, now, 1e6));
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
  };

const CASES: { [name: string]: Prepare } = {
  'RequestScheduler, one session': schedule(true, () => 's'),
  'RequestScheduler, one session, without request ids': schedule(false, () => 's'),
  'RequestScheduler, a session for each': schedule(true, (id) => id),
  'RequestScheduler, the same without request ids': schedule(false, (id) => id),
  'ClientLink, questions without a connection': (size) => {
    const requests = () => new RequestScheduler();
    const link = new ClientLink({ crypto, randomBytes, siteId: 'lobby', keyring: FRESH, requests });
    const envelopes = idsOf(size).map((id) => question(id, 's'));
    return () => {
      for (const [now, one] of envelopes.entries()) link.ask(one, now);
      return link.wake(1e6);
    };
  },
  Listeners: (size) => {
    const all = idsOf(size).map(() => () => {});
    return () => {
      const listeners = new Listeners();
      for (const listener of all) listeners.add('end', listener);
      listeners.emit({ type: 'end' });
      for (const listener of all) listeners.remove('end', listener);
    };
  },
  bytesToUtf8: (size) => bytesToUtf8.bind(null, utf8(fill(size / 2, 'é'))),
  'ClientSession.receive, HELLO': (size) => {
    const session = sessionWith({});
    const text = hello(JSON.parse(list(size, DEVICE)));
    return () => session.receive(text);
  },
  'ClientSession.receive, offer': (size) => {
    const session = sessionWith({ psks: [{ nodeId: 'hub', key: PSK }] });
    session.receive(hello(null));
    const text = offer(JSON.parse(list(size, DEVICE)));
    return () => session.receive(text);
  },
  'Reassembler, chunks of 1 byte': reassemble(1),
  'Reassembler, chunks of 1000 bytes': reassemble(1000),
  'decodeBinary, JSON': (size) => {
    const payload = { a: parseJson(list(size, DEVICE)) };
    return decodeBinary.bind(null, encodeBinary({ msg_type: 'bus', payload }), {});
  },
  'binary messages of bytes': (size) => () =>
    decodeBinary(encodeBinary({ msg_type: 'bin', payload: new Uint8Array(size) }), {}),
  'a message from session to session': (size) => {
    const { client, hub } = connect();
    return () => client.sendBinary(new Uint8Array(size)).flatMap((data) => hub.receive(data));
  },
  ReplyCollector: (size) => {
    const reply = new ReplyCollector({ requestId: 'r', sessionId: 's' });
    const event = speak('Good morning');
    return () => {
      for (let at = 0; at < size; at += event.length) reply.push(event, true);
      return reply.reply;
    };
  },
  'ReplyCollector, one event': (size) => {
    const reply = new ReplyCollector({ requestId: 'r', sessionId: 's' });
    const event = speak(fill(size, '<s>a</s> '));
    return () => [reply.push(event, true), reply.reply];
  },
  parseIdentity: (size) => identity.bind(null, { further: JSON.parse(list(size, DEVICE)) }),
  'redactIdentity, periodic text': (size) =>
    redactIdentity.bind(null, identity({ site_id: fill(size, 'key-of-the-clienkey-of-') })),
  'redactIdentity, digits': (size) =>
    redactIdentity.bind(null, identity({ default_master: `${fill(size, '1')}!` })),
};
for (const [form, make] of Object.entries(TEXTS)) {
  CASES[`parseJson, ${form}`] = (size) => {
    const bytes = utf8(make(size));
    return tolerant(() => parseJson(bytes));
  };
  if (form === 'not closed') continue;
  CASES[`canonicalJson, ${form}`] = (size) => canonicalJson.bind(null, parseJson(make(size)));
}

/** The peak of resident memory since it was last reset, in bytes: on Linux only. */
const peak = (): number =>
  1024 * Number(/VmHWM:\s*(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]);

/** The fastest of five calls, in milliseconds of CPU, and the memory of the first. */
function measure(prepare: Prepare, size: number): { ms: number; bytes: number } {
  let [ms, bytes] = [Number.POSITIVE_INFINITY, 0];
  for (let i = 0; i < 5; i++) {
    const call = prepare(size);
    globalThis.gc!();
    writeFileSync('/proc/self/clear_refs', '5');
    const [before, began] = [peak(), process.cpuUsage()];
    call();
    const { user, system } = process.cpuUsage(began); // which other processes change less than they change a clock
    ms = Math.min(ms, (user + system) / 1000);
    if (i === 0) bytes = peak() - before;
  }
  return { ms: Math.max(ms, LEAST_MS), bytes: Math.max(bytes, LEAST_BYTES) };
}

function growth(costs: readonly number[]): number {
  const factors = costs.slice(1).map((cost, i) => cost / costs[i]!);
  return factors.sort((a, b) => a - b)[2]!;
}

const wanted = process.argv[2] ?? '';
for (const [name, prepare] of Object.entries(CASES)) {
  if (!name.includes(wanted)) continue;
  const costs = SIZES.map((size) => measure(prepare, size));
  const factors = [growth(costs.map(({ ms }) => ms)), growth(costs.map(({ bytes }) => bytes))];
  const isLinear = factors.every((factor) => factor <= MOST);
  if (!isLinear) process.exitCode = 1;
  const [time, memory] = factors.map((factor) => factor.toFixed(2));
  const cells = costs.map(({ ms }) => ms.toPrecision(3).padStart(8)).join('');
  console.log(
    `${name.padEnd(52)}${cells} ms, x${time}; memory x${memory}  ${isLinear ? 'linear' : 'NOT LINEAR'}`,
  );
}
