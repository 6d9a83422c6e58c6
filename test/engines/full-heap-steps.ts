/**
 * Sessions and calls whose allocations fail one at a time, for the program full-heap.c, which explains the functions declared here.
 * full-heap.ts bundles this into a script, and puts `runs` before it.
 */
import type * as Library from '../../bundles/link.ts';
import type { nobleCryptoWithAesGcm } from '../../src/crypto/noble-aesgcm.ts';
import type { JsonObject, Keyring, Order, RequestScheduler } from '../../src/index.ts';
import type { argon2id, ClientSession, SessionEvent } from '../../src/parts.ts';
import type { RecordedConnection, RecordedLink, RecordedSession, Runs } from './full-heap.ts';

declare const hubProtocol: typeof Library & {
  ClientSession: typeof ClientSession;
  RequestScheduler: typeof RequestScheduler;
  argon2id: typeof argon2id;
  nobleCryptoWithAesGcm: typeof nobleCryptoWithAesGcm;
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

/** Keys, private keys and shared secrets of a session, in hex. */
let secrets: string[] = [];
let isCollecting = false;

function note(bytes: Uint8Array): void {
  if (!isCollecting) return;
  const hex = hexOf(bytes);
  if (secrets.indexOf(hex) < 0) secrets.push(hex);
}

const computed: { [inputs: string]: string } = {};

/** Stands in for X25519, which makes thousands of allocations: remembers its results. */
function remembered(
  compute: (privateKey: Uint8Array, publicKey: Uint8Array) => Uint8Array,
  privateKey: Uint8Array,
  publicKey: Uint8Array,
): Uint8Array {
  const result = new Uint8Array(32); // it may fail
  apart(() => {
    const inputs = `${hexOf(privateKey)} ${hexOf(publicKey)}`;
    computed[inputs] ??= hexOf(compute(privateKey, publicKey));
    fill(result, computed[inputs]!);
  });
  return result;
}

const NONE = new Uint8Array(0);
const { x25519 } = deviceCrypto;
const crypto = {
  ...deviceCrypto,
  hmacSha256(key: Uint8Array, first: Uint8Array, second: Uint8Array): Uint8Array {
    const output = deviceCrypto.hmacSha256(key, first, second);
    apart(note, output); // without a closure, which would need memory
    return output;
  },
  x25519: runs.remembersX25519
    ? {
        publicKey: (key: Uint8Array) => remembered((own) => x25519.publicKey(own), key, NONE),
        sharedSecret(key: Uint8Array, publicKey: Uint8Array): Uint8Array {
          const secret = remembered((own, other) => x25519.sharedSecret(own, other), key, publicKey);
          apart(note, secret);
          return secret;
        },
      }
    : x25519,
};

/** What an error says, or `null` or another value that was thrown. */
function told(error: unknown): string {
  const { name, code, message } = (error ?? {}) as { name?: string; code?: string; message?: string };
  return name === 'LocalError' || name === 'RemoteError' ? `${code}` : `${name ?? String(error)}: ${message}`;
}

/** The transcript of a session. */
interface Outcome {
  /** Messages to the hub, in hex or as text, and the types of events. */
  readonly seen: string[];
  keyring: string;
  state: string;
  /** The last step that was taken. */
  step: string;
  /** What was thrown, or the error of a `close` event. */
  error: string | undefined;
  /** What is wrong with it. */
  readonly faults: string[];
}

/** Runs a session, in which the nth allocation fails. */
function run(recorded: RecordedSession, n: number, always: boolean): Outcome {
  let keyring = parseKeyring(recorded.keyring, 'kiosk-7');
  let text = recorded.keyring;
  let session: ClientSession | undefined;
  const outcome: Outcome = { seen: [], keyring: '', state: '', step: '', error: undefined, faults: [] };
  const { seen, faults } = outcome;
  let isOver = false;

  /** What an application does with each event. */
  function store(event: SessionEvent): void {
    try {
      const updated = attempt(() => updateKeyring(keyring, event));
      if (updated !== keyring) text = attempt(() => serializeKeyring(updated));
      keyring = updated;
    } catch (error) {
      isOver = true;
      outcome.error = told(error);
      session!.closed();
    }
  }

  function take(events: readonly SessionEvent[]): void {
    for (const event of events) {
      if (event.type === 'close' || event.type === 'ended') outcome.error = told(event.error);
      store(event);
      const {
        data,
        bytes,
        text: json,
      } = event as { data?: string | Uint8Array; bytes?: Uint8Array; text?: string };
      const content = data ?? bytes ?? json ?? '';
      seen.push(`${event.type} ${typeof content === 'string' ? content : hexOf(content)}`);
      if (event.type === 'close' || event.type === 'ended') isOver = true;
    }
  }

  /** Takes a step. If something failed in it, checks the session. */
  function step(name: string, call: () => readonly SessionEvent[]): void {
    if (isOver) return;
    outcome.step = name;
    const before = failures();
    let hasThrown = false;
    try {
      take(attempt(call));
    } catch (error) {
      hasThrown = true;
      isOver = true;
      outcome.error = told(error);
    }
    if (failures() === before) {
      if (hasThrown) faults.push('threw without a failure');
      return;
    }
    const { state } = session ?? { state: 'failed' };
    outcome.state = state;
    if (state === 'failed' || state === 'closed') {
      if (secrets.some(holds)) faults.push('keys are not wiped');
    } else if (hasThrown) {
      faults.push('threw, and the session has not failed');
    }
    if (hasThrown && session !== undefined && state !== 'closed') {
      // The heap has room again.
      const [last] = session.closed(1006);
      if (last?.type !== 'ended') faults.push('closed() returns no end');
      else if (told(last.error) !== 'out-of-memory') faults.push(`ended with ${told(last.error)}`);
    }
  }

  // A closure made after `call` would need memory, and its failure would be the test's own.
  const transmitted = (sealed: Uint8Array[]): SessionEvent[] =>
    sealed.map((data) => ({ type: 'transmit', data }) as SessionEvent);
  const transmits =
    (call: () => Uint8Array[]): (() => SessionEvent[]) =>
    () =>
      apart(transmitted, call());
  const inputs = recorded.received.map((input) => (input.startsWith('{') ? input : bytesOf(input)));
  let next = 0;
  const receive = (): readonly SessionEvent[] => session!.receive(inputs[next]!);
  const value = {
    type: 'recognizer_loop:utterance',
    data: { utterances: ['what time is it?'] },
    context: {},
  };
  const last = { a: 1 };
  const binary = new Uint8Array(500);
  const none: SessionEvent[] = [];
  const options = {
    crypto,
    keyring,
    siteId: 'lobby',
    randomBytes(length: number): Uint8Array {
      const random = new Uint8Array(length);
      apart(() => fill(random, recorded.ephemeral));
      return random;
    },
  };
  failAt(n, always);
  step('new ClientSession', () => {
    session = new hubProtocol.ClientSession(options);
    return none;
  });
  for (; next < recorded.handshake; next++) {
    step(`receive ${next}`, receive);
    if (session?.state === 'awaiting-psk') {
      const psk = bytesOf(recorded.psk);
      step('providePsk', () => session!.providePsk(psk));
      psk.fill(0);
    }
  }
  step(
    'sendJson',
    transmits(() => session!.sendJson(value)),
  );
  step(
    'sendJson of a string',
    transmits(() => session!.sendJson('{"a":1}')),
  );
  for (; next < inputs.length; next++) {
    step(`receive ${next}`, receive);
    if (next === recorded.handshake)
      step(
        'sendBinary',
        transmits(() => session!.sendBinary(binary)),
      );
  }
  step(
    'sendJson again',
    transmits(() => session!.sendJson(last)),
  );
  if (!isOver) outcome.state = session!.state;
  step('closed', () => session!.closed(1006));
  const isSearched = outcome.state === 'failed' || outcome.state === 'closed';
  if (!isSearched && secrets.some(holds)) faults.push('keys are in memory at the end');
  try {
    parseKeyring(text, 'kiosk-7');
  } catch (error) {
    faults.push(`the keyring cannot be read: ${told(error)}`);
  }
  outcome.keyring = text;
  return outcome;
}

/** Lets a link live, in which the nth allocation fails: it asks, loses its connection, connects again, asks, and ends. */
function live(recorded: RecordedLink, n: number, always: boolean): { hasFailed: boolean; faults: string[] } {
  const faults: string[] = [];
  const law = (holds: boolean, text: string): void => {
    if (!holds) faults.push(text);
  };
  const queue: (() => void)[] = [];
  const ends = recorded.questions.map(() => 0);
  let keyring = parseKeyring(recorded.keyring, 'kiosk-7');
  let hasFailed = false;
  let isPinned = false; // by the hub
  const next = (): RecordedConnection => recorded.connections[isPinned ? 1 : 0]!;
  let connection = next();
  let open: number | undefined;
  let lost = 0; // the connection whose end the link was told
  let writes = 0;
  let now = 0;
  let endings = 0;
  const options = {
    crypto,
    keyring,
    siteId: 'lobby',
    randomBytes(length: number): Uint8Array {
      const random = new Uint8Array(length);
      apart(() => (length === 32 ? fill(random, next().ephemeral) : random.fill(1)));
      return random;
    },
    requests: ({ sessionId }: { sessionId?: string | undefined }) =>
      new hubProtocol.RequestScheduler({ sessionId }),
  };
  const link = new hubProtocol.ClientLink(options);

  /** Gives the link an input. Returns whether it took the input. */
  function give(input: () => Order[], mayThrow = false): boolean {
    try {
      for (const order of attempt(input)) queue.push(() => carryOut(order));
      return true;
    } catch (error) {
      hasFailed = true;
      law(mayThrow && OF_ENGINE.indexOf(told(error)) >= 0, `threw ${told(error)}`);
      return !mayThrow;
    }
  }

  function hubSends(): void {
    const number = open!;
    for (const data of connection.replies[writes] ?? []) {
      const input = data.startsWith('{') ? data : bytesOf(data);
      queue.push(() => open === number && give(() => link.received(number, input, now)));
    }
  }

  function carryOut(order: Order): void {
    if (order.do === 'open') {
      law(open === undefined, 'two connections');
      open = order.connection;
      connection = next();
      writes = 0;
      hubSends();
    } else if (order.do === 'write' && order.connection !== lost) {
      law(open === order.connection, 'writes to what is over');
      writes++;
      if (writes === 2) isPinned = true; // message 3 of XXpsk2, or a sealed message after KKpsk0
      law(!isPinned || keyring.pins.length > 0, 'the hub sees the static key before its pin is stored');
      hubSends();
    } else if (order.do === 'close' && order.connection !== lost) {
      law(open === order.connection, 'closes what is over');
      open = undefined;
    } else if (order.do === 'store') {
      keyring = order.change(keyring);
      queue.push(() => give(() => link.stored(undefined, now, keyring)));
    } else if (order.do === 'derive') {
      const psk = bytesOf(recorded.psk);
      queue.push(() => {
        give(() => link.derived(order.derivation, psk, now));
        psk.fill(0);
      });
    } else if (order.do === 'tell') {
      const { event } = order;
      const { error } = event as { error?: Error };
      if (OF_ENGINE.indexOf(told(error)) >= 0) hasFailed = true;
      law(event.type !== 'ask', 'asks a person');
      if (event.type === 'end') endings++;
      if (event.type === 'finish') ends[event.requestId === 'q1' ? 0 : 1]!++;
      if (event.type === 'unsent') ends[recorded.questions.indexOf(event.message as never)]!++;
    }
  }

  function drain(): void {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) step();
  }

  function wake(): void {
    now = Math.max(now, link.deadline ?? now);
    give(() => link.wake(now));
    drain();
  }

  failAt(n, always);
  while (!give(() => link.start(now), true));
  recorded.questions.forEach((question, i) => {
    while (!give(() => link.ask(question, now), true));
    drain();
    for (let tries = 0; ends[i] === 0 && tries < 30; tries++) wake();
    if (i > 0 || open === undefined) return;
    lost = open;
    open = undefined;
    give(() => link.closed(lost, { code: 1006 }, now));
    drain();
  });
  give(() => link.end(now));
  law(!secrets.some(holds), 'keys are in memory after the end');
  drain();
  for (let i = 0; i < 2; i++) wake();
  law(link.state === 'ended' && open === undefined && endings === 1, 'does not end');
  law(ends.join() === '1,1', `questions ended ${ends.join()} times`);
  law(
    serializeKeyring(parseKeyring(serializeKeyring(keyring), 'kiosk-7')) === serializeKeyring(keyring),
    'spoilt',
  );
  return { hasFailed, faults };
}

