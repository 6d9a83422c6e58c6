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
 * @returns the vector; `comparesJson` if the text of a message may be written in another way
 */
export function demandedOf(test: Vector): Vector {
  if (Array.isArray(test.steps) && test.steps.some((step: Fields) => step.events !== undefined)) {
    const isHub = test.steps[0].role === 'hub';
    const steps = test.steps.map((step: Fields) =>
      Array.isArray(step.events)
        ? {
            ...step,
            events: step.events
              .filter((event) => isDemanded(event) && !(mayIgnore(test) && event?.type === 'close'))
              .map((event) => withoutAdvice(event, isHub)),
          }
        : step,
    );
    return { ...test, steps, comparesJson: true };
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
  return test;
}

/** A `close` event without its code, except the 1008 of a hub whose handshake failed, which the protocol names. */
function withoutAdvice({ code, ...event }: Fields, isHub: boolean): Fields {
  return code === undefined || (isHub && code === 1008)
    ? { ...event, ...(code !== undefined && { code }) }
    : event;
}

/**
 * A response without the parts that the protocol leaves open: a refusal has no code, some events are missing, a client may
 * send message 3 before it compares the pin, and either side may ignore an envelope of another type.
 */
export function withoutChoices(response: Fields, test: Pick<Vector, 'error'>): Fields {
  const plain = withoutCode(response);
  const { events, results } = plain;
  const closes = Array.isArray(events) && events.some((event) => event?.type === 'close');
  const comparesLate = closes && test.error === 'hub-key-changed';
  const isCompared = (event: Fields | null): boolean =>
    isDemanded(event) &&
    !(comparesLate && event?.type === 'transmit') &&
    !(mayIgnore(test) && event?.type === 'close');
  return {
    ...plain,
    ...(Array.isArray(events) && { events: events.filter(isCompared).map(withoutCode) }),
    ...(Array.isArray(results) && { results: results.map(withoutCode) }),
  };
}

/** Whether an envelope may be ignored or end the connection. Nobody may take it for another type. */
function mayIgnore({ error }: Pick<Vector, 'error'>): boolean {
  return error === 'unexpected-message';
}

/** An implementation refuses in its own words. */
function withoutCode(fields: Fields): Fields {
  return refuses(fields?.error) ? { ...fields, error: 'refused' } : fields;
}
