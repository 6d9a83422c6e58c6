/**
 * Lives of a ClientLink: random ones, and one in which memory ends at each allocation in turn. world.ts has the laws of the
 * random ones. More of them are a search: docs/evidence/searches.md.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { AnyNode } from 'acorn';
import { build, transform } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as library from '../../src/index.ts';
import { isFunction, parseModule } from '../../tools/syntax.ts';
import { CLIENT_STATIC, HUB_STATIC, NODE_ID } from '../world/keys.ts';
import { seeded } from '../world/random.ts';
import { toyCrypto } from '../world/toy-crypto.ts';
import { type Input, invoke } from './laws.ts';
import { pskFor, readyShell } from './shell.ts';
import { type Counts, live } from './world.ts';

test('40 random lives break no law, and meet everything that a link can order and tell', () => {
  const total: Counts = {};
  for (let seed = 1; seed <= 40; seed++) {
    const counts = live(seed);
    for (const name of Object.keys(counts)) total[name] = (total[name] ?? 0) + counts[name]!;
  }
  const met = [
    'open',
    'write',
    'close',
    'store',
    'failed store',
    'derive',
    'stop-deriving',
    'compute',
    'late call',
  ];
  const told = [
    'connecting',
    'connect',
    'message',
    'close',
    'reconnect',
    'ask',
    'finish',
    'unsent',
    'end',
    'new-hub',
  ];
  for (const name of [...met, ...told.map((type) => `told ${type}`)]) assert.ok(total[name], name);
});

type Library = Pick<
  typeof library,
  'ClientLink' | 'RequestScheduler' | 'createKeyring' | 'forgetPsks' | 'serializeKeyring'
>;
type Fails = 'one' | 'all';

/** Allocations, counted while a link has an input. The nth fails, or all from the nth on until the input returns. */
const memory = {
  isOn: false,
  /** The only input in which allocations count and fail, if not in all. */
  input: undefined as Input | undefined,
  count: 0,
  nth: 0,
  fails: 'one' as Fails,
  hasFailed: false,
  allocated(): void {
    if (!memory.isOn) return;
    memory.count++;
    const isFull = memory.fails === 'one' ? memory.count === memory.nth : memory.count >= memory.nth;
    if (!isFull || (memory.hasFailed && memory.fails === 'one')) return;
    memory.hasFailed = true;
    throw Object.assign(new Error('out of memory'), { name: 'InternalError' });
  },
};

/** The built-in methods that return a new object or string, or make an array longer. */
const ALLOCATING = /^(push|concat|slice|filter|map|keys|create|join|defineProperty|subarray)$/;

/** Whether the function in a node is a method, a getter or a setter, which has no `function` before it. */
function isMember(node: AnyNode): boolean {
  return (
    node.type === 'MethodDefinition' || (node.type === 'Property' && (node.method || node.kind !== 'init'))
  );
}

/** Calls `allocated` before each expression of a module that allocates. */
function withFailures(code: string): string {
  const inserts: { at: number; text: string }[] = [];
  const look = (node: AnyNode, isMethod: boolean): void => {
    const called =
      node.type === 'CallExpression' && node.callee.type === 'MemberExpression'
        ? node.callee.property
        : undefined;
    const name = called?.type === 'Identifier' ? called.name : '';
    const isLiteral = /^(ObjectExpression|ArrayExpression|NewExpression)$/.test(node.type);
    const isClosure = isFunction(node) && /Expression$/.test(node.type) && !isMethod;
    if (isLiteral || isClosure || ALLOCATING.test(name)) {
      inserts.push({ at: node.start, text: '(allocated(), ' }, { at: node.end, text: ')' });
    }
    for (const child of Object.values(node)) {
      for (const item of Array.isArray(child) ? child : [child]) {
        if (typeof item?.type === 'string') look(item, isMember(node));
      }
    }
  };
  look(parseModule(code), false);
  let result = '';
  let from = 0;
  // At the same place, an expression that ends comes first, and the outer one of two that begin.
  const sorted = inserts.map((insert, i) => ({ ...insert, i })).sort((a, b) => a.at - b.at || a.i - b.i);
  for (const { at, text } of sorted) {
    result += code.slice(from, at) + text;
    from = at;
  }
  return result + code.slice(from);
}

