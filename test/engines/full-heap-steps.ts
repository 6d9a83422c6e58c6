/**
 * Lives whose allocations fail one at a time, for the program full-heap.c, which explains the functions declared here. full-heap.ts
 * bundles this into a script, and puts `runs` before it.
 */
import type * as Library from '../../bundles/link.ts';
import type { Keyring, Order, RequestScheduler } from '../../src/index.ts';
import type { ClientSession, SessionEvent } from '../../src/parts.ts';
import type { RecordedConnection, Runs } from './full-heap.ts';

declare const hubProtocol: typeof Library & {
  es5: typeof Library;
  ClientSession: typeof ClientSession;
  RequestScheduler: typeof RequestScheduler;
};
declare const runs: Runs;
declare function attempt<T>(call: () => T): T;
declare function apart<T>(call: () => T): T;
declare function apart<A, T>(call: (argument: A) => T, argument: A): T;
declare function failAt(n: number, always: boolean): void;
declare function counted(): number;
declare function failures(): number;
declare function holds(hex: string): boolean;
declare function print(text: string): void;

const { deviceCrypto, parseKeyring, serializeKeyring, updateKeyring } = hubProtocol;

function hexOf(bytes: Uint8Array): string {
  let hex = '';
  for (let i = 0; i < bytes.length; i++) hex += (256 + bytes[i]!).toString(16).slice(1);
  return hex;
}

function fill(bytes: Uint8Array, hex: string): void {
  for (let i = 0; i < bytes.length; i++) bytes[i] = parseInt(hex.slice(2 * i, 2 * i + 2), 16);
}

function bytesOf(hex: string): Uint8Array {
  const bytes = new Uint8Array(hex.length / 2);
  fill(bytes, hex);
  return bytes;
}

const inputOf = (data: string): string | Uint8Array => (data.startsWith('{') ? data : bytesOf(data));

/** Keys, private keys and shared secrets, in hex, from the life without a failure. */
const secrets: string[] = [];
let isCollecting = false;

function note(bytes: Uint8Array): void {
  if (isCollecting && secrets.indexOf(hexOf(bytes)) < 0) secrets.push(hexOf(bytes));
}

const computed: { [inputs: string]: string } = {};

/** Stands in for X25519, which makes thousands of allocations: remembers its results. */
function remembered(compute: () => Uint8Array, privateKey: Uint8Array, publicKey?: Uint8Array): Uint8Array {
  const result = new Uint8Array(32); // it may fail
  apart(() => {
    const inputs = `${hexOf(privateKey)} ${publicKey === undefined ? '' : hexOf(publicKey)}`;
    computed[inputs] ??= hexOf(compute());
    fill(result, computed[inputs]!);
    if (publicKey !== undefined) note(result);
  });
  return result;
}

const { x25519 } = deviceCrypto;
const crypto = {
  ...deviceCrypto,
  hmacSha256(key: Uint8Array, first: Uint8Array, second: Uint8Array): Uint8Array {
    const output = deviceCrypto.hmacSha256(key, first, second);
    apart(note, output); // without a closure, which would need memory
    return output;
  },
  x25519: {
    publicKey: (key: Uint8Array) => remembered(() => x25519.publicKey(key), key),
    sharedSecret: (key: Uint8Array, other: Uint8Array) =>
      remembered(() => x25519.sharedSecret(key, other), key, other),
  },
};

/** The connection whose ephemeral key is drawn. */
let connection: RecordedConnection = runs.connections[0]!;

function randomBytes(length: number): Uint8Array {
  const random = new Uint8Array(length);
  apart(() => (length === 32 ? fill(random, connection.ephemeral) : random.fill(1)));
  return random;
}

/** What was thrown: an error's code, or what QuickJS-ng throws if it has no memory for an error. */
function told(error: unknown): string {
  const { name, code, message } = (error ?? {}) as { name?: string; code?: string; message?: string };
  return name === 'LocalError' || name === 'RemoteError' ? `${code}` : `${name ?? String(error)}: ${message}`;
}
const OF_ENGINE = ['out-of-memory', 'InternalError: out of memory', 'null: undefined'];

/** What a life has shown: what was sent, and what is wrong with it. */
interface Outcome {
  readonly sent: string[];
  readonly faults: string[];
  /** Whether an allocation has ended it. */
  hasFailed: boolean;
}

function newOutcome(): Outcome {
  return { sent: [], faults: [], hasFailed: false };
}

/** Something was thrown: it must say so, and what threw it must be over, with its keys wiped. */
function checkOver(outcome: Outcome, error: unknown, state: string): void {
  outcome.hasFailed = true;
  if (OF_ENGINE.indexOf(told(error)) < 0) outcome.faults.push(`threw ${told(error)}`);
  if (!/^(failed|closed|ended|none)$/.test(state)) outcome.faults.push(`is ${state} after a throw`);
  if (secrets.some(holds)) outcome.faults.push('keys are not wiped');
}