/** Calls in order, each with what it returns. */
type Life = () => readonly (() => unknown)[];

function ended(error: unknown): SessionEvent {
  return { type: 'ended', reason: 'dropped', retry: 'later', error } as SessionEvent;
}

/** Lives in which a call that had no memory has changed nothing: it is made again, and all results are as without the failure. */
const LIVES: { readonly [what: string]: Life } = {
  keyring() {
    const staticKey = new Uint8Array(32).fill(7);
    const pin = { type: 'pin', nodeId: 'hub-1', key: crypto.x25519.publicKey(staticKey) } as SessionEvent;
    const psk = new Uint8Array(32).fill(9);
    let keyring: Keyring;
    let text = '';
    const kept = (): string => {
      text = serializeKeyring(keyring);
      return text;
    };
    const change =
      (call: () => Keyring): (() => void) =>
      () => {
        keyring = call();
      };
    return [
      change(() => hubProtocol.createKeyring({ accessKey: 'kiosk-7', staticKey, crypto })),
      change(() => hubProtocol.storePsk(keyring, 'hub “1”', psk, { isProvisioned: true })),
      change(() => updateKeyring(keyring, pin)),
      kept,
      change(() => parseKeyring(text, 'kiosk-7')),
      change(() => hubProtocol.pinHub(keyring, 'hub-1', psk)),
      kept,
      () => hubProtocol.nextSlots([], hubProtocol.serializeChanges(keyring))[0]!.text,
      change(() => hubProtocol.dropPin(keyring, 'hub-1')),
      change(() => hubProtocol.forgetPsks(keyring)),
      kept,
    ];
  },
  JSON() {
    const value = { b: [1, 'é “x”', null, { a: true }], a: { c: 15, d: '\u2028' } };
    const text = '{"b":[1000,"\\u00e9",null,{"a":true}],"a":{"c":15}}';
    return [
      () => hubProtocol.canonicalJson(value),
      () => hubProtocol.canonicalJson(hubProtocol.parseJson(text)),
    ];
  },
  policy() {
    const randomBytes = (length: number): Uint8Array => new Uint8Array(length).fill(128);
    const lost = ended({ code: 'not-reachable' });
    const refused = ended({ code: 'dropped' });
    let policy: InstanceType<typeof hubProtocol.ConnectionPolicy>;
    return [
      () => {
        policy = new hubProtocol.ConnectionPolicy({ randomBytes, deadlines: { 'awaiting-offer': 5000 } });
      },
      () => policy.begin(0),
      () => policy.deadline('awaiting-offer', 10),
      () => policy.take(lost, 20),
      () => policy.begin(70_000),
      () => policy.take(refused, 70_010),
      () => policy.begin(140_000),
      () => policy.take(refused, 140_010),
      () => policy.resume(),
      () => policy.begin(140_020),
    ];
  },
  argon2id() {
    const salt = new Uint8Array(16).fill(3);
    const cost = { passes: 1, memoryKiB: 8, parallelism: 1, length: 32 };
    const { nobleCryptoWithAesGcm: crypto } = hubProtocol;
    return [() => hexOf(hubProtocol.argon2id({ crypto, password: 'correct horse', salt, ...cost }))];
  },
};

