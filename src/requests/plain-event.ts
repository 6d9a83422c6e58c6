/** Events of the hub's bus with JavaScript's numbers, for programs that pass them on. */
import * as errors from '../errors-table.ts';
import { MAX_JSON_DEPTH } from '../limits.ts';
import { assertNotFull } from '../memory.ts';
import { type Json, JsonNumber, type JsonObject, setField } from '../wire/json.ts';
import { type HubEvent, readHubEvent as readAsReceived } from './hub-event.ts';

/**
 * Reads an event of the hub's bus, solicited or not. Data and context that are not objects count as empty. In `data` all numbers are
 * JavaScript's; `payload` is as received.
 * @param message - the `text` of a `message` event, or the value parsed from it
 * @returns `undefined` if the message is not JSON, or not a bus message
 * @throws LocalError `out-of-memory`, and nothing else
 *
 * @example
 * import { readHubEvent } from 'hub-protocol';
 *
 * const text = '{"msg_type":"bus","payload":{"type":"speak","data":{"utterance":"Hello!"}}}';
 * console.log(readHubEvent(text)?.type, readHubEvent('Hello!')); // speak undefined
 */
export function readHubEvent(message: string | Json): HubEvent | undefined {
  const event = readAsReceived(message);
  if (event === undefined) return undefined;
  try {
    const { type, data, requestId, sessionId, payload } = event;
    return { type, data: plain(data, 1) as JsonObject, requestId, sessionId, payload };
  } catch (error) {
    assertNotFull(error);
    return undefined; // an object inside itself, or a getter that throws
  }
}

/** A copy in which all numbers are JavaScript's. */
function plain(value: Json, depth: number): Json {
  if (value instanceof JsonNumber) return value.valueOf();
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_JSON_DEPTH) throw errors.valueTooDeep(MAX_JSON_DEPTH);
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  const copy: JsonObject = {};
  const names = Object.keys(value);
  for (let i = 0; i < names.length; i++) setField(copy, names[i]!, plain(value[names[i]!]!, depth + 1));
  return copy;
}
