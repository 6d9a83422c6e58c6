/** What a session does wrong in a step, as a sentence that is the same wherever it is the same. */
import type { Fields } from '../adapter.ts';

type Events = readonly (Fields | null)[];

/** A step of a vector, and what came before it. */
export interface Point {
  readonly steps: readonly Fields[];
  /** The index of the step. */
  readonly step: number;
  readonly isHub: boolean;
}

/** Codes that a wrong key leads to as well, so that they say little. */
const OF_KEYS: readonly unknown[] = [
  ...['prologue-differs', 'psk-differs', 'kk-failed', 'low-order-key', 'static-key-not-authentic'],
  ...[
    'payload-not-authentic',
    'message-too-short',
    'message-too-long',
    'not-authentic',
    'bad-handshake-payload',
  ],
];

export interface Said {
  readonly says: string;
  /** The same without who and where. */
  readonly gist: string;
}

/** The sentence for these events in place of the right ones; `undefined` if it would say little. */
export function saidOfEvents(point: Point, expected: Events, got: Events): Said | undefined {
  const who = point.isHub ? 'a hub' : 'a client';
  const input = inputOf(point);
  const said = (does: string, then: string): Said => ({
    says: `${who} ${does} ${input} ${then}`,
    gist: `a session ${does} what it ${then.replace(/^that it /, '')}`,
  });
  const [right, error] = [closeOf(expected), closeOf(got)];
  if (right !== undefined && error !== undefined && right !== error)
    return OF_KEYS.includes(error) && !OF_KEYS.includes(right)
      ? said('opens', `that it refuses as ${right}`)
      : {
          says: `${who} refuses ${input} as ${error} where it is ${right}`,
          gist: `a session refuses as ${error} what is ${right}`,
        };
  if (right === undefined && OF_KEYS.includes(error)) return undefined;
  if (right !== undefined && error === undefined) return said('takes', `that it refuses as ${right}`);
  if (right === undefined && error !== undefined) return said('refuses', `that it takes, as ${error}`);
  const [missing, extra] = [without(expected, got), without(got, expected)];
  if (missing === '' && extra === '') return undefined;
  const due = `where ${missing} ${missing.includes(',') ? 'are' : 'is'} due`;
  const gives =
    got.length === 0
      ? `nothing ${due}`
      : missing === ''
        ? `${extra}, which is not due`
        : `${extra || 'no more'} ${due}`;
  return { says: `on ${input} ${who} gives ${gives}`, gist: `a session gives ${gives}` };
}

function closeOf(events: Events): unknown {
  return events.find((event) => event?.type === 'close')?.error;
}

/** What an event is: envelopes and sealed messages are both `transmit`. */
export function nameOf(event: Fields | null): string {
  if (event?.type !== 'transmit') return String(event?.type);
  return event.text === undefined ? 'sealed message' : 'envelope';
}

/** The types of events that are in a list more often than in another. */
function without(events: Events, others: Events): string {
  const left = others.map(nameOf);
  const names = events.map(nameOf).filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
  return [...new Set(names)].join(', ');
}

/** What the session gets in this step. */
function inputOf({ steps, step, isHub }: Point): string {
  const current = steps[step]!;
  if (current.do === 'psk') return 'a PSK';
  if (current.do !== 'receive') return `its ${current.do === 'closed' ? 'end' : current.do}`;
  const isOn = steps.slice(0, step).some(({ events }) => has(events, 'ready'));
  const envelope = envelopeIn(current.text ?? textOf(current.bytes));
  if (envelope === undefined) return isOn && current.bytes !== undefined ? 'a sealed message' : 'a message';
  return `${formOf(envelope, isHub)}${isOn ? ' after ready' : ''}`;
}

function formOf({ msg_type: type, payload }: Fields, isHub: boolean): string {
  if (type === 'hello') return 'HELLO';
  if (type !== 'shake' && type !== 'handshake') return 'another envelope';
  const noise = fieldsOf(fieldsOf(payload)?.noise);
  if (noise?.msg === undefined) return 'HANDSHAKE';
  if (!isHub) return 'message 2';
  return noise.pattern === undefined && noise.suite === undefined ? 'message 3' : 'message 1';
}

function envelopeIn(text: unknown): Fields | undefined {
  try {
    const envelope = fieldsOf(JSON.parse(String(text)));
    return typeof envelope?.msg_type === 'string' && fieldsOf(envelope.payload) ? envelope : undefined;
  } catch {
    return undefined;
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function has(events: unknown, type: string): boolean {
  return Array.isArray(events) && events.some((event) => event?.type === type);
}

function textOf(bytes: unknown): string | undefined {
  return typeof bytes === 'string' ? Buffer.from(bytes, 'hex').toString() : undefined;
}
