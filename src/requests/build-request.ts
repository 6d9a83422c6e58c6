/**
 * What a client asks of a hub: envelopes to be handed to `sendJson`. All three kinds travel as one bus message, an
 * utterance; `input` says of the latter two that it is no prose. Spec, "Client library contract".
 */
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { composeEnvelope } from '../wire/envelope.ts';
import { isJsonObject, type Json, type JsonObject, ownField, setField } from '../wire/json.ts';
import { notBlank } from './white-space.ts';

/** The bus message that all three kinds of request are. */
export const UTTERANCE = 'recognizer_loop:utterance';

/** What all requests have. Ids are sent as they are given, and must not be blank. */
export interface RequestFields {
  /** Comes back with the events that answer the request (spec: `request_id`). It must differ from all others in flight. */
  requestId: string;
  /** The session that the request belongs to (spec: `session_id`); without it, the one of the connection. */
  sessionId?: string | undefined;
  /** As the identity has it (spec: `site_id`); empty counts as none. */
  siteId?: string | undefined;
  /** A language tag; `en-us` by default, as the public clients have it. */
  lang?: string | undefined;
  /** Further fields of the context. Those of its `session` stay beside the ids, which the fields above decide. */
  context?: JsonObject | undefined;
}

export interface UtteranceRequest extends RequestFields {
  /** What a person said or wrote. */
  text: string;
}

export interface ActionRequest extends RequestFields {
  /** The command, such as `/choose{"id":"42"}` or the `payload` of a choice. */
  payload: string;
  /** What the person saw of it. */
  title?: string | undefined;
}

export interface CodeRequest extends RequestFields {
  /** The code, such as a serial number. */
  value: string;
  /** Where it comes from, such as `qr`; `code` by default. */
  kind?: string | undefined;
  /** What it is called, such as `serial`. */
  label?: string | undefined;
}

/**
 * A request in natural language.
 * @returns the whole envelope; nothing in it is trimmed or changed
 * @throws LocalError `bad-argument`. What JSON cannot hold is found by `sendJson`.
 */
export function buildUtterance(request: UtteranceRequest): JsonObject {
  assertObject(request, 'request');
  return build(request, notBlank(request.text, 'text'));
}

/**
 * A structured command, which is not to be turned into prose.
 * @returns as `buildUtterance`
 * @throws LocalError `bad-argument`
 */
export function buildAction(request: ActionRequest): JsonObject {
  assertObject(request, 'request');
  const payload = notBlank(request.payload, 'payload');
  const input: JsonObject = { kind: 'action' };
  if (request.title !== undefined) input.title = notBlank(request.title, 'title');
  input.payload = payload;
  return build(request, payload, input);
}

/**
 * A code to be taken character by character: scanned, or typed.
 * @returns as `buildUtterance`
 * @throws LocalError `bad-argument`
 */
export function buildCode(request: CodeRequest): JsonObject {
  assertObject(request, 'request');
  const { kind = 'code', label } = request;
  const value = notBlank(request.value, 'value');
  const input: JsonObject = { kind: notBlank(kind, 'kind') };
  if (label !== undefined) input.label = notBlank(label, 'label');
  input.value = value;
  input.exact = true;
  return build(request, value, input);
}

function build(request: RequestFields, text: string, input?: JsonObject): JsonObject {
  const { lang: given = 'en-us' } = request;
  const lang = notBlank(given, 'lang');
  const data: JsonObject = { utterances: [text], lang };
  if (input?.exact === true) data.input = input;
  return composeEnvelope('bus', { type: UTTERANCE, data, context: contextOf(request, lang, input) });
}

/** The ids stand where hubs look for them: in the context under two names, and in the session. */
function contextOf(request: RequestFields, lang: string, input: JsonObject | undefined): JsonObject {
  const requestId = notBlank(request.requestId, 'requestId');
  const context = copyOf(request.context, 'context');
  if (input !== undefined) context.input = input;
  context.request_id = requestId;
  context.thalovant_request_id = requestId;

  const session = copyOf(ownField(context, 'session'), 'context.session');
  if (request.sessionId !== undefined) session.session_id = notBlank(request.sessionId, 'sessionId');
  if (request.siteId !== undefined && request.siteId !== '') {
    session.site_id ??= notBlank(request.siteId, 'siteId');
  }
  session.lang ??= lang;
  session.request_id = requestId;
  context.session = session;
  return context;
}

function assertObject(value: unknown, name: string): asserts value is JsonObject {
  if (!isJsonObject(value)) {
    throw new LocalError('bad-argument', `"${name}" expected an object, got ${kindOf(value)}`);
  }
}

/** A new object with the same fields, or with none. */
function copyOf(object: Json | undefined, name: string): JsonObject {
  const copy: JsonObject = {};
  if (object === undefined) return copy;
  assertObject(object, name);
  const names = Object.keys(object);
  for (let i = 0; i < names.length; i++) setField(copy, names[i]!, object[names[i]!]!);
  return copy;
}
