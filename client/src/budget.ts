/** How much memory a hub can make a client take: each bound follows from one number, the option `maxMemory`. */
const KIB = 1024;
const MIB = 1024 * KIB;

const DEFAULT = 64 * MIB;
/** What the option may be. */
export const LEAST_MEMORY: number = MIB;
export const MOST_MEMORY: number = 1024 * MIB;

/** A transport message: 65,535 bytes, and what a transport adds. */
const TRANSPORT_MESSAGE = 66 * KIB;

/** The bounds, in bytes. */
export interface Budget {
  /** All that is held together. */
  readonly all: number;
  /** A message that is joined from its parts. */
  readonly message: number;
  /** What a compressed envelope may become: a kilobyte can contain a thousand times as much, which costs much more to parse. */
  readonly inflated: number;
  /** A message outside of its strings: so many values, each of which takes some 32 bytes and more. */
  readonly values: number;
  /** Messages that wait for a loop over the client. */
  readonly waiting: number;
  /** The reply to a question, or to a cascade the answers of all hubs. */
  readonly replies: number;
  /** The states of sessions. */
  readonly states: number;
  /** A message of a WebSocket: an envelope of 256 KiB. */
  readonly frame: number;
  /** A packet of MQTT: an envelope, and its topic, which has up to 65,535 bytes. */
  readonly packet: number;
  /** A response of HTTPS until the connection is ready: HELLO and HANDSHAKE, at most 256 KiB each, in JSON. */
  readonly response: number;
  /** A response with transport messages in base64, of which a hub keeps 256. */
  readonly responseWhenReady: number;
}

/** The share of `maxMemory`, what each bound is at least, and what no hub ever needs. */
const SHARES: { readonly [bound in keyof Budget]: readonly [share: number, least: number, most: number] } = {
  all: [1, 0, MOST_MEMORY],
  message: [1 / 2, 0, 32 * MIB],
  inflated: [1 / 64, 0, 32 * MIB],
  values: [1 / 64, 64 * KIB, MIB],
  waiting: [1 / 8, 0, MOST_MEMORY],
  replies: [1 / 4, 0, MOST_MEMORY],
  states: [1 / 64, 0, MIB],
  frame: [1 / 256, TRANSPORT_MESSAGE, 256 * KIB],
  packet: [1 / 128, 2 * TRANSPORT_MESSAGE, 512 * KIB],
  response: [1 / 64, TRANSPORT_MESSAGE, 600 * KIB],
  responseWhenReady: [11 / 32, 0, 22 * MIB],
};

/** The options that the bounds follow from. */
export interface Limits {
  readonly maxMemory?: number | undefined;
  readonly maxValues?: number | undefined;
}

export function budgetOf({ maxMemory = DEFAULT, maxValues }: Limits = {}): Budget {
  const bounds = Object.entries(SHARES).map(([bound, [share, least, most]]) => [
    bound,
    Math.floor(Math.min(Math.max(share * maxMemory, least), most)),
  ]);
  const budget = Object.fromEntries(bounds) as unknown as Budget;
  return { ...budget, values: maxValues ?? budget.values };
}
