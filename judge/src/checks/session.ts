/** Whole sessions, step by step: the implementation's inputs, and the events it must return. */
import type { Fields } from '../adapter.ts';
import { show } from '../difference.ts';
import { nameOf, saidOfEvents } from '../mistakes/events.ts';
import {
  bytesToUtf8,
  canonicalJson,
  cipherNameOf,
  equalBytes,
  hexToBytes,
  nodeCrypto,
  parseJson,
  type Suite,
} from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, checkFields, checkRefusal, checkValue, codeOf, Failure, refuses } from '../verdict.ts';
import { withMessage2 } from './message-2.ts';

export async function checkSession(test: Vector, ask: Ask): Promise<void> {
  const opener = new Opener(test);
  let isOver = false; // whether the session has closed as it must
  let { steps } = test;
  for (let index = 0; index < steps.length; index++) {
    const { do: what } = steps[index];
    const where = `step ${index + 1}, ${what}`;
    const { events: _, messages: __, error: ___, ...request } = steps[index];
    const response = await ask({ op: 'session', ...request });
    const isEnded = isOver || steps.slice(0, index).some((step: Fields) => step.do === 'closed');
    if (isEnded && test.isSpecOnly && refuses(response.error)) continue; // it reads nothing any more, and says so
    const message2 = test.isSpecOnly && otherMessage2(steps[index], response);
    if (message2) steps = withMessage2({ ...test, steps }, message2)?.steps ?? steps;
    const { events, messages, error } = steps[index];
    if (error !== undefined) checkRefusal(error, response, where);
    else if (messages !== undefined) {
      checkFields({ error: response.error, [where]: response.messages }, { [where]: messages });
      opener.count += messages.length;
    } else {
      opener.step = index;
      if (isOver && request.do === 'receive') checkSilence(where, response);
      else if (request.do === 'closed') checkEnd(where, events ?? [], response);
      checkEvents(where, events ?? [], response, opener);
      isOver ||= has(events ?? [], 'close');
    }
  }
}

/** The Noise message of a hub in place of the one that is due. */
function otherMessage2({ events = [] }: Fields, response: Fields): string | undefined {
  const [due, got] = [events, response.events].map((list) => {
    const texts = Array.isArray(list) ? list.flatMap((event) => event?.text ?? []) : [];
    const [message] = texts.flatMap((text) => /"msg":\s*"([\da-fA-F]+)"/.exec(text)?.[1] ?? []);
    return message;
  });
  return due === undefined || due === got ? undefined : got;
}

const GOES_ON =
  'a failure is final: after a failure the session still says something; nothing is read any more';

/** After a failure nothing may follow. */
function checkSilence(where: string, response: Fields): void {
  const got = Array.isArray(response.events) ? (response.events as (Fields | null)[]) : [];
  if (got.length === 0 && response.error === undefined) return;
  const said = response.error === undefined ? typesOf(got) : show({ ...response, id: undefined });
  throw new Failure({ where, expected: 'events: none', got: said }, [GOES_ON]);
}

/** What the errors of ends mean: each kind of closing, in the words of sessions.md. */
const KINDS: { readonly [error: string]: string } = {
  ...{ dropped: 'a loss', timeout: 'a timeout', unavailable: 'a hub without room' },
  ...{ refused: 'a refusal', 'access-refused': 'a refusal', 'negotiation-refused': 'a refusal' },
  ...{
    'not-a-hub': 'an answer of something else than a hub',
    'not-reachable': 'a hub that is not reachable',
  },
  ...{ 'certificate-refused': 'a refused certificate', 'broker-refused': 'a refusal by the broker' },
  ...{ 'client-key-refused': 'a refusal', 'kk-refused': 'a refusal', unauthorized: 'a refusal' },
};

/** The end of a connection: `refused` is one of the kinds, and does not stand for the others. */
function checkEnd(where: string, expected: readonly Fields[], response: Fields): void {
  const got = Array.isArray(response.events) ? (response.events as (Fields | null)[]) : [];
  const [right, wrong] = [expected, got].map((events) => events.find((event) => event?.type === 'ended'));
  const [kind, other] = [right, wrong].map((event) => KINDS[String(event?.error)]);
  if (kind === undefined || other === undefined || kind === other) return;
  throw new Failure({
    where: `${where}, ended.error`,
    expected: show(right!.error),
    got: show(wrong!.error),
    says: `an end is taken for ${other}; it is ${kind}`,
  });
}