/** Runs a life, in which the nth allocation fails. Returns its results, the first thing that was thrown, and what is wrong. */
function runLife(
  life: Life,
  n: number,
  always: boolean,
): { results: string[]; thrown?: string; faults: string[] } {
  const faults: string[] = [];
  const results: string[] = [];
  let thrown: string | undefined;
  const calls = life();
  failAt(n, always);
  for (const call of calls) {
    let result: unknown;
    try {
      try {
        result = attempt(call);
      } catch (error) {
        thrown = told(error);
        if (OF_ENGINE.indexOf(thrown) < 0) faults.push(`says ${thrown}`);
        result = attempt(call);
      }
    } catch (error) {
      faults.push(`says ${told(error)} when it is called again`);
    }
    results.push(JSON.stringify(result) ?? '');
  }
  return { results, faults, ...(thrown !== undefined && { thrown }) };
}

/** A scheduler, in which the nth allocation fails: a call that has thrown is made again, and each request ends once. */
function schedule(n: number, always: boolean): { thrown?: string; faults: string[] } {
  const faults: string[] = [];
  const ends: { [requestId: string]: number } = {};
  let thrown: string | undefined;
  const scheduler = new hubProtocol.RequestScheduler({ sessionId: 'lobby' });
  const event = (type: string, request_id: string): JsonObject => ({
    msg_type: 'bus',
    payload: { type, data: { utterance: 'It is “noon”.', utterances: ['x'] }, context: { request_id } },
  });
  const requests = ['q1', 'q2'].map((id) => event('recognizer_loop:utterance', id));
  const spoken = ['q1', 'q2', 'q3'].map((id) => JSON.stringify(event('speak', id)));
  const again = (step: () => unknown): unknown => {
    try {
      return attempt(step);
    } catch (error) {
      faults.push(`says ${told(error)} when it is called again`);
      return undefined;
    }
  };
  const steps = [
    ...requests.map((request, i) => (): unknown => scheduler.request(request, i)),
    ...spoken.map((text) => (): unknown => scheduler.receive(text, 100)),
    () => scheduler.nextDeadline(200),
    () => scheduler.expire(5_200),
    () => scheduler.noteSent(5_300),
    () => scheduler.cancel('q2', 5_400),
    () => scheduler.closed(),
    () => scheduler.closed(),
  ];
  failAt(n, always);
  for (const step of steps) {
    let decisions: unknown;
    try {
      decisions = attempt(step);
    } catch (error) {
      thrown = told(error);
      if (OF_ENGINE.indexOf(thrown) < 0) faults.push(`says ${thrown}`);
      decisions = again(step);
    }
    for (const decision of Array.isArray(decisions) ? decisions : [])
      if (decision.do === 'finish') ends[decision.requestId] = (ends[decision.requestId] ?? 0) + 1;
  }
  for (const id of ['q1', 'q2']) if (ends[id] !== 1) faults.push(`${id} ended ${ends[id] ?? 0} times`);
  return { faults, ...(thrown !== undefined && { thrown }) };
}

