/** Whole lives of a client, input by input: the orders that must follow, the deadline and the state. */
import type { Fields } from '../adapter.ts';
import { firstDifference } from '../difference.ts';
import { hubsIn } from '../mistakes/reading.ts';
import { bytesToUtf8, hexToBytes, nodeCrypto } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, type Causes, checkFields, checkRefusal, Failure } from '../verdict.ts';
import { withNulls } from './session.ts';

export async function checkLink({ options, steps, results, keys }: Vector, ask: Ask): Promise<void> {
  const response = await ask({ op: 'link', options, steps });
  if (response.error !== undefined) checkFields(response, { results });
  const [right, wrong] = [opened(results, keys), opened(response.results, keys)];
  for (const [index, result] of right.entries()) {
    const where = `step ${index + 1}, ${steps[index].do}`;
    const other = wrong[index];
    if (result.error !== undefined) checkRefusal(String(result.error), other ?? {}, where);
    else {
      const said = saidOfOrders(
        ['orders', 'a link', `\`${steps[index].do}\``],
        ordersOf(result),
        ordersOf(other),
      );
      const before = right.slice(0, index);
      const inTurns = mistakesInTurns(
        steps,
        index,
        before.flatMap(ordersOf),
        ordersOf(result),
        ordersOf(other),
      );
      const inLink = [
        ...(isKeyReused(wrong.slice(0, index).flatMap(ordersOf), ordersOf(other)) ? [REUSED] : []),
        ...(isPinEnforced(options, ordersOf(result), ordersOf(other)) ? [ENFORCED] : []),
        ...(isTooEarly(steps[index], options, ordersOf(result), ordersOf(other)) ? [NOT_AWAITED] : []),
        ...(goesOn(ordersOf(result), ordersOf(other)) ? [NOT_HELD] : []),
        ...(isAdded(steps[index], ordersOf(result), ordersOf(other)) ? [ADDED] : []),
        ...(isNotExtended(
          [ordersOf(result), ordersOf(other)],
          [right[index - 1]?.deadline, result.deadline, other?.deadline],
        )
          ? [NOT_EXTENDED]
          : []),
        ...(lacksPsk(options, before.flatMap(ordersOf), ordersOf(result), ordersOf(other))
          ? [FORGOTTEN]
          : []),
      ];
      const found = [...inTurns, ...inLink];
      const causes = found.length > 0 ? found : mistakesInOrders(options, before, result, other);
      compare(where, result, other, causes, said);
    }
  }
  compare('results', right.length, wrong.length);
}

function compare(where: string, right: unknown, wrong: unknown, causes: Causes = [], said: Said = {}): void {
  const difference = firstDifference(where, right, wrong, true);
  if (difference !== undefined) throw new Failure({ ...difference, ...said }, causes);
}

/** What an order or a decision is, in words; without its values. */
function nameOf(order: Fields | null): string {
  const { do: what, event, envelope } = order ?? {};
  if (what === 'write') return envelope === undefined ? 'write a sealed message' : 'write an envelope';
  const { type, ending, error } = (what === 'tell' ? event : { ...order, type: undefined }) as Fields;
  const detail = ending ?? error;
  return [what, type, detail && `(${detail})`].filter(Boolean).join(' ');
}

/** The names that are in a list more often than in another. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const left = [...others];
  return names.filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

/** The sentence for orders or decisions that are missing, not due or in another order. */
function saidOfOrders(
  [noun, who, input]: readonly [noun: string, who: string, input: string],
  right: Orders,
  wrong: Orders,
): Said {
  const [due, got] = [right.map(nameOf), wrong.map(nameOf)];
  if (due.join() === got.join()) return {};
  const [missing, extra] = [without(due, got), without(got, due)];
  const [first, other] = [missing[0], extra[0]];
  const is = missing.length > 1 ? 'are' : 'is';
  const gives =
    first !== undefined
      ? `gives ${extra.join(', ') || 'no more'} where ${missing.join(', ')} ${is} due`
      : other !== undefined
        ? `gives ${extra.join(', ')}, which ${extra.length > 1 ? 'are' : 'is'} not due`
        : `gives ${got.join(', ')} in this order; it is ${due.join(', ')}`;
  const [plain, otherPlain] = [first, other].map((name) => name?.replace(/ \(.*\)$/, ''));
  const [most, mostOther] = plain === otherPlain ? [first, other] : [plain, otherPlain];
  const gist =
    most !== undefined
      ? `gives ${mostOther ?? 'no more'} where ${most} is due`
      : mostOther !== undefined
        ? `gives ${mostOther}, which is not due`
        : `gives its ${noun} in another order`;
  return { says: `${noun}: after ${input} ${who} ${gives}`, gist: `${noun}: ${who} ${gist}` };
}

