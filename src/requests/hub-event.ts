/**
 * Events of the hub's bus as they arrive: `{"msg_type":"bus","payload":{type, data, context}}`. Nothing here raises
 * anything: what cannot be read is no event.
 */
import { isJsonObject, type Json, JsonNumber, type JsonObject, ownField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { isBlank } from './white-space.ts';

export interface HubEvent {
  readonly type: string;
  /** Empty where it has none. */
  readonly data: JsonObject;
  /** The request that it answers, where it says so. */
  readonly requestId: string | undefined;
  /** The session as the hub names it. */
  readonly sessionId: string | undefined;
  /** All of it, as it came. */
  readonly payload: JsonObject;
}

const REQUEST_IDS = ['request_id', 'thalovant_request_id', 'correlation_id'];

/**
 * Reads an event from a message, as text or parsed. Data and context that are no objects count as empty.
 * @returns `undefined` for what is not JSON, or no bus message
 */
export function readHubEvent(message: unknown): HubEvent | undefined {
  const envelope = typeof message === 'string' ? readJson(message) : message;
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
    requestId: textIn(context, REQUEST_IDS) ?? textIn(session, REQUEST_IDS) ?? textIn(data, REQUEST_IDS),
    sessionId: textIn(session, ['session_id']) ?? textIn(context, ['session_id']),
    payload,
  };
}

/** What a text is as JSON; `undefined` where it is none. */
export function readJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

export function objectIn(object: JsonObject, name: string): JsonObject {
  const value = ownField(object, name);
  return isJsonObject(value) ? value : {};
}

/** The first of these fields that holds more than white space, as a text; hubs also write numbers. */
export function textIn(object: JsonObject, names: readonly string[]): string | undefined {
  for (let i = 0; i < names.length; i++) {
    const value = ownField(object, names[i]!);
    const text = typeof value === 'number' || value instanceof JsonNumber ? String(value) : value;
    if (typeof text === 'string' && !isBlank(text)) return text;
  }
  return undefined;
}
