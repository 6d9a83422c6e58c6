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
  count: 0,
  nth: 0,
  fails: 'one' as Fails,
  hasFailed: false,
  allocated(): void {
    if (!memory.isOn) return;
    memory.count++;
    const isFull = memory.fails === 'one' ? memory.count === memory.nth : memory.count >= memory.nth;
    if (!isFull) return;
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

/** The failed allocation has ended the link. */
class Over extends Error {}

/** One life: it connects for the first time, asks, loses the connection, connects again, changes the keyring, and ends. */
class Life {
  readonly #library: Library;
  readonly #faults: string[] = [];
  readonly #queue: (() => void)[] = [];
  readonly #sessions = new Set<{ readonly state: string }>();
  readonly #psks = new Set<Uint8Array>();
  #link: library.ClientLink;
  #now = 0;
  #keyring: library.Keyring;
  #clientKey: Uint8Array | undefined;
  /** The connection whose transport is open, and its hub. */
  #open: number | undefined;
  #hub: library.HubSession | undefined;
  #connection = 0;
  #ended = 0;

  constructor(used: Library) {
    this.#library = used;
    this.#keyring = used.createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC, crypto: toyCrypto });
    this.#link = this.#newLink();
  }

  #newLink(): library.ClientLink {
    return new this.#library.ClientLink({
      crypto: toyCrypto,
      randomBytes: seeded(1),
      siteId: 'lobby',
      keyring: this.#keyring,
      requests: ({ sessionId }) => new this.#library.RequestScheduler({ sessionId }),
      session: { paced: true },
      trace: true,
    });
  }

  /** Returns what was wrong. */
  run(): string[] {
    try {
      this.#call('start');
      for (const id of ['q1', 'q2']) this.#call('ask', library.buildUtterance({ requestId: id, text: id }));
      this.#until(() => this.#ended === 2, 'both questions end');
      this.#open = this.#hub = undefined;
      this.#call('closed', this.#connection, { code: 1006 });
      this.#until(() => this.#link.state === 'ready', 'it connects again');
      this.#call('change', this.#library.forgetPsks);
      this.#until(() => this.#link.state === 'ready', 'it connects with another keyring');
      this.#call('end');
      this.#law(this.#link.state === 'ended', 'it ends');
    } catch (error) {
      if (!(error instanceof Over)) throw error;
    }
    const { sessions, psks } = { sessions: this.#sessions, psks: this.#psks };
    for (const { state } of sessions) this.#law(/^(failed|closed)$/.test(state), `a session is ${state}`);
    for (const psk of psks)
      this.#law(
        psk.every((byte) => byte === 0),
        'a PSK is not wiped',
      );
    // Another link, with the keyring that is stored.
    memory.nth = Number.POSITIVE_INFINITY;
    this.#queue.length = 0;
    this.#open = this.#hub = undefined;
    this.#link = this.#newLink();
    this.#call('start');
    this.#until(() => this.#link.state === 'ready', 'another link connects');
    return this.#faults;
  }

  /** Gives the link an input, and queues its orders. */
  #call(name: Input, ...args: unknown[]): void {
    const link = this.#link;
    let orders: library.Order[] = [];
    memory.isOn = !memory.hasFailed;
    try {
      orders = name === 'stored' ? link.stored(undefined, this.#now) : invoke(link, name, args, this.#now);
    } catch (error) {
      memory.isOn = false;
      const { name: kind, code } = error as library.LocalError;
      this.#law(kind === 'LocalError' && code === 'out-of-memory', `${name} threw ${String(error)}`);
      this.#law(link.state === 'ended' && link.deadline === undefined, `it is ${link.state}`);
      this.#note();
      for (const again of [() => link.wake(0), () => link.start(0)]) {
        try {
          again();
          this.#faults.push('it goes on');
        } catch (later) {
          this.#law(later === error, `later it throws ${String(later)}`);
        }
      }
      throw new Over();
    } finally {
      memory.isOn = false;
    }
    this.#note();
    for (const order of orders) this.#queue.push(() => this.#carryOut(order));
  }

  /** Keeps what must be wiped in the end. */
  #note(): void {
    const { session, derivation } = (this.#link as unknown as { machine: Inside }).machine;
    if (session !== undefined) this.#sessions.add(session);
    if (derivation.psk !== undefined) this.#psks.add(derivation.psk);
  }

  #until(isDone: () => boolean, what: string): void {
    for (let i = 0; i < 60; i++) {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
      if (isDone() || this.#faults.length > 0) return;
      if (this.#link.deadline === undefined) break;
      this.#now = Math.max(this.#now, this.#link.deadline);
      this.#call('wake');
    }
    this.#faults.push(`not so: ${what}, and the link is ${this.#link.state}`);
  }

  #law(holds: boolean, law: string): void {
    if (!holds) this.#faults.push(law);
  }

  #carryOut(order: library.Order): void {
    switch (order.do) {
      case 'open':
        this.#open = this.#connection = order.connection;
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
        this.#hubDoes(this.#hub?.receive(order.data) ?? []);
        break;
      case 'close':
        this.#open = this.#hub = undefined;
        break;
      case 'store':
        this.#keyring = order.change(this.#keyring);
        this.#queue.push(() => this.#call('stored'));
        break;
      case 'derive':
        this.#queue.push(() => this.#call('derived', order.derivation, pskFor(order.nodeId)));
        break;
      case 'tell':
        this.#law(order.event.type !== 'ask', 'a person is asked');
        if (/^(finish|unsent)$/.test(order.event.type)) this.#ended++;
    }
  }

  #hubDoes(events: readonly library.HubSessionEvent[]): void {
    const number = this.#open!;
    for (const event of events) {
      if (event.type === 'close') this.#faults.push(`the hub fails with ${event.error.code}`);
      if (event.type === 'pin') {
        this.#law(this.#keyring.pins.length > 0, 'the hub sees the static key before its pin is stored');
        this.#clientKey = event.key;
      }
      if (event.type === 'transmit') {
        this.#queue.push(() => this.#open === number && this.#call('received', number, event.data));
      }
      if (event.type === 'message' && event.kind === 'json') this.#answer(event.text);
    }
  }

  #answer(text: string): void {
    const { payload } = JSON.parse(text) as { payload?: { context?: object } };
    for (const type of payload?.context === undefined ? [] : ['speak', 'ovos.utterance.handled']) {
      const answer = { type, data: { utterance: 'y' }, context: payload!.context };
      for (const data of this.#hub!.sendJson({ msg_type: 'bus', payload: answer } as library.JsonObject)) {
        this.#hubDoes([{ type: 'transmit', data }]);
      }
    }
  }
}