interface Said {
  readonly says?: string;
  readonly gist?: string;
}

/** A scheduler of requests, input by input: the decisions that must follow, and the next deadline. */
export async function checkSchedule({ options, steps, results }: Vector, ask: Ask): Promise<void> {
  const response = await ask({ op: 'schedule', options, steps });
  if (response.error !== undefined) checkFields(response, { results });
  const got = Array.isArray(response.results) ? (response.results as (Fields | null)[]) : [];
  for (const [index, result] of (results as Fields[]).entries()) {
    const [due, is] = [result, got[index]].map((each) => each?.decisions);
    const lists = [due, is].map((list) => (Array.isArray(list) ? (list as Orders) : []));
    const said = saidOfOrders(['decisions', 'a scheduler', inputOf(steps[index])], lists[0]!, lists[1]!);
    const before = (results as Fields[]).slice(0, index).flatMap(({ decisions }) => decisions as Orders);
    const inTurns = mistakesInTurns(steps, index, before, lists[0]!, lists[1]!);
    const until = (all: readonly (Fields | null)[], step: number): number | undefined => {
      const deadline = all[step]?.deadline; // from the time of its step on
      return typeof deadline === 'number' ? Number(steps[step].at) + deadline : undefined;
    };
    const isKept = isNotExtended(lists, [
      until(results, index - 1),
      until(results, index),
      until(got, index),
    ]);
    const isTimed = (steps as Fields[]).slice(0, index + 1).some(({ timeout }) => timeout !== undefined);
    const isLate = said.says === undefined && isTimed && until(got, index)! > until(results, index)!;
    const causes = inTurns.length > 0 ? inTurns : isKept ? [NOT_EXTENDED] : isLate ? [LATE] : [];
    compare(`results[${index}]`, result, got[index], causes, said);
  }
  compare('results', results.length, got.length);
}

/** An input of a scheduler, with the type of the event that it receives. */
function inputOf({ do: what, message }: Fields): string {
  try {
    return `\`${what}\` of ${JSON.parse(String(message)).payload.type}`;
  } catch {
    return `\`${what}\``;
  }
}

const ONE_IN_ALL =
  'questions: one waits for a question in another session; one at a time is in flight in each session, not on the connection';
const NO_TURN =
  'questions: one in a session in which another is in flight is sent at once; it waits for its turn';
const NOT_NEXT =
  'questions: the next one in a session is not sent when the one before it has ended, however it ended';

interface Question {
  readonly id: unknown;
  readonly session: unknown;
}

/** The question in an envelope, as it is asked. */
function questionOf(envelope: unknown): Question | undefined {
  const context = ((envelope as Fields | undefined)?.payload as Fields | undefined)?.context as
    | Fields
    | undefined;
  const id = context?.request_id;
  return id === undefined ? undefined : { id, session: (context!.session as Fields | undefined)?.session_id };
}

/** The question that an order or a decision sends, of those that are asked in these steps. */
function sentBy(order: Fields | null, steps: readonly Fields[]): Question | undefined {
  const { do: what, requestId, bytes } = order ?? {};
  if (what === 'write') return questionOf(bytes);
  const asked = what === 'send' ? steps.map(({ envelope }) => questionOf(envelope)) : [];
  return asked.find((question) => question?.id === requestId);
}

/** The id of the question that an order or a decision ends. */
function endedBy(order: Fields | null): unknown {
  const { do: what, event, requestId } = order ?? {};
  const told = what === 'tell' ? (event as Fields) : undefined;
  return what === 'finish' ? requestId : told?.type === 'finish' ? told.requestId : undefined;
}

/** The questions that are in flight, order by order. */
class Flight {
  readonly #steps: readonly Fields[];
  #questions: Question[] = [];
  /** The sessions in which one has ended since the last input. */
  freed: unknown[] = [];