/**
 * QuickJS-ng makes a backtrace for whatever is thrown, and throws these instead if it has no memory for one. Then no code in
 * JavaScript can throw anything else: `try { throw null } catch { throw error }` throws null.
 */
const OF_ENGINE = ['out-of-memory', 'InternalError: out of memory', 'null: undefined'];

for (const recorded of runs.sessions) {
  run(recorded, 0, false); // lets X25519 be remembered
  // X25519 with BigInt leaves private keys in memory (SECURITY.md, "Wiping").
  secrets = runs.remembersX25519 ? [recorded.ephemeral] : [];
  isCollecting = true;
  const expected = run(recorded, 0, false);
  isCollecting = false;
  const allocations = counted();
  for (const always of [false, true]) {
    const wrong: string[] = [];
    let [tried, failed, unaffected] = [0, 0, 0];
    for (let n = runs.first; n <= allocations; n += runs.stride) {
      const { seen, faults, error, step, state, keyring } = run(recorded, n, always);
      tried++;
      const hasFailed = error !== undefined && error !== 'dropped';
      const others = seen.filter((line) => !hasFailed || !/^(close|ended) /.test(line));
      if (!others.every((line, i) => line === expected.seen[i])) faults.push('other messages');
      else if (!hasFailed && (seen.length !== expected.seen.length || keyring !== expected.keyring))
        faults.push('another end');
      if (hasFailed && OF_ENGINE.indexOf(error) < 0) faults.push(`says ${error}`);
      if (faults.length > 0)
        wrong.push(`${recorded.pattern} ${n} ${always} ${step} ${state}: ${faults.join(', ')}`);
      else if (hasFailed) failed++;
      else unaffected++;
    }
    print(
      JSON.stringify({
        pattern: recorded.pattern,
        always,
        allocations,
        tried,
        failed,
        unaffected,
        faults: wrong,
      }),
    );
  }
}