/** The session of a connection, in which the nth allocation fails. Returns the keyring. */
function runSession(index: number, before: Keyring, outcome: Outcome): Keyring {
  connection = runs.connections[index]!;
  const { replies } = connection;
  const options = { crypto, keyring: before, siteId: 'lobby', randomBytes };
  let keyring = before;
  let session: ClientSession | undefined;
  let writes = 0;
  const queue: (() => readonly SessionEvent[])[] = [];
  const hear = (): void => {
    for (const data of replies[writes] ?? []) {
      const input = inputOf(data);
      queue.push(() => session!.receive(input));
    }
  };
  const write = (data: string | Uint8Array): void => {
    outcome.sent.push(typeof data === 'string' ? data : hexOf(data));
    writes++;
    hear();
  };
  try {
    attempt(() => {
      session = new hubProtocol.ClientSession(options);
    });
    hear();
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) {
      for (const event of attempt(step)) {
        keyring = updateKeyring(keyring, event);
        if (event.type === 'psk-needed') {
          const psk = bytesOf(runs.psk);
          queue.push(() => session!.providePsk(psk));
        } else if (event.type === 'transmit') write(event.data);
        else if (event.type === 'close' || event.type === 'ended') {
          checkOver(outcome, event.error, session!.state);
          return keyring;
        } else if (event.type === 'ready') {
          attempt(() => session!.sendJson(runs.questions[index]!)).forEach(write);
        }
      }
    }
    attempt(() => session!.closed(1006));
  } catch (error) {
    checkOver(outcome, error, session?.state ?? 'none');
    const [last] = session?.state === 'failed' ? session.closed(1006) : [];
    if (last !== undefined && (last.type !== 'ended' || told(last.error) !== 'out-of-memory')) {
      outcome.faults.push('closed() does not say out-of-memory');
    }
  }
  return keyring;
}

/** A link that asks, loses its connection, connects again and asks, in which the nth allocation fails. */
function runLink(outcome: Outcome): void {
  const queue: (() => void)[] = [];
  let keyring = parseKeyring(runs.keyring, 'kiosk-7');
  const newLink = (): InstanceType<typeof hubProtocol.ClientLink> =>
    new hubProtocol.ClientLink({
      crypto,
      keyring,
      siteId: 'lobby',
      randomBytes,
      requests: ({ sessionId }) => new hubProtocol.RequestScheduler({ sessionId }),
    });
  let link = newLink();
  let isPinned = false; // by the hub
  let open = 0;
  let writes = 0;
  let ended = 0;
  const give = (input: () => Order[]): void => {
    for (const order of attempt(input)) queue.push(() => carryOut(order));
  };
  const hear = (): void => {
    const number = open;
    for (const data of connection.replies[writes] ?? []) {
      const input = inputOf(data);
      queue.push(() => open === number && give(() => link.received(number, input, 0)));
    }
  };
  const carryOut = (order: Order): void => {
    if (order.do === 'open') {
      open = order.connection;
      writes = 0;
      hear();
    } else if (order.do === 'write' && order.connection === open) {
      outcome.sent.push(typeof order.data === 'string' ? order.data : hexOf(order.data));
      if (++writes === 2) isPinned = true; // message 3 of XXpsk2
      if (isPinned && keyring.pins.length === 0)
        outcome.faults.push('the static key is shown before its pin is stored');
      hear();
    } else if (order.do === 'store') {
      keyring = order.change(keyring);
      queue.push(() => give(() => link.stored(undefined, 0)));
    } else if (order.do === 'derive') {
      const psk = bytesOf(runs.psk);
      queue.push(() => give(() => link.derived(order.derivation, psk, 0)));
    } else if (order.do === 'tell') {
      const { type } = order.event;
      if (type === 'close') outcome.hasFailed ||= failures() > 0; // the session alone has failed
      if (type === 'finish' || type === 'unsent') ended++;
    }
  };
  const drain = (): void => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) step();
  };
  const ask = (index: number): void => {
    connection = runs.connections[isPinned ? 1 : 0]!;
    give(() => link.start(0));
    give(() => link.ask(runs.questions[index]!, 0));
    drain();
  };
  try {
    ask(0);
    const lost = open;
    open = 0;
    connection = runs.connections[isPinned ? 1 : 0]!;
    give(() => link.closed(lost, { code: 1006 }, 0));
    ask(1);
    give(() => link.end(0));
    drain();
    if (!outcome.hasFailed && ended !== 2) outcome.faults.push(`${ended} questions have ended`);
    if (link.state !== 'ended') outcome.faults.push(`is ${link.state} after end`);
    if (secrets.some(holds)) outcome.faults.push('keys are in memory after the end');
  } catch (error) {
    checkOver(outcome, error, link.state);
    try {
      link.start(0);
      outcome.faults.push('goes on');
    } catch (later) {
      if (told(later) !== 'out-of-memory') outcome.faults.push(`later it throws ${told(later)}`);
    }
    queue.length = 0;
    if (serializeKeyring(parseKeyring(serializeKeyring(keyring), 'kiosk-7')) === '')
      outcome.faults.push('spoilt');
    connection = runs.connections[isPinned ? 1 : 0]!;
    link = newLink();
    give(() => link.start(0));
    drain();
    if (link.state !== 'ready') outcome.faults.push(`another link is ${link.state}`);
    give(() => link.end(0));
  }
}

