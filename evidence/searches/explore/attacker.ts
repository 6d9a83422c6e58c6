/**
 * What an attacker brings about, who does one thing on each connection of a client to its hub: closes it, withholds, spoils or
 * repeats a message, or takes the hub's place. The link, with its session, policy and keyring, is the real one. All states that
 * such attackers can lead to are found, and the shortest way to each thing that costs the client more than time. SECURITY.md has
 * the table: `node --import tsx evidence/searches/explore/attacker.ts` writes it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  ClientLink,
  HubSession,
  type HubSessionEvent,
  type Keyring,
  type Order,
  updateKeyring,
} from '../../../src/index.ts';
import type { LinkMachine } from '../../../src/link/machine.ts';
import { POLICY_ENDINGS } from '../../../src/policy/tables.ts';
import { toyCrypto } from '../../../test/world/toy-crypto.ts';
import { table } from '../../../tools/draw.ts';
import { isRecent } from './describe.ts';
import {
  CLIENT_KEY,
  GUESSED_PSK,
  HUB_KEY,
  HUB_STATIC,
  IMPOSTOR_STATIC,
  keyOf,
  NODE_ID,
  PSK,
  SCENARIOS,
  storedLabel,
} from './scenarios.ts';

/** What an attacker does on one connection. Without it, client and hub talk, and lose the connection. */
interface Act {
  readonly name: string;
  /** Who is at the other end. */
  readonly peer?: 'stranger' | 'insider';
  /** After how many messages of the hub the connection ends; 5 is after the first that is encrypted. */
  readonly after?: number;
  /** How it ends then: a close code, or silence until the client gives up. */
  readonly ends?: number | 'silence';
  /** Changes what the hub sends. */
  readonly change?: (text: string, number: number) => readonly string[];
  /** What comes once the client is ready. */
  readonly late?: string;
  /** What of the client's side fails meanwhile. */
  readonly fails?: 'store' | 'derivation' | 'memory' | 'clock';
}

const POINTS = {
  'before HELLO': 0,
  'before HANDSHAKE': 1,
  'before message 2': 2,
  'after `ready`': 3,
} as const;
const closes = (codes: readonly number[]): Act[] =>
  codes.flatMap((ends) =>
    Object.entries(POINTS).map(([point, after]) => ({ name: `${ends} ${point}`, after, ends })),
  );

