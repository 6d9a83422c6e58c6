/**
 * Builds the requests of a client: envelopes for `sendJson`. All three kinds travel as the same bus message, an
 * utterance; for actions and codes, `input` says that it is not natural language. Spec, "Client library contract".
 */

import { type OptionNames, readArgument, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { composeEnvelope } from '../wire/envelope.ts';
import { isJsonObject, type Json, type JsonObject, ownField, setField } from '../wire/json.ts';
import { assertNotBlank } from './white-space.ts';

/** The type of the bus message that carries every request. */
export const UTTERANCE = 'recognizer_loop:utterance';

/** The fields that all requests share. Ids are sent unchanged. None of the strings may be blank. */
export interface RequestFields {
  /** The id that the events of the reply carry (spec: `request_id`). Unique among the requests in flight. */
  requestId: string;
  /**
   * The session of the request, in the spec `session_id` (default none: it belongs to the session of the connection, whose id
   * the `ready` event of the client session carries).
   */
  sessionId?: string | undefined;
  /** The site id of the identity (spec: `site_id`). An empty string counts as absent (default none). */
  siteId?: string | undefined;
  /** A language tag (default `en-us`, as the public clients send it). */
  lang?: string | undefined;
  /**
   * Further fields of the context. Its `session` may have further fields too; the ids above replace its own (default
   * none).
   */
  context?: JsonObject | undefined;
}

type Fields = RequestFields & Partial<UtteranceRequest & ActionRequest & CodeRequest>;

/** The fields of all kinds of requests. */
const FIELDS: OptionNames<Fields> = {
  text: true,
  payload: true,
  title: true,
  value: true,
  kind: true,
  label: true,
  requestId: true,
  sessionId: true,
  siteId: true,
  lang: true,
  context: true,
};

/** A request in natural language. */
export interface UtteranceRequest extends RequestFields {
  /** The person's words, spoken or written. */
  text: string;
}

/** A structured command. */
export interface ActionRequest extends RequestFields {
  /** The command, such as `/choose{"id":"42"}` or the `payload` of a choice. */
  payload: string;
  /** The label that the person chose (default none). */
  title?: string | undefined;
}

/** A scanned or typed code. */
export interface CodeRequest extends RequestFields {
  /** The code, such as a serial number. */
  value: string;
  /** How the code was read, such as `qr` (default `code`). */
  kind?: string | undefined;
  /** What the code is, such as `serial` (default none). */
  label?: string | undefined;
}

/**
 * Builds a request in natural language.
 * @param request - the text and the shared fields; the strings are sent unchanged, white space included
 * @returns the envelope, to be passed to `sendJson`
 * @throws LocalError `bad-argument`. `sendJson` refuses a `context` that JSON cannot represent.
 * @see spec, "Client library contract"
 *
 * @example
 * import { buildUtterance } from 'hub-protocol';
 *
 * const envelope = buildUtterance({ requestId: 'r1', text: 'What is on today?', lang: 'en-ca' });
 * console.log(envelope.msg_type); // bus
 */
export function buildUtterance(request: UtteranceRequest): JsonObject {
  return build(request, 'text');
}

/**
 * Builds a structured command, which the hub does not treat as natural language.
 * @param request - the command and the shared fields; the strings are sent unchanged, white space included
 * @returns the envelope, to be passed to `sendJson`
 * @throws LocalError `bad-argument`. `sendJson` refuses a `context` that JSON cannot represent.
 * @see spec, "Client library contract"
 */
export function buildAction(request: ActionRequest): JsonObject {
  return build(request, 'payload', 'title');
}

/**
 * Builds a request with a scanned or typed code, which the hub takes character by character.
 * @param request - the code and the shared fields; the strings are sent unchanged, white space included
 * @returns the envelope, to be passed to `sendJson`
 * @throws LocalError `bad-argument`. `sendJson` refuses a `context` that JSON cannot represent.
 * @see spec, "Client library contract"
 */
export function buildCode(request: CodeRequest): JsonObject {
  return build(request, 'value', 'label');
}

/**
 * Hubs look for the request id under two names in the context, and in its session.
 * @param field - what every request of this kind has
 * @param note - what it may have beside it: then it is no natural language, and `input` says so
 */
function build(
  request: RequestFields,
  field: 'text' | 'payload' | 'value',
  note?: 'title' | 'label',
): JsonObject {
  const given = readOptions(request as Fields, 'request', FIELDS);
  const { lang = 'en-us', kind = 'code', sessionId, siteId, requestId } = given;
  const utterance = assertNotBlank(given[field], field);
  const data: JsonObject = { utterances: [utterance], lang: assertNotBlank(lang, 'lang') };
  const context = copyOf(given.context, 'context');
  if (note !== undefined) {
    const input: JsonObject = { kind: note === 'label' ? assertNotBlank(kind, 'kind') : 'action' };
    if (given[note] !== undefined) input[note] = assertNotBlank(given[note], note);
    input[field] = utterance;
    if (note === 'label') {
      input.exact = true;
      data.input = input;
    }
    context.input = input;
  }
  context.thalovant_request_id = context.request_id = assertNotBlank(requestId, 'requestId');
  const session = copyOf(ownField(context, 'session'), 'context.session');
  if (sessionId !== undefined) session.session_id = assertNotBlank(sessionId, 'sessionId');
  if (siteId !== undefined && siteId !== '') setDefault(session, 'site_id', assertNotBlank(siteId, 'siteId'));
  setDefault(session, 'lang', lang);
  session.request_id = requestId;
  context.session = session;
  return composeEnvelope('bus', { type: UTTERANCE, data, context });
}

function setDefault(object: JsonObject, name: string, value: string): void {
  object[name] = ownField(object, name) ?? value;
}

/** A shallow copy of an object; an empty object for `undefined`. */
function copyOf(object: Json | undefined, name: string): JsonObject {
  return readArgument(name, () => {
    const copy: JsonObject = {};
    if (object === undefined) return copy;
    if (!isJsonObject(object)) {
      throw errors.expectedType(name, 'object', object);
    }
    const keys = Object.keys(object);
    for (let i = 0; i < keys.length; i++) setField(copy, keys[i]!, object[keys[i]!]!);
    return copy;
  });
}