if (runs.link !== undefined) {
  const { link } = runs;
  live(link, 0, false); // lets X25519 be remembered
  secrets = link.connections.map(({ ephemeral }) => ephemeral);
  isCollecting = true;
  const expected = live(link, 0, false);
  isCollecting = false;
  const allocations = counted();
  for (const always of [false, true]) {
    const faults = expected.faults.slice();
    let [tried, failed] = [0, 0];
    for (let n = runs.first; n <= allocations; n += runs.stride) {
      const outcome = live(link, n, always);
      tried++;
      if (outcome.hasFailed) failed++;
      for (const fault of outcome.faults) faults.push(`link ${n} ${always}: ${fault}`);
    }
    const unaffected = tried - failed;
    print(JSON.stringify({ pattern: 'link', always, allocations, tried, failed, unaffected, faults }));
  }
}

if (runs.calls === true) {
  const lives = Object.entries(LIVES).map(([what, life]) => {
    const { results } = runLife(life, 0, false);
    const tried = (n: number, always: boolean): { thrown?: string; faults: string[] } => {
      const outcome = runLife(life, n, always);
      const differs = outcome.results.findIndex((result, i) => result !== results[i]);
      if (differs >= 0) outcome.faults.push(`call ${differs} returns ${outcome.results[differs]}`);
      return outcome;
    };
    return [what, tried] as const;
  });
  for (const [what, tryOne] of [...lives, ['scheduler', schedule] as const]) {
    const expected = tryOne(0, false);
    const allocations = counted();
    const stride = runs.stride * Math.max(1, Math.floor(allocations / 5000)); // Argon2id makes 47,000
    for (const always of [false, true]) {
      const faults = expected.faults.slice();
      let [tried, failed] = [0, 0];
      for (let n = runs.first; n <= allocations; n += stride) {
        const outcome = tryOne(n, always);
        tried++;
        if (outcome.thrown !== undefined) failed++;
        for (const fault of outcome.faults) faults.push(`${what} ${n} ${always}: ${fault}`);
      }
      const unaffected = tried - failed;
      print(JSON.stringify({ pattern: what, always, allocations, tried, failed, unaffected, faults }));
    }
  }
}
