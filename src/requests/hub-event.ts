/** Events of the hub's bus: `{"msg_type":"bus","payload":{type, data, context}}`. */
import { readArgument } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { assertNotFull } from '../memory.ts';
import { isJsonObject, type Json, JsonNumber, type JsonObject, ownField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { isBlank } from './white-space.ts';

/** An event of the hub's bus. */
export interface HubEvent {
  /** The type of the event, such as `speak`. */
  readonly type: string;
  /**
   * The event's data; empty if it carries none. `readHubEvent` and the client return JavaScript's numbers in it. A scheduler, a link and the
   * files for devices keep a JsonNumber for one such as `12.5`, as in `payload`: `Number(value)` converts it.
   */
  readonly data: JsonObject;
  /** The id of the request that the event answers, if it carries one. */
  readonly requestId: string | undefined;
  /** The session id as the hub returns it, if the event carries one. Compare it with `sessionIdsMatch`. */
  readonly sessionId: string | undefined;
  /** `{type, data, context}` as received. */
  readonly payload: JsonObject;
}

const REQUEST_IDS = ['request_id', 'thalovant_request_id', 'correlation_id'];

/**
 * Reads an event of the hub's bus, solicited or not, with its numbers as received: without a copy, for devices. Data and context that are
 * not objects count as empty.
 * @param message - the `text` of a `message` event, or the value parsed from it
 * @returns `undefined` if the message is not JSON, or not a bus message
 * @throws LocalError `out-of-memory`, and nothing else
 */
export function readHubEvent(message: string | Json): HubEvent | undefined {
  try {
    return eventIn(typeof message === 'string' ? parseJson(message) : message);
  } catch (error) {
    assertNotFull(error);
    return undefined;
  }
}

function eventIn(envelope: Json): HubEvent | undefined {
  if (!isJsonObject(envelope) || ownField(envelope, 'msg_type') !== 'bus') return undefined;
  const payload = ownField(envelope, 'payload');
  if (!isJsonObject(payload)) return undefined;
  const type = ownField(payload, 'type');
  if (typeof type !== 'string') return undefined;

  const data = objectIn(payload, 'data');
  const context = objectIn(payload, 'context');
  const session = objectIn(context, 'session');
  return {
    type,
    data,
    requestId:
      stringIn(context, REQUEST_IDS) ?? stringIn(session, REQUEST_IDS) ?? stringIn(data, REQUEST_IDS),
    sessionId: stringIn(session, ['session_id']) ?? stringIn(context, ['session_id']),
    payload,
  };
}

/**
 * A copy of a caller's event. Reads each field once.
 * @param name - of the argument, for the error message
 * @throws LocalError `bad-argument`
 */
export function copyOf(event: HubEvent, name: string): HubEvent {
  return readArgument(name, () => {
    const { type, data, requestId, sessionId, payload } = Object(event) as HubEvent;
    if (typeof type !== 'string' || !isJsonObject(data) || !isJsonObject(payload)) {
      throw errors.expectedType(name, 'string or HubEvent', event);
    }
    return { type, data, requestId, sessionId, payload };
  });
}

/** An object's field if it is an object, else an empty object. */
export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = ownField(object, name);
  return isJsonObject(value) ? value : {};
}

/** The first of these fields that contains more than white space. Hubs also send numbers; they become strings. */
export function stringIn(object: JsonObject, names: readonly string[]): string | undefined {
  for (let i = 0; i < names.length; i++) {
    const value = ownField(object, names[i]!);
    const string = typeof value === 'number' || value instanceof JsonNumber ? String(value) : value;
    if (typeof string === 'string' && !isBlank(string)) return string;
  }
  return undefined;
}