/** One allocation in so many fails, in turn: with STRIDE=1 all of them do, in some minutes. */
const STRIDE = Number(process.env.STRIDE ?? 29);

for (const fails of ['one', 'all'] as const) {
  const which = fails === 'one' ? 'an allocation fails' : 'all allocations fail until the input returns';
  test(`a link in which ${which} goes on, or is over and wiped, and another one connects`, async () => {
    const failing = await failingLibrary();
    const faults: string[] = [];
    let lives = 0;
    memory.hasFailed = true;
    for (let nth = 1; memory.hasFailed; nth += STRIDE, lives++) {
      Object.assign(memory, { isOn: false, count: 0, nth, fails, hasFailed: false });
      const wrong = new Life(failing).run();
      if (wrong.length > 0) faults.push(`${fails} ${nth}: ${wrong.join('; ')}`);
    }
    assert.ok(lives > 2000 / STRIDE, String(lives));
    assert.equal(faults.slice(0, 20), []);
  });
}

test('an error of a scheduler that is not about memory is thrown', () => {
  let calls = 0;
  const nextDeadline = (): undefined => {
    if (++calls === 3) throw new Error('a scheduler with a bug'); // in the first two, it would end the connection
  };
  const requests: library.LinkOptions['requests'] = ({ sessionId }) =>
    Object.assign(new library.RequestScheduler({ sessionId }), { nextDeadline });
  assert.throws(() => readyShell({ requests }), /a scheduler with a bug/);
});

test.run();