const IN_MESSAGE_2 = 2;
const WIRE: readonly Act[] = [
  ...closes([1000, 1008]),
  { name: '1005 before message 2', after: 2, ends: 1005 },
  { name: 'silence before HELLO', after: 0, ends: 'silence' },
  { name: 'silence before message 2', after: 2, ends: 'silence' },
  {
    name: 'a bit of message 2 flipped',
    change: (text, number) => [
      number === IN_MESSAGE_2
        ? text.replace(/"msg":"(.)/, (_, digit) => `"msg":"${digit === '0' ? 1 : 0}`)
        : text,
    ],
  },
  { name: 'message 2 twice', change: (text, number) => (number === IN_MESSAGE_2 ? [text, text] : [text]) },
  { name: 'another node id in HELLO', change: (text) => [text.replace(`"${NODE_ID}"`, '"another"')] },
  { name: 'an older protocol in HANDSHAKE', change: (text) => [text.replace('_version":3', '_version":2')] },
  { name: 'cleartext after `ready`', after: 3, ends: 1006, late: '{"msg_type":"bus","payload":{}}' },
  { name: 'an impostor without the password', peer: 'stranger' },
];

export const ATTACKERS: { readonly [name: string]: readonly Act[] } = {
  'has the access key, over HTTPS': closes([1000]),
  'is between client and hub, without TLS': WIRE,
  '… and knows the password': [...WIRE, { name: 'an impostor with the password', peer: 'insider' }],
};

/** What fails of the client's own side. No attacker needs to bring it about. */
export const FAILURES: readonly Act[] = (['store', 'derivation', 'memory', 'clock'] as const).flatMap(
  (fails) => [
    { name: `the ${fails} fails`, fails },
    { name: `the ${fails} fails, and the connection before message 2`, fails, after: 2, ends: 1000 },
  ],
);

const keyringOf = (name: string): Keyring => SCENARIOS.find((scenario) => scenario.name === name)!.keyring;

export interface Setting {
  readonly name: string;
  readonly keyring: Keyring;
  /** The client's key as the hub has pinned it. */
  readonly pinned?: Uint8Array;
  readonly onKkFailure?: 'keep-pin';
  readonly trust?: 'pinned-only';
  /** Whether the client restarts after every connection, with what is stored. */
  readonly restarts?: boolean;
}

/** A hub has accepted the key of a client that knows it. */
const KNOWN = {
  keyring: updateKeyring(keyringOf('known hub'), { type: 'message', kind: 'json', text: '' }),
  pinned: CLIENT_KEY,
};
export const SETTINGS: readonly Setting[] = [
  { name: 'first contact', keyring: keyringOf('first contact') },
  { name: 'known hub', ...KNOWN },
  { name: 'known hub, `keep-pin`', ...KNOWN, onKkFailure: 'keep-pin' },
  { name: 'known hub, `pinned-only`', ...KNOWN, trust: 'pinned-only' },
];

/** An end of a connection that was ready, if a person is asked about the second one in a row. Another one is as good as none. */
function isAskedAbout(doubt: unknown): unknown {
  return POLICY_ENDINGS.some(({ isRepeated, error }) => isRepeated === true && error === doubt) && doubt;
}

/** What an attacker has brought about, by name, with the shortest way there. */
export type Ways = ReadonlyMap<string, readonly string[]>;

/** How long it takes until a client is connected again, in milliseconds, and after how many connections, at most. */
export interface Cost {
  readonly time: number;
  readonly connections: number;
  readonly course: readonly string[];
}

/** In milliseconds. The limit of a pause is as high as it may be. */
const [HOUR, TEN_MINUTES] = [3_600_000, 600_000];

/** After so many connections a client is not expected to be ready any more. */
const NEVER = 9;

/** A client and its hub, through one connection after another. All pauses are as long as they may be. */
class Life {
  link: ClientLink;
  readonly reached = new Set<string>();
  private readonly setting: Setting;
  private pinned: Uint8Array | undefined;
  private now = 0;
  /** How far the client's clock is behind. */
  private skew = 0;
  private connection = 0;
  private stored: Keyring;
  private fails: Act['fails'];
  private begunAt = 0;
  private readyAt = 0;
  /** The code of the latest end. */
  code = '';
  private toHub: ((data: string | Uint8Array) => void) | undefined;

  constructor(setting: Setting) {
    this.setting = setting;
    this.pinned = setting.pinned;
    this.stored = setting.keyring;
    this.link = this.newLink();
  }

  private newLink(): ClientLink {
    const { onKkFailure, trust } = this.setting;
    const link = new ClientLink({
      crypto: toyCrypto,
      randomBytes: (length) => {
        if (this.fails === 'memory')
          throw Object.assign(new Error('out of memory'), { name: 'InternalError' });
        return length === 3 ? new Uint8Array(3).fill(255) : keyOf(`${this.connection}`).slice(0, length);
      },
      siteId: '',
      keyring: this.stored,
      session: { trust },
      policy: { onKkFailure },
    });
    this.call(() => link.start(this.time));
    return link;
  }

  /** The time of the client. */
  private get time(): number {
    return this.now - this.skew;
  }

  /** Gives the link an input. If there is no memory for it, the link is over. */
  private call(input: () => Order[]): void {
    try {
      this.run(input());
    } catch (error) {
      if ((error as { code?: string }).code !== 'out-of-memory') throw error;
    }
  }

  private get machine(): { readonly policy: Record<string, unknown>; readonly failures: number } {
    return (this.link as unknown as { machine: LinkMachine }).machine as never;
  }

  /** All that decides what follows. */
  get label(): string {
    const { link } = this;
    const { policy, failures } = this.machine;
    const { leavesOutKk, differedAt, doubt } = policy;
    const hasDiffered = isRecent(differedAt, this.time);
    const own = [link.state, leavesOutKk, hasDiffered, isAskedAbout(doubt), this.pinned !== undefined];
    return `${storedLabel(link.keyring)} ${storedLabel(this.stored)} ${own} ${Math.min(failures, 3)} ${(link.deadline ?? 0) - this.time}`;
  }

  connect({ peer, after = 5, ends = 1006, change = (text) => [text], late, fails }: Act): void {
    this.fails = fails;
    if (this.setting.restarts === true || this.link.state === 'ended') this.link = this.newLink();
    else if (this.link.state === 'waiting' || this.link.state === 'asking') this.wake();
    this.machine.policy.limit = TEN_MINUTES;
    const { link, connection } = this;
    this.begunAt = this.now;
    const hub = new HubSession({
      crypto: toyCrypto,
      nodeId: NODE_ID,
      staticKey: peer === undefined ? HUB_STATIC : IMPOSTOR_STATIC,
      psk: peer === 'stranger' ? GUESSED_PSK : PSK,
      randomBytes: () => keyOf(`hub ${connection}`),
      clientKey: peer === undefined ? this.pinned : CLIENT_KEY,
    });
    let number = 0;
    let closedByHub: number | undefined;
    const take = (events: readonly HubSessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'pin' && peer === undefined) this.pinned = event.key;
        if (event.type === 'close') closedByHub = 1008;
        if (event.type !== 'transmit') continue;
        const texts = typeof event.data === 'string' ? change(event.data, number) : [event.data];
        if (number++ < after)
          for (const data of texts) this.call(() => link.received(connection, data, this.time));
      }
    };
    this.toHub = (data) => take(hub.receive(data));
    take(hub.start());
    if (after === 3 && late !== undefined) this.call(() => link.received(connection, late, this.time));
    if (after > 3 && hub.state === 'ready')
      for (const data of hub.sendJson('{}')) this.call(() => link.received(connection, data, this.time));
    this.toHub = undefined;
    if (ends === 'silence') this.wake();
    else if (link.state !== 'waiting')
      this.call(() => link.closed(connection, { code: closedByHub ?? ends }, this.time));
    if (fails === 'clock') this.setBack();
    this.fails = undefined;
    this.note();
  }

  /** The attacker has left, since the latest connection began, and nothing fails any more. Returns what that connection has cost. */
  recover(): Omit<Cost, 'course'> {
    const { begunAt } = this;
    for (let connections = 1; connections < NEVER; connections++) {
      this.readyAt = -1;
      this.connect({ name: 'nothing' });
      if (this.readyAt >= 0) return { time: this.readyAt - begunAt, connections };
    }
    return { time: Number.POSITIVE_INFINITY, connections: NEVER };
  }

  /** The client's clock goes back, and then the timer of its pause fires. */
  private setBack(): void {
    this.now += Math.max(0, (this.link.deadline ?? this.time) - this.time);
    this.skew += HOUR;
    this.call(() => this.link.wake(this.time));
  }

  private wake(): void {
    this.now = Math.max(this.now, (this.link.deadline ?? 0) + this.skew);
    this.call(() => this.link.wake(this.time));
  }

  private run(orders: readonly Order[]): void {
    for (const order of orders) {
      if (order.do === 'open') this.connection = order.connection;
      else if (order.do === 'write') this.toHub?.(order.data);
      else if (order.do === 'store') {
        const isStored = this.fails !== 'store';
        if (isStored) this.stored = order.keyring;
        this.call(() => this.link.stored(isStored ? undefined : new Error('the disk is full'), this.time));
      } else if (order.do === 'derive') {
        if (this.setting.keyring.psks.length > 0) this.reached.add('the PSK is derived again');
        const psk = this.fails === 'derivation' ? new Error('no memory') : PSK;
        this.call(() => this.link.derived(order.derivation, psk, this.time));
      } else if (order.do === 'tell') {
        const { event } = order;
        if (event.type === 'ask') {
          this.reached.add(`a person is asked: \`${event.error.code}\``);
        }
        if (event.type === 'hub-replaced')
          this.reached.add('the pin is replaced, and a person is told both fingerprints');
        if (event.type === 'connect') this.readyAt = this.now;
        if (event.type === 'close') {
          this.code = event.error.code;
          this.told.add(this.code);
        }
      }
    }
  }

  /** The codes of what was told. */
  readonly told = new Set<string>();

  private note(): void {
    const { pins, psks } = this.link.keyring;
    const { keyring } = this.setting;
    const isOwn = ({ key }: { key: Uint8Array }): boolean => Buffer.compare(key, HUB_KEY) === 0;
    if (pins.length < keyring.pins.length) this.reached.add('the pin is lost');
    if (psks.length < keyring.psks.length) this.reached.add('the PSK is lost');
    const isWrong = pins.some((pin) => !isOwn(pin));
    if (isWrong && keyring.pins.length === 0) this.reached.add('an impostor is pinned');
    if (
      isWrong &&
      keyring.pins.length > 0 &&
      !this.reached.has('the pin is replaced, and a person is told both fingerprints')
    )
      this.reached.add('the pin is replaced without a word');
  }
}