function checkEvents(where: string, expected: readonly Fields[], response: Fields, opener: Opener): void {
  if (response.error !== undefined || !Array.isArray(response.events)) {
    const got = show({ ...response, id: undefined });
    const isRefusal = refuses(response.error);
    const refused = { where, expected: `events: ${typesOf(expected)}`, got, ...codeOf(response.error) };
    throw new Failure(refused, [], false, isRefusal);
  }
  const got = response.events as (Fields | null)[];
  const difference = {
    where,
    expected: `events: ${typesOf(expected)}`,
    got: typesOf(got),
    ...codeOf(got.find((event) => event?.type === 'close')?.error),
    ...saidOfEvents(opener, expected, got),
  };
  const accepts = has(expected, 'close') && !has(got, 'close');
  const rejects = !has(expected, 'close') && has(got, 'close');
  if (expected.map(nameOf).join() !== got.map(nameOf).join())
    throw new Failure(difference, [], accepts, rejects);
  for (const [index, event] of expected.entries()) {
    const other = got[index]!;
    const { type, error, ...fields } = event;
    for (const [name, value] of Object.entries(fields)) {
      const isVerbatim = type === 'message' && !opener.isSpecOnly;
      if (!isVerbatim && isEquivalent(name, value, other[name], opener)) continue;
      if (type === 'close' && name === 'code' && other[name] === undefined) continue; // adapters may omit it
      if (name === 'bytes') checkSealed(where, String(value), String(other[name]), opener);
      const [right, wrong] =
        name === 'text' && !isVerbatim ? parsed(value, other[name]) : [value, other[name]];
      checkValue(`${where}, ${type}.${name}`, right, wrong);
      checkValue(`${where}, ${type}.${name}`, value, other[name]); // it has extra members
    }
    if (error !== undefined && !opener.otherErrors.includes(String(other.error)))
      checkRefusal(String(error), other, `${where}, ${type}.error`);
    if (type === 'transmit' && fields.bytes !== undefined) opener.count++;
  }
}

function has(events: readonly (Fields | null)[], type: string): boolean {
  return events.some((event) => event?.type === type);
}

/** Compares the contents of two messages whose bytes differ, if both open. */
function checkSealed(where: string, expected: string, got: string, opener: Opener): void {
  const [right, wrong] = [opener.read(expected), opener.read(got)];
  if (right === undefined || wrong === undefined) return;
  checkValue(`${where}, the sealed message`, right, wrong);
  throw new Failure({ where: `${where}, the sealed message`, expected: show(right), got: show(wrong) });
}

/** Two envelopes as JSON, with fields in any order; or unchanged. */
function parsed(right: unknown, wrong: unknown): [unknown, unknown] {
  try {
    return [JSON.parse(String(right)), JSON.parse(String(wrong))];
  } catch {
    return [right, wrong];
  }
}

function typesOf(events: readonly (Fields | null)[]): string {
  return events.length === 0 ? 'none' : events.map((event) => event?.type).join(', ');
}

/** Whether two different strings hold the same JSON, in clear or sealed. */
function isEquivalent(name: string, expected: unknown, got: unknown, opener: Opener): boolean {
  if (typeof expected !== 'string' || typeof got !== 'string') return false;
  if (name === 'text' || name === 'payload') return isSameJson(expected, got);
  return name === 'bytes' && opener.isSameJson(expected, got);
}

function isSameJson(a: string, b: string): boolean {
  try {
    const [right, wrong] = [parseJson(a), parseJson(b)].map((value) => canonicalJson(withNulls(value)));
    return equalBytes(right!, wrong!);
  } catch {
    return false; // strings that are not JSON are compared as strings
  }
}

/** A HANDSHAKE with the four fields that it may lack, since its reader reads none of them (P-22, P-24). */
export function withNulls<Value>(envelope: Value): Value {
  const isHandshake = (envelope as Fields | null)?.msg_type === 'shake';
  const nulls = { node: null, target_site_id: null, target_pubkey: null, source_peer: null };
  return isHandshake ? { ...nulls, ...envelope } : envelope;
}

/** Opens the implementation's sealed messages, to compare the JSON inside. */
class Opener {
  /** How many messages the implementation has sealed. */
  count = 0;
  readonly isHub: boolean;
  /** Codes that are as good as the vector's. */
  readonly otherErrors: readonly string[];
  /** Whether JSON may be delivered in another form than it came. */
  readonly isSpecOnly: boolean;
  /** All steps, and the index of the current one. */
  readonly steps: readonly Fields[];
  step = 0;
  readonly #key: Uint8Array | undefined;
  readonly #suite: Suite | undefined;

  constructor({ steps, keys, suite, isSpecOnly, otherErrors = [] }: Vector) {
    this.isSpecOnly = isSpecOnly === true;
    const key = keys?.[steps[0].role === 'client' ? 'clientToHub' : 'hubToClient'];
    this.#key = key && hexToBytes(key);
    this.#suite = suite;
    this.otherErrors = otherErrors;
    this.isHub = steps[0].role === 'hub';
    this.steps = steps;
  }

  /** The JSON in a sealed message. */
  read(sealed: string): unknown {
    try {
      return JSON.parse(this.#open(sealed) ?? '');
    } catch {
      return undefined;
    }
  }

  isSameJson(expected: string, got: string): boolean {
    const a = this.#open(expected);
    const b = this.#open(got);
    return a !== undefined && b !== undefined && isSameJson(a, b);
  }

  #open(sealed: string): string | undefined {
    const message = hexToBytes(sealed);
    if (message === undefined || this.#key === undefined || this.#suite === undefined) return undefined;
    const name = cipherNameOf(this.#suite);
    const nonce = new Uint8Array(12);
    new DataView(nonce.buffer).setBigUint64(4, BigInt(this.count), name === 'ChaChaPoly');
    try {
      const frame = nodeCrypto.ciphers[name]!(this.#key.slice()).open(nonce, new Uint8Array(0), message);
      return frame?.[0] === 0 ? bytesToUtf8(frame.subarray(1)) : undefined;
    } catch {
      return undefined;
    }
  }
}
