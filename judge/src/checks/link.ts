/** Whole lives of a client, input by input: the orders that must follow, the deadline and the state. */
import type { Fields } from '../adapter.ts';
import { firstDifference } from '../difference.ts';
import { bytesToUtf8, hexToBytes, nodeCrypto } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, checkFields, checkRefusal, Failure } from '../verdict.ts';

export async function checkLink({ options, steps, results, keys }: Vector, ask: Ask): Promise<void> {
  const response = await ask({ op: 'link', options, steps });
  if (response.error !== undefined) checkFields(response, { results });
  const [right, wrong] = [opened(results, keys), opened(response.results, keys)];
  for (const [index, result] of right.entries()) {
    const where = `step ${index + 1}, ${steps[index].do}`;
    const other = wrong[index];
    if (result.error !== undefined) checkRefusal(String(result.error), other ?? {}, where);
    else compare(where, result, other);
  }
  compare('results', right.length, wrong.length);
}

function compare(where: string, right: unknown, wrong: unknown): void {
  const difference = firstDifference(where, right, wrong, true);
  if (difference !== undefined) throw new Failure(difference);
}

/** The results with the JSON of sealed messages opened, since its fields and white space may differ. */
function opened(results: unknown, keys: { [connection: string]: string }): Fields[] {
  const counters: { [connection: string]: number } = {};
  const open = (order: Fields | null): Fields | null => {
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