/** The library, in which whatever allocates calls `memory.allocated` first. */
async function failingLibrary(): Promise<Library> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('../../src/index.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'library',
    plugins: [
      {
        name: 'failures',
        setup({ onLoad }) {
          onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, async ({ path }) => {
            const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', target: 'es2022' });
            return { contents: withFailures(code), loader: 'js' };
          });
        },
      },
    ],
  });
  const script = `${outputFiles[0]!.text}; return library;`;
  return new Function('allocated', script)(memory.allocated) as Library;
}

/** The parts of a link that hold keys. */
interface Inside {
  readonly session: { readonly state: string } | undefined;
  readonly derivation: { readonly psk: Uint8Array | undefined };
}

/** One life: it connects for the first time, asks, loses the connection, connects again, changes the keyring, asks, and ends. */
class Life {
  readonly #library: Library;
  readonly #link: library.ClientLink;
  readonly #faults: string[] = [];
  readonly #queue: (() => void)[] = [];
  readonly #sessions = new Set<{ readonly state: string }>();
  readonly #psks = new Set<Uint8Array>();
  /** How often each question that was asked has ended. */
  readonly #ends = new Map<string, number>();
  #cancelled = '';
  #now = 0;
  #keyring: library.Keyring;
  #clientKey: Uint8Array | undefined;
  /** The connection whose transport is open, and its hub. */
  #open: number | undefined;
  #hub: library.HubSession | undefined;
  /** The connection whose end the link was told. */
  #lost = 0;
  #isStoring = false;
  #isDeriving = false;
  #told: string[] = [];
  /** What the hub has heard, and what was told to be unsent: the ids of questions. */
  readonly #heard = new Set<string>();
  readonly #unsent = new Set<string>();
  /** Whether the end of the connection was told, and nothing since. */
  #isClosed = false;

