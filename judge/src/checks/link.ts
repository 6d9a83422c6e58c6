/** Whole lives of a client, input by input: the orders that must follow, the deadline and the state. */
import type { Fields } from '../adapter.ts';
import { firstDifference } from '../difference.ts';
import { bytesToUtf8, hexToBytes, nodeCrypto } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, checkFields, checkRefusal, Failure } from '../verdict.ts';
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
      compare(where, result, other, said);
    }
  }
  compare('results', right.length, wrong.length);
}

function compare(where: string, right: unknown, wrong: unknown, said: Said = {}): void {
  const difference = firstDifference(where, right, wrong, true);
  if (difference !== undefined) throw new Failure({ ...difference, ...said });
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
    compare(`results[${index}]`, result, got[index], said);
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

type Orders = readonly (Fields | null)[];

const ordersOf = (result: Fields | undefined): Orders =>
  Array.isArray(result?.orders) ? (result.orders as Orders) : [];

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