type Cryptography = typeof deviceCrypto;
const text = bytesOf(runs.psk);
const nonce = text.slice(0, 12);
const seal = (made: Cryptography, key: Uint8Array): Uint8Array =>
  made.ciphers.ChaChaPoly!(key).seal(nonce, text, text);
/** What a provider of cryptography exports, as calls with a key. They are prepared where nothing fails. */
const COMPUTATIONS: {
  readonly [name: string]: (made: Cryptography, key: Uint8Array) => () => Uint8Array | undefined;
} = {
  sha256: (made, key) => () => made.sha256(key, text),
  hmacSha256: (made, key) => () => made.hmacSha256(key, text),
  publicKey: (made, key) => () => made.x25519.publicKey(key),
  sharedSecret: (made, key) => () => made.x25519.sharedSecret(key, text),
  seal: (made, key) => () => seal(made, key),
  open(made, key) {
    const sealed = seal(made, key);
    return () => made.ciphers.ChaChaPoly!(key).open(nonce, text, sealed);
  },
  sealInPlace(made, key) {
    const buffer = new Uint8Array(text.length + 16);
    return () => {
      made.ciphers.ChaChaPoly!(key).sealInPlace!(nonce, text, buffer);
      return buffer;
    };
  },
  openInPlace(made, key) {
    const sealed = seal(made, key);
    return () => made.ciphers.ChaChaPoly!(key).openInPlace!(nonce, text, sealed);
  },
};
/** Private keys without a bit that X25519 changes. */
const KEYS = [120, 136].map((start) => Array.from({ length: 32 }, (_, i) => (start + 7 * i) & 0xff));
const results = (made: Cryptography): string[] =>
  Object.keys(COMPUTATIONS).map(
    (name) => `${name} ${hexOf(COMPUTATIONS[name]!(made, new Uint8Array(KEYS[1]!))()!)}`,
  );
const expectedResults = results(deviceCrypto);

/** A computation, after which all others, with another key, are right, and nothing of its key is in what they share. */
function runComputation(name: string, outcome: Outcome): void {
  const made = hubProtocol.es5.deviceCrypto;
  const key = new Uint8Array(KEYS[0]!);
  note(key);
  const call = COMPUTATIONS[name]!(made, key);
  try {
    attempt(call);
  } catch (error) {
    key.fill(0);
    checkOver(outcome, error, 'none');
  }
  key.fill(0);
  const wrong = results(made).filter((result) => expectedResults.indexOf(result) < 0);
  if (wrong.length > 0) outcome.faults.push(`afterwards these are wrong: ${wrong.join()}`);
}

const first = parseKeyring(runs.keyring, 'kiosk-7');
const pinned = runSession(0, first, newOutcome());
const LIVES: { [kind: string]: (outcome: Outcome) => unknown } = {
  XXpsk2: (outcome) => runSession(0, first, outcome),
  KKpsk0: (outcome) => runSession(1, pinned, outcome),
  link: runLink,
};
for (const name of Object.keys(COMPUTATIONS))
  LIVES[`ES5 ${name}`] = (outcome) => runComputation(name, outcome);

for (const [kind, live] of Object.entries(LIVES)) {
  failAt(0, false);
  live(newOutcome()); // lets X25519 be remembered
  secrets.length = 0;
  secrets.push(...runs.connections.map(({ ephemeral }) => ephemeral));
  isCollecting = true;
  failAt(0, false);
  const expected = newOutcome();
  live(expected);
  isCollecting = false;
  const allocations = counted();
  for (const always of [false, true]) {
    const faults = expected.faults.slice();
    let [tried, failed] = [0, 0];
    for (let n = 1; n <= allocations; n += allocations < 100 ? 1 : runs.stride) {
      const outcome = newOutcome();
      failAt(n, always);
      live(outcome);
      tried++;
      if (outcome.hasFailed) failed++;
      else if (outcome.sent.join() !== expected.sent.join()) outcome.faults.push('other messages');
      for (const fault of outcome.faults) faults.push(`${kind} ${n} ${always}: ${fault}`);
    }
    print(JSON.stringify({ kind, always, allocations, tried, failed, faults }));
  }
}