  constructor(used: Library) {
    this.#library = used;
    this.#keyring = used.createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: toyCrypto });
    this.#link = new used.ClientLink({
      crypto: toyCrypto,
      randomBytes: seeded(1),
      siteId: 'lobby',
      keyring: this.#keyring,
      requests: ({ sessionId }) => new used.RequestScheduler({ sessionId }),
      session: { paced: true },
      trace: true,
    });
  }

  /** Returns what was wrong. */
  run(): string[] {
    this.#call('start');
    this.#ask('q1');
    this.#until(() => this.#ends.get('q1') !== 0, 'the first question ends');
    this.#call('ask', library.buildUtterance({ requestId: 'late', text: 'x' }), 1);
    this.#call('send', { msg_type: 'bus', payload: { type: 'x', data: {}, context: {} } });
    this.#call('send', { bad: Number.NaN });
    this.#ask('q2');
    if (this.#open !== undefined) {
      const number = this.#open;
      this.#lost = number;
      this.#open = this.#hub = undefined;
      this.#call('closed', number, { code: 1006, retryAfter: 5 });
      this.#drain();
      if (this.#link.state === 'ready' && this.#open === undefined) this.#wake(); // there was no memory
      this.#law(
        this.#link.state !== 'ready' || this.#open !== undefined,
        'what has lost its transport is not ready',
      );
    }
    this.#until(() => this.#ends.get('q2') !== 0, 'the second question ends');
    while (!this.#call('change', this.#library.forgetPsks));
    this.#ask('q3');
    this.#until(() => this.#ends.get('q3') !== 0, 'the third question ends');
    this.#cancel('cancelled');
    this.#ask('q4');
    this.#ask('q5');
    this.#call('end');
    if (this.#link.state !== 'ended') this.#faults.push(`it is ${this.#link.state} after end`);
    for (const { state } of this.#sessions) {
      if (state !== 'failed' && state !== 'closed') this.#faults.push(`a session is ${state} after end`);
    }
    for (const psk of this.#psks) if (psk.some((byte) => byte !== 0)) this.#faults.push('a PSK is not wiped');
    for (let i = 0; i < 3; i++) {
      this.#drain();
      this.#call('wake');
    }
    if (this.#told.filter((type) => type === 'end').length !== 1) this.#faults.push('end is not told once');
    for (const type of this.#told.slice(this.#told.indexOf('end'))) {
      if (/^(connecting|connect|reconnect|ask)$/.test(type)) this.#faults.push(`${type} after end`);
    }
    if (this.#open !== undefined) this.#faults.push('the transport is open after end');
    for (const [id, count] of this.#ends) {
      if (count !== 1 && (id !== this.#cancelled || count > 1))
        this.#faults.push(`${id} ended ${count} times`);
    }
    this.#call('start');
    this.#until(() => this.#link.state === 'ready', 'it connects again after end');
    this.#call('end');
    while (!this.#call('start'));
    this.#until(() => this.#link.state === 'ready', 'it connects again at once');
    return this.#faults;
  }

  #ask(id: string): void {
    this.#ends.set(id, 0);
    const isAsked = this.#call('ask', library.buildUtterance({ requestId: id, text: id }));
    if (isAsked) return;
    if (this.#ends.get(id) !== 0) this.#faults.push(`${id} ended, and was not asked`);
    this.#ask(id);
  }

  /** Asks, and cancels the question. If memory ended when it was asked, its end may be told with the next input. */
  #cancel(id: string): void {
    this.#ends.set(id, 0);
    const envelope = library.buildUtterance({ requestId: id, text: id });
    while (!this.#call('ask', envelope));
    while (!this.#call('cancel', envelope));
    this.#cancelled = id;
  }

  /** Gives the link an input, and queues its orders. Returns whether it took the input. */
  #call(name: Input, ...args: unknown[]): boolean {
    const { isOn } = memory;
    let orders: library.Order[];
    memory.isOn = memory.input === undefined || memory.input === name;
    try {
      if (name === 'stored') orders = this.#link.stored(undefined, this.#now, this.#keyring);
      else orders = invoke(this.#link, name, args, this.#now);
    } catch (error) {
      memory.isOn = isOn;
      const { name: kind, code, message } = error as library.LocalError;
      if (kind !== 'LocalError' || code !== 'out-of-memory')
        this.#faults.push(`${name} threw ${kind}: ${message}`);
      if (/^(received|closed|stored|derived|computed|wake|end)$/.test(name))
        this.#faults.push(`${name} threw`);
      return this.#faults.length > 0;
    } finally {
      memory.isOn = isOn;
      if (memory.fails === 'all' && memory.hasFailed) memory.nth = Infinity; // there is memory again
    }
    const { session, derivation } = (this.#link as unknown as { machine: Inside }).machine;
    if (session !== undefined) this.#sessions.add(session);
    if (derivation.psk !== undefined) this.#psks.add(derivation.psk);
    const goesOn = session !== undefined && !/^(failed|closed)$/.test(session.state);
    if (name === 'stored' && goesOn) {
      const [kept, stored] = [this.#link.keyring, this.#keyring].map(this.#library.serializeKeyring);
      this.#law(kept === stored, 'what goes on has the keyring that is stored');
    }
    for (const order of orders) this.#queue.push(() => this.#carryOut(order));
    return true;
  }

  #drain(): void {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
  }

  #until(isDone: () => boolean, what: string): void {
    for (let i = 0; i < 60; i++) {
      this.#drain();
      if (isDone() || this.#faults.length > 0) return;
      if (this.#link.deadline === undefined) break;
      this.#wake();
    }
    this.#faults.push(`not so: ${what}, and the link is ${this.#link.state}`);
  }

  #wake(): void {
    this.#now = Math.max(this.#now, this.#link.deadline!);
    this.#call('wake');
    this.#drain();
  }

  #law(holds: boolean, law: string): void {
    if (!holds) this.#faults.push(`broken law: ${law}`);
  }

  #carryOut(order: library.Order): void {
    switch (order.do) {
      case 'open':
        this.#law(
          this.#open === undefined && !this.#isStoring,
          'there is one connection, after what is stored',
        );
        this.#open = order.connection;
        this.#hub = new library.HubSession({
          crypto: toyCrypto,
          nodeId: NODE_ID,
          staticKey: HUB_STATIC,
          psk: pskFor(NODE_ID),
          randomBytes: seeded(order.connection),
          clientKey: this.#clientKey,
        });
        this.#hubDoes(this.#hub.start());
        break;
      case 'write':
        if (order.connection === this.#lost) break;
        this.#law(order.connection === this.#open, 'only what is open is written to');
        this.#law(!this.#isStoring, 'nothing is written while a keyring is being stored');
        this.#hubDoes(this.#hub?.receive(order.data) ?? []);
        break;
      case 'close':
        if (order.connection === this.#lost) break;
        this.#law(order.connection === this.#open, 'only what is open is closed');
        this.#open = this.#hub = undefined;
        break;
      case 'store': {
        this.#law(!this.#isStoring, 'one keyring is stored at a time');
        this.#isStoring = true;
        this.#queue.push(() => {
          this.#isStoring = false;
          this.#keyring = order.change(this.#keyring);
          this.#call('stored');
        });
        break;
      }
      case 'derive':
        this.#law(!this.#isDeriving, 'one derivation runs at a time');
        this.#isDeriving = true;
        this.#queue.push(() => {
          if (!this.#isDeriving) return;
          this.#isDeriving = false;
          this.#call('derived', order.derivation, pskFor(order.nodeId));
        });
        break;
      case 'stop-deriving':
        this.#law(this.#isDeriving, 'only a running derivation is stopped');
        this.#isDeriving = false;
        break;
      case 'tell':
        this.#hear(order.event);
    }
  }

  #hear(event: library.LinkEvent): void {
    this.#told.push(event.type);
    if (event.type === 'finish') this.#end(event.requestId);
    if (event.type === 'part') this.#law(this.#ends.get(event.requestId) === 0, 'only questions have parts');
    if (event.type === 'unsent') {
      const { payload } = event.message as { payload?: { context?: { request_id?: string } } };
      const id = payload?.context?.request_id ?? '';
      this.#end(id);
      this.#unsent.add(id);
      this.#law(!this.#heard.has(id), 'what is unsent was not written');
    }
    this.#law(event.type !== 'ask', 'no person is asked since one input had no memory');
    this.#law(event.type !== 'close' || !this.#isClosed, 'an end is told once');
    if (/^(close|connecting|reconnect)$/.test(event.type)) this.#isClosed = event.type === 'close';
    const { error } = event as { error?: library.LocalError };
    const isTyped = /^(Local|Remote)Error$/.test(error?.name ?? 'LocalError');
    if (!isTyped) this.#faults.push(`${event.type} has the error ${String(error?.stack)}`);
  }

  #end(id: string): void {
    const count = this.#ends.get(id);
    if (count !== undefined) this.#ends.set(id, count + 1);
  }

  #hubDoes(events: readonly library.HubSessionEvent[]): void {
    const number = this.#open!;
    for (const event of events) {
      if (event.type === 'close') this.#faults.push(`the hub fails with ${event.error.code}`);
      if (event.type === 'pin') {
        this.#law(this.#keyring.pins.length > 0, 'the pin is stored before the hub sees the static key');
        this.#clientKey = event.key;
      }
      if (event.type === 'transmit') {
        this.#queue.push(() => {
          if (this.#open === number) this.#call('received', number, event.data);
        });
      }
      if (event.type === 'message' && event.kind === 'json') this.#answer(event.text);
    }
  }

  #answer(text: string): void {
    const { payload } = JSON.parse(text) as { payload?: { context?: { request_id?: string } } };
    const request_id = payload?.context?.request_id;
    if (request_id === undefined) return;
    this.#heard.add(request_id);
    this.#law(!this.#unsent.has(request_id), 'what is unsent is not written');
    for (const type of ['speak', 'ovos.utterance.handled']) {
      const answer = { type, data: { utterance: 'y' }, context: { request_id } };
      for (const data of this.#hub!.sendJson({ msg_type: 'bus', payload: answer })) {
        this.#hubDoes([{ type: 'transmit', data }]);
      }
    }
  }
}

