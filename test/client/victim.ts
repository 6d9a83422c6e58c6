/**
 * A process with a client at a server that is no hub: `victim.ts ENTRY URL DERIVE`. On the message `stop` it sends its parent what the server
 * could do to it (`Harm`), and exits. It needs --expose-gc.
 */
import { createKeyring, type Keyring, parseIdentity } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';

/** What a server did to a client. */
export interface Harm {
  /** How much the resident memory grew at most, in bytes. */
  readonly memory: number;
  /**
   * The longest section in which the event loop stood still, in milliseconds of the process's own CPU time: on a busy machine a
   * section takes longer.
   */
  readonly blocked: number;
  /** The most derivations that ran at the same time. */
  readonly derivations: number;
  /** How often the client connected, and how connections ended. */
  readonly counts: { readonly [what: string]: number };
}

const INTERVAL = 5;
const [entry, url, derives] = process.argv.slice(2) as [string, string, string];
const { connect } = (await import(`hub-protocol-client${entry}`)) as typeof import('hub-protocol-client');

const identity = parseIdentity({
  access_key: 'kiosk-7',
  password: 'correct horse',
  ...(entry === '' && { data_plane_endpoints: { wss: url } }),
  ...(entry === '/https' && { protocols: { https: true }, data_plane_endpoints: { https: url } }),
  ...(entry === '/mqtt' && {
    mqtt: { endpoint: url, username: 'kiosk-7', password: 'secret', topic_prefix: 'hivemind/hub-1' },
  }),
});
let stored: Keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
const keyring = {
  load: () => stored,
  update: (change: (keyring: Keyring) => Keyring): void => {
    stored = change(stored);
  },
};

let running = 0;
let derivations = 0;
/** Takes as long as a derivation on a fast machine, unless it is stopped. */
function derive(_password: string, _salt: Uint8Array, _: unknown, signal?: AbortSignal): Promise<Uint8Array> {
  derivations = Math.max(derivations, ++running);
  return new Promise((resolve, reject) => {
    const end = (settle: () => void) => () => {
      clearTimeout(timer);
      running--;
      settle();
    };
    const timer = setTimeout(
      end(() => resolve(randomBytes(32))),
      100,
    );
    signal?.addEventListener(
      'abort',
      end(() => reject(new Error('stopped'))),
    );
  });
}

const deadlines = { 'awaiting-hello': 500, 'awaiting-offer': 500, 'awaiting-message-2': 500 };

const cpu = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
(globalThis as unknown as { gc(): void }).gc();
const before = { rss: process.memoryUsage.rss(), max: process.resourceUsage().maxRSS };
let peak = before.rss;
let blocked = 0;
let last = { wall: performance.now(), cpu: cpu() };
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
  const now = { wall: performance.now(), cpu: cpu() };
  blocked = Math.max(blocked, Math.min(now.wall - last.wall - INTERVAL, now.cpu - last.cpu));
  last = now;
}, INTERVAL);

const counts: { [what: string]: number } = {};
const count = (what: string): void => {
  counts[what] = (counts[what] ?? 0) + 1;
};
const client = connect({
  identity,
  keyring,
  allowPlaintext: true,
  policy: { basePause: 1, maxPause: 1, deadlines },
  ...(derives === 'stub' && { derive }),
});
client.on('connecting', () => count('connecting'));
client.on('close', ({ error }) => count(error.code));
client.on('ask', ({ error }) => {
  count(`ask: ${(error as Error & { code?: string }).code ?? error.message}`);
  setImmediate(() => client.resume()); // as a person who does not understand
});

process.on('message', () => {
  const { maxRSS } = process.resourceUsage();
  if (maxRSS > before.max) peak = Math.max(peak, maxRSS * 1024); // a peak between two looks
  const harm: Harm = { memory: peak - before.rss, blocked, derivations, counts };
  process.send!(harm, () => process.exit());
});
