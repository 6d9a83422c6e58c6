/**
 * `--spec-only`: does not compare the parts that the protocol leaves open. Tests whose result is `acceptable` are left
 * out; in the others, only the parts below, which are choices of hub-protocol.
 */
import type { Fields } from './adapter.ts';
import type { Vector } from './vectors.ts';
import { refuses } from './verdict.ts';

/** Events that inform the caller of this library, and that the peer does not see. */
const CHOSEN_EVENTS = [
  'psk',
  'psk-suspect',
  'pin-suspect',
  'new-hub',
  'static-key-fresh',
  'dropped',
  'ended',
];

const isDemanded = (event: Fields | null): boolean => !CHOSEN_EVENTS.includes(String(event?.type));

/**
 * The part of a vector that the protocol demands.
 * @returns the vector; with `isSpecOnly` if the JSON and the choices in it may be written in another way
 */
export function demandedOf(test: Vector): Vector {
  if (Array.isArray(test.steps) && test.steps.some((step: Fields) => step.events !== undefined)) {
    const isHub = test.steps[0].role === 'hub';
    const steps = test.steps.map((step: Fields) =>
      Array.isArray(step.events)
        ? { ...step, events: demandedEvents(step.events, test).map((event) => withoutAdvice(event, isHub)) }
        : step,
    );
    return { ...test, steps, isSpecOnly: true };
  }
  if (Array.isArray(test.results) && (test.messages ?? test.plaintexts) !== undefined) {
    // A CipherState may or may not continue after a failure; a session must not.
    const count = test.results.findIndex((result: Fields) => result.error !== undefined) + 1;
    if (count === 0) return test;
    const field = test.messages === undefined ? 'plaintexts' : 'messages';
    return { ...test, results: test.results.slice(0, count), [field]: test[field].slice(0, count) };
  }
  if (test.frames !== undefined && Array.isArray(test.events))
    return { ...test, events: test.events.filter(isDemanded) };
  return { ...test, ...withoutDefaults(test, test), isSpecOnly: true };
}

/** A `close` event without its code, except the 1008 of a hub whose handshake failed, which the protocol names. */
function withoutAdvice({ code, ...event }: Fields, isHub: boolean): Fields {
  return { ...event, ...(code !== undefined && isHub && code === 1008 && { code }) };
}

/** A response without the parts that the protocol leaves open. A refusal has no code. */
export function withoutChoices(response: Fields, test: Vector): Fields {
  const plain = withoutDefaults(withoutCode(response), test);
  const { events, results } = plain;
  return {
    ...plain,
    ...(Array.isArray(events) && { events: demandedEvents(events, test).map(withoutCode) }),
    ...(Array.isArray(results) && { results: results.map(withoutCode) }),
  };
}

/**
 * What the protocol demands of the events of a step, expected or returned. A client may send message 3 before it compares or stores
 * a pin, and either side may ignore an envelope of another type, and tell its peer why it closes. A hub may be ready at message 1 of
 * KKpsk0, and deliver the client's HELLO as a message, too.
 */
function demandedEvents(all: readonly (Fields | null)[], { steps, error }: Vector): Fields[] {
  const isHub = steps?.[0].role === 'hub';
  const closes = all.some((event) => event?.type === 'close');
  const greets = all.some((event) => event?.type === 'hello');
  const isLeftOpen = ({ type, text, pattern }: Fields): boolean =>
    (type === 'transmit' && closes && (error === 'hub-key-changed' || !isHandshake(text))) ||
    (type === 'close' && error === 'unexpected-message') ||
    (isHub && ((type === 'ready' && pattern === 'KKpsk0') || (type === 'message' && greets)));
  const events = all
    .map((event) => Object(event) as Fields)
    .filter((event) => isDemanded(event) && !isLeftOpen(event));
  const isPin = ({ type }: Fields): boolean => type === 'pin';
  return [...events.filter(isPin), ...events.filter((event) => !isPin(event))].map((event) => {
    if (event.type === 'ready') return { ...event, encoding: undefined };
    return isHub || event.type !== 'transmit' || event.text === undefined
      ? event
      : { ...event, text: withoutAnnouncement(event.text) };
  });
}

function isHandshake(text: unknown): boolean {
  return text === undefined || envelopeIn(text)?.msg_type === 'shake';
}

/** The HELLO in clear with which a client announces itself over MQTT, whose payload no hub reads. Other text is unchanged. */
function withoutAnnouncement(text: unknown): unknown {
  const envelope = envelopeIn(text);
  if (envelope?.msg_type !== 'hello' || typeof envelope.payload !== 'object') return text;
  return JSON.stringify({ ...envelope, payload: {} });
}

function envelopeIn(text: unknown): Fields | undefined {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/**
 * An identity as read, without the flags of protocols that were not issued: the protocol names no defaults. And of a request what is
 * `null`: a hub reads it as what is absent.
 */
function withoutDefaults({ identity, ...fields }: Fields, { text, builder }: Vector): Fields {
  if (builder !== undefined && fields.envelope !== undefined)
    return { ...fields, envelope: withoutNulls(fields.envelope) };
  if (identity === undefined) return fields;
  const { protocols, ...read } = Object(identity) as Fields;
  const isIssued = (name: string): boolean =>
    new RegExp(`"${name}?":(?:\\{[^}]*"enabled":)?(?:true|false)`).test(text);
  const flags = Object.entries(Object(protocols)).filter(([name]) => isIssued(name));
  return { ...fields, identity: { ...read, protocols: Object.fromEntries(flags) } };
}

function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_, each) => {
    if (Object(each) !== each || Array.isArray(each)) return each;
    return Object.fromEntries(Object.entries(each).filter(([, field]) => field !== null));
  });
}

/** An implementation refuses in its own words. */
function withoutCode(fields: Fields): Fields {
  return refuses(fields?.error) ? { ...fields, error: 'refused' } : fields;
}