  constructor(steps: readonly Fields[]) {
    this.#steps = steps;
  }

  get isEmpty(): boolean {
    return this.#questions.length === 0;
  }

  follow(order: Fields | null): void {
    const question = sentBy(order, this.#steps);
    if (question !== undefined) this.#questions.push(question);
    this.end(endedBy(order));
  }

  end(id: unknown): void {
    this.freed.push(...this.#questions.filter((other) => other.id === id).map(({ session }) => session));
    this.#questions = this.#questions.filter((other) => other.id !== id);
  }

  isBusy({ session }: Question): boolean {
    return this.#questions.some((other) => other.session === session);
  }
}

/**
 * Questions that are not sent where it is their turn, or before.
 * @param before - the right orders or decisions before this input
 */
function mistakesInTurns(
  steps: readonly Fields[],
  index: number,
  before: Orders,
  due: Orders,
  got: Orders,
): Causes {
  const input = steps[index]!;
  const flight = new Flight(steps);
  for (const order of before) flight.follow(order);
  flight.freed = [];
  if (input.do === 'cancel') flight.end(input.requestId);
  const sentIn = (orders: Orders): Question[] => orders.flatMap((order) => sentBy(order, steps) ?? []);
  const idsIn = (orders: Orders): unknown[] => sentIn(orders).map(({ id }) => id);
  for (const order of due) {
    const question = sentBy(order, steps);
    if (question !== undefined && !idsIn(got).includes(question.id) && !flight.isBusy(question)) {
      const others = flight.isEmpty ? [] : [ONE_IN_ALL];
      return flight.freed.includes(question.session) ? [NOT_NEXT, ...others] : others;
    }
    flight.follow(order);
  }
  const isHandled = String(input.message ?? '').includes('ovos.utterance.handled');
  const isEnded = (order: Fields | null): boolean =>
    endedBy(order) !== undefined && ((order?.event as Fields | undefined) ?? order)?.ending === 'handled';
  if (due.length === 0 && got.some(isEnded) && (isHandled || input.do === 'received')) return [ENDED_EARLY];
  const early = sentIn(got).find(({ id }) => !idsIn(due).includes(id));
  return early !== undefined && flight.isBusy(early) ? [NO_TURN] : [];
}

const ENDED_EARLY =
  'questions: `ovos.utterance.handled` ends one before any speech; until then some hubs speak later, so the question waits';
const NOT_AWAITED =
  'pauses: the time for which a server wants to be left alone (Retry-After, `retryAfter`) is not awaited; the next dial is no earlier';
const ADDED =
  'pauses: the time for which a server wants to be left alone is added to the pause; the longer of the two counts';
const NOT_EXTENDED =
  'questions: more speech does not give the hub more time; in the state `speaking` the deadline counts from the latest speech';

/** Whether a deadline stays what it was, although a part of the reply moves it. */
function isNotExtended([due, got]: readonly Orders[], [before, right, wrong]: readonly unknown[]): boolean {
  if (due!.map(nameOf).join() !== got!.map(nameOf).join()) return false;
  const isPart = due!.some(
    (order) => order?.do === 'part' || (order?.event as Fields | undefined)?.type === 'part',
  );
  return isPart && typeof before === 'number' && right !== before && wrong === before;
}

const LATE =
  'questions: the `timeout` of a question counts from when it is sent; it counts from when it is asked';
const NOT_HELD =
  'store: the link goes on before the keyring is stored; it holds everything back until `stored`, so that nothing is sent that a restart would forget';

/** Whether the orders go on after the one to store, which is due last. */
function goesOn(due: Orders, got: Orders): boolean {
  const isLast =
    due.at(-1)?.do === 'store' && got.slice(0, due.length).map(nameOf).join() === due.map(nameOf).join();
  return isLast && got.slice(due.length).some((order) => order?.do === 'write');
}

const FORGOTTEN =
  'psk: one that did not open message 2 is left out of what is stored; it is suspect, and stays stored until another is proved';

const MAX_PAUSE = 600_000; // by default, in milliseconds

const ENFORCED =
  'pin: a suspect pin is enforced after all; it stays suspect until XXpsk2 confirms or replaces it, however many connections that takes';

/** Whether another key is refused that is to be stored in place of a suspect pin. */
function isPinEnforced({ policy }: Fields, due: Orders, got: Orders): boolean {
  const isRefused = got.some((order) => (order?.event as Fields | undefined)?.error === 'hub-key-changed');
  return (
    isRefused && keyringIn(due) !== undefined && (policy as Fields | undefined)?.onKkFailure !== 'keep-pin'
  );
}

const REUSED =
  'ephemeral key: that of an earlier connection is used again; a key pair is drawn for each connection, and used once';

/** The ephemeral key in message 1. */
function ephemeralIn(order: Fields | null): string | undefined {
  const noise = ((order?.envelope as Fields | undefined)?.payload as Fields | undefined)?.noise;
  const { pattern, msg } = Object(noise) as Fields;
  return pattern === undefined ? undefined : String(msg).slice(0, 64);
}

function isKeyReused(before: Orders, now: Orders): boolean {
  const used = before.map(ephemeralIn);
  return now.map(ephemeralIn).some((key) => key !== undefined && used.includes(key));
}

/** The pause before the next dial. */
function pauseIn(orders: Orders): number | undefined {
  const events = orders.map((order) => order?.event as Fields | undefined);
  return events.find((event) => event?.type === 'reconnect')?.after as number | undefined;
}

/** Whether the link dials later by its own pause than the server wants it. */
function isAdded({ retryAfter }: Fields, due: Orders, got: Orders): boolean {
  const [right, wrong] = [pauseIn(due), pauseIn(got)];
  return Number(retryAfter) > 0 && right !== undefined && wrong !== undefined && wrong > right;
}

/** Whether the link dials before the server wants it. */
function isTooEarly(input: Fields, options: Fields, due: Orders, got: Orders): boolean {
  const { maxPause = MAX_PAUSE } = (options.policy ?? {}) as { maxPause?: number };
  const least = Math.min(Number(input.retryAfter ?? 0), maxPause);
  const [right, wrong] = [pauseIn(due), pauseIn(got)];
  return right !== undefined && wrong !== undefined && right >= least && wrong < least;
}

/** Whether the keyring that is stored lacks a PSK, which nothing has replaced, after one has failed. */
function lacksPsk(options: Fields, before: Orders, due: Orders, got: Orders): boolean {
  const hasFailed = due.some((order) => (order?.event as Fields | undefined)?.error === 'psk-differs');
  const keyrings = [...before, ...got]
    .filter((order) => order?.do === 'store')
    .map((order) => order!.keyring);
  const stored = keyringIn(got);
  const earlier = (keyrings.at(-2) ?? options) as Fields;
  const [names, left] = [earlier, stored].map((keyring) => hubsIn(keyring?.psks));
  return hasFailed && stored !== undefined && keyringIn(due) === undefined && left!.length < names!.length;
}

const DERIVED =
  'psk: a provisioned PSK that did not open message 2 is derived anew; it stays in use, since only a person can give another';
const DERIVED_AGAIN =
  'psk: it is derived anew although the derivation for this hub is running, or its result is there; one derivation serves several connections';
const NOT_DERIVED =
  'psk: it is not derived anew where a derived one did not open message 2; the next connection needs another';
const ACCEPTED =
  'keyring: ready under XXpsk2 counts as acceptance of the static key; only ready under KKpsk0, or what the hub sends then, shows it';

/** What is wrong where a keyring is stored without a hub that it should have. */
const MISSING = {
  psks: 'keyring: a PSK is missing in what is stored; one that has opened message 2 is stored beside those of other hubs',
  pins: 'keyring: a pin is missing in what is stored; the key that XXpsk2 has shown is stored beside those of other hubs',
} as const;

type Orders = readonly (Fields | null)[];

const ordersOf = (result: Fields | undefined): Orders =>
  Array.isArray(result?.orders) ? (result.orders as Orders) : [];

/**
 * The mistakes in the orders that follow an input.
 * @param before - the right results of the inputs before it
 */
function mistakesInOrders(
  options: Fields,
  before: readonly Fields[],
  right: Fields,
  wrong: Fields | undefined,
): Causes {
  const [due, got] = [ordersOf(right), ordersOf(wrong)];
  const has = (orders: Orders, what: string): boolean => orders.some((order) => order?.do === what);
  const hasDiffered = before
    .flatMap(ordersOf)
    .some((order) => (order?.event as Fields | undefined)?.error === 'psk-differs');
  const derived = got.find((order) => order?.do === 'derive');
  const { provisioned } = options;
  if (
    derived &&
    hasDiffered &&
    !has(due, 'derive') &&
    Array.isArray(provisioned) &&
    provisioned.includes(derived.nodeId)
  )
    return [DERIVED];
  const hasDerived = before
    .flatMap(ordersOf)
    .some((order) => order?.do === 'derive' && order.nodeId === derived?.nodeId);
  if (derived && hasDerived && !hasDiffered && !has(due, 'derive')) return [DERIVED_AGAIN];
  if (hasDiffered && has(due, 'derive') && got.length > 0 && !derived) return [NOT_DERIVED];
  const [kept, stored] = [due, got].map(keyringIn);
  if (kept && stored) return mistakesInStored(kept, stored);
  const isReady = due.some((order) => {
    const event = order?.event as Fields | undefined;
    return event?.type === 'connect' && event.pattern === 'XXpsk2';
  });
  return isReady && !kept && stored?.staticKeyIsFresh === false ? [ACCEPTED] : [];
}

/** The keyring that is stored. */
function keyringIn(orders: Orders): Fields | undefined {
  return orders.find((order) => order?.do === 'store')?.keyring as Fields | undefined;
}

function mistakesInStored(right: Fields, wrong: Fields): Causes {
  const [due, got] = [right, wrong].map(({ psks, pins }) => ({ psks: hubsIn(psks), pins: hubsIn(pins) }));
  const isMissing = (name: 'psks' | 'pins'): boolean => without(due![name], got![name]).length > 0;
  const missing = (['psks', 'pins'] as const).filter(isMissing).map((name) => MISSING[name]);
  return missing.length > 0 ? missing : mistakesInKeys(right, wrong);
}

/** Keys of which only as many bytes are stored as a pointer has. */
function mistakesInKeys(right: Fields, wrong: Fields): Causes {
  const keysIn = (keyring: Fields): string[] =>
    [keyring.psks, keyring.pins].flatMap((keys) => Object.values(Object(keys)).map(String));
  const got = keysIn(wrong);
  const isCut = (count: number): boolean =>
    keysIn(right).some(
      (key, at) => key !== got[at] && key.slice(0, 2 * count).padEnd(key.length, '0') === got[at],
    );
  return [4, 8]
    .filter(isCut)
    .map(
      (count) => `keyring: ${count} of the 32 bytes of a key are stored (sizeof of a pointer in C); all are`,
    );
}

/** The results with the JSON of sealed messages opened, since its fields and white space may differ, as may those of a HANDSHAKE. */
function opened(results: unknown, keys: { [connection: string]: string }): Fields[] {
  const counters: { [connection: string]: number } = {};
  const open = (order: Fields | null): Fields | null => {
    if (order?.do === 'write' && order.envelope !== undefined)
      return { ...order, envelope: withNulls(order.envelope) };
    if (order?.do !== 'write' || typeof order.bytes !== 'string') return order;
    const connection = String(order.connection);
    const counter = counters[connection] ?? 0;
    counters[connection] = counter + 1;
    const sealed = jsonIn(order.bytes, keys[connection], counter);
    return sealed === undefined ? order : { ...order, bytes: sealed };
  };
  if (!Array.isArray(results)) return [];
  return results.map((result: Fields) =>
    Array.isArray(result?.orders) ? { ...result, orders: result.orders.map(open) } : result,
  );
}

/** The JSON in a sealed message; `undefined` if it does not open, or holds something else. */
function jsonIn(message: string, key: string | undefined, counter: number): unknown {
  const [bytes, secret] = [hexToBytes(message), key === undefined ? undefined : hexToBytes(key)];
  if (bytes === undefined || secret === undefined) return undefined;
  const nonce = new Uint8Array(12);
  nonce[4] = counter;
  try {
    const frame = nodeCrypto.ciphers.ChaChaPoly!(secret).open(nonce, new Uint8Array(0), bytes);
    return frame?.[0] === 0 ? JSON.parse(bytesToUtf8(frame.subarray(1)) ?? '') : undefined;
  } catch {
    return undefined;
  }
}