/** The shortest ways of an attacker to all that can be reached, at most so long, and the codes that the client was told. */
export function explore(
  setting: Setting,
  acts: readonly Act[],
  longest: number = Number.POSITIVE_INFINITY,
): { ways: Ways; told: ReadonlySet<string>; states: number; costs: ReadonlyMap<string, Cost> } {
  const costs = new Map<string, Cost>(); // by the code of the latest end
  const ways = new Map<string, readonly string[]>();
  const told = new Set<string>();
  const seen = new Set<string>();
  const all = [...acts, { name: 'nothing' }];
  let layer: (readonly Act[])[] = [[]];
  for (let length = 1; length <= longest && layer.length > 0; length++) {
    const next: (readonly Act[])[] = [];
    for (const before of layer) {
      for (const act of all) {
        const course = [...before, act];
        const life = new Life(setting);
        for (const each of course) life.connect(each);
        for (const what of life.reached)
          if (!ways.has(what))
            ways.set(
              what,
              course.map(({ name }) => name),
            );
        for (const code of life.told) told.add(code);
        if (seen.has(life.label)) continue;
        seen.add(life.label);
        next.push(course);
        const { code } = life;
        const cost = { ...life.recover(), course: course.map(({ name }) => name) };
        const { time = -1, connections = 0 } = costs.get(code) ?? {};
        if (cost.time > time || cost.connections > connections) costs.set(code, cost);
      }
    }
    layer = next;
  }
  return { ways, told, states: seen.size, costs };
}