/**
 * Runs a life for each allocation that may fail, `stride` apart.
 * @param input - the only input in which allocations fail (default all)
 * @param most - the last allocation that fails (default any)
 * @returns what was wrong, and how many lives there were
 */
function liveInFullHeap(
  used: Library,
  fails: Fails,
  stride: number,
  input?: Input,
  most: number = Number.POSITIVE_INFINITY,
): { lives: number; faults: string[] } {
  const faults: string[] = [];
  let lives = 0;
  memory.hasFailed = true;
  for (let nth = 1; nth <= most && memory.hasFailed; nth += stride) {
    Object.assign(memory, { isOn: false, input, count: 0, nth, fails, hasFailed: false });
    const life = new Life(used);
    const wrong = life.run();
    lives++;
    if (wrong.length > 0) faults.push(`${fails} ${nth}: ${wrong.join('; ')}`);
  }
  return { lives, faults };
}

/** One allocation in so many fails, in turn: with STRIDE=1 all of them do, in some minutes. */
const STRIDE = Number(process.env.STRIDE ?? 17);
const failing = await failingLibrary();

for (const fails of ['one', 'all'] as const) {
  const which = fails === 'one' ? 'an allocation fails' : 'all allocations fail until the input returns';
  test(`a link in which ${which} loses nothing, ends each question once, and ends for good`, () => {
    const { lives, faults } = liveInFullHeap(failing, fails, STRIDE);
    assert.ok(lives > 3900 / STRIDE, String(lives));
    assert.equal(faults.slice(0, 20), []);
  });

  test(`the same holds if ${which} at the start of an input, or in \`end\``, () => {
    for (const [input, stride, most] of [
      ['stored', 1, 12],
      ['derived', 1, 12],
      ['closed', 1, 12],
      ['change', 1, 12],
      ['end', 2, undefined],
    ] as const) {
      const { lives, faults } = liveInFullHeap(failing, fails, stride, input, most);
      assert.ok(lives >= 12, `${input}: ${lives}`);
      assert.equal(faults.slice(0, 20), []);
    }
  });

  test(`the same holds of the sources as they are, if in built-ins ${which}`, () => {
    const { push } = Array.prototype;
    const Buffers = globalThis.ArrayBuffer;
    Array.prototype.push = function (this: unknown[], ...items: unknown[]): number {
      memory.allocated();
      return Reflect.apply(push, this, items) as number;
    };
    globalThis.ArrayBuffer = class extends Buffers {
      constructor(length: number) {
        memory.allocated();
        super(length);
      }
    } as ArrayBufferConstructor;
    try {
      const { lives, faults } = liveInFullHeap(library, fails, 1);
      assert.ok(lives > 100, String(lives));
      assert.equal(faults.slice(0, 20), []);
    } finally {
      Array.prototype.push = push;
      globalThis.ArrayBuffer = Buffers;
    }
  });
}

test('an error of a scheduler that is not about memory is thrown', () => {
  let calls = 0;
  const nextDeadline = (): undefined => {
    if (++calls === 2) throw new Error('a scheduler with a bug'); // in the first call, it would end the connection
  };
  const requests: library.LinkOptions['requests'] = ({ sessionId }) =>
    Object.assign(new library.RequestScheduler({ sessionId }), { nextDeadline });
  assert.throws(() => readyShell({ requests }), /a scheduler with a bug/);
});

test.run();