/** What each attacker can bring about that the one before cannot, and how: the rows of the table in SECURITY.md. */
export function attackRows(): string[][] {
  const rows: string[][] = [];
  const known = new Set<string>();
  for (const [attacker, acts] of Object.entries(ATTACKERS)) {
    const clients = new Map<string, string[]>(); // by what is brought about, and how
    for (const setting of SETTINGS) {
      if (acts.length > WIRE.length && setting.keyring.pins.length === 0) continue; // whoever comes first is pinned
      for (const [what, course] of explore(setting, acts, 3).ways) {
        const row = [attacker, what, course.join('; then ')].join('\n');
        const name = `${setting.name}\n${what}`;
        if (!known.has(name)) clients.set(row, [...(clients.get(row) ?? []), setting.name]);
        known.add(name);
      }
    }
    if (clients.size === 0) rows.push([attacker, 'any', 'nothing, but lost connections', '']);
    for (const [row, own] of clients) {
      const [, what, course] = row.split('\n');
      const client =
        own.length === SETTINGS.length
          ? 'any'
          : own.length === SETTINGS.length - 1
            ? 'any known hub'
            : own.join('; ');
      rows.push([attacker, client, what!, course!]);
    }
  }
  return rows;
}

/** What attackers cost in time, by what the client is told last: the rows of the second table. */
export function costRows(): string[][] {
  const times = new Map<string, number>();
  for (const setting of SETTINGS) {
    for (const [code, { time }] of explore(setting, WIRE, 3).costs) {
      if (time > (times.get(code) ?? 0)) times.set(code, time);
    }
  }
  const rows = new Map<number, string[]>();
  for (const [code, time] of times) rows.set(time, [...(rows.get(time) ?? []), `\`${code}\``]);
  const sorted = [...rows].sort(([a], [b]) => a - b);
  return sorted.map(([time, codes]) => [codes.sort().join(', '), `${Math.ceil(time / 1000)} s`]);
}

const PAGE: URL = new URL('../../../SECURITY.md', import.meta.url);
/** What stands between the tables. */
const TIMES = 'Once the attacker has left, a client needs nobody, even with the longest pauses:';
const [START, END] = ['<!-- drawn: attacks -->\n', '<!-- end -->'] as const;

/** SECURITY.md, and the same with the table as it should be. */
export function page(): { is: string; shouldBe: string } {
  const is = readFileSync(PAGE, 'utf8');
  const head = [
    'An attacker who …',
    'The client',
    'Can bring about that …',
    'The shortest way, one act on each connection',
  ];
  const costs = table(['The latest end', 'Connected again within'], costRows());
  const [before, rest] = is.split(START) as [string, string];
  const after = rest.slice(rest.indexOf(END));
  return { is, shouldBe: `${before}${START}${table(head, attackRows())}\n\n${TIMES}\n\n${costs}\n${after}` };
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, page().shouldBe);
