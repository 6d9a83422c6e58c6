/** Whole sessions, step by step: what the port is given, and the events that it must answer. */
import { bytesToUtf8, equalBytes, hexToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { SUITES, type Suite } from '../../src/noise/patterns.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import type { Fields } from './adapter.ts';
import { firstDifference, show } from './difference.ts';
import { checkFields, checkRefusal, Failed } from './failed.ts';
import type { Ask } from './questions.ts';
import type { Vector } from './vectors.ts';

export async function putSession(test: Vector, ask: Ask): Promise<void> {
  const opener = new Opener(test);
  for (const [index, { events, messages, error, ...request }] of test.steps.entries()) {
    const where = `step ${index + 1}, ${request.do}`;
    const answer = await ask({ op: 'session', ...request });
    if (error !== undefined) {
      checkRefusal(error, answer, where);
    } else if (messages !== undefined) {
      checkFields({ error: answer.error, [where]: answer.messages }, { [where]: messages });
      opener.count += messages.length;
    } else {
      checkEvents(where, events ?? [], answer, opener);
    }
  }
}

function checkEvents(where: string, expected: readonly Fields[], answer: Fields, opener: Opener): void {
  if (answer.error !== undefined || !Array.isArray(answer.events)) {
    throw new Failed({
      where,
      expected: `events: ${typesOf(expected)}`,
      got: show({ ...answer, id: undefined }),
    });
  }
  const got = answer.events as Fields[];
  for (const [index, event] of expected.entries()) {
    const other = got[index] ?? {};
    if (event.type !== other.type) {
      const difference = { where, expected: `events: ${typesOf(expected)}`, got: typesOf(got) };
      const goesOn = got.some(({ type }) => type === 'transmit' || type === 'ready');
      const mistake = event.error === 'hub-key-changed' && goesOn ? PIN_NOT_ENFORCED : undefined;
      throw new Failed(difference, mistake);
    }
    const { type, error, ...fields } = event;
    const place = `${where}, ${type}`;
    for (const [name, value] of Object.entries(fields)) {
      if (isSameForUs(name, value, other[name], opener)) continue;
      const difference = firstDifference(`${place}.${name}`, value, other[name]);
      if (difference !== undefined) throw new Failed(difference, name === 'salt' ? SALT : undefined);
    }
    if (error !== undefined) checkRefusal(String(error), other, `${place}.error`);
    if (type === 'transmit' && fields.bytes !== undefined) opener.count++;
  }
  if (got.length > expected.length) {
    throw new Failed({ where, expected: `events: ${typesOf(expected)}`, got: typesOf(got) });
  }
}

const PIN_NOT_ENFORCED =
  'pin: a hub with another key than the pinned one is not refused; the pin is compared before message 3 leaves';
const SALT = 'psk: the salt is the SHA-256 of the hub’s node id, not of anything of the client’s';

function typesOf(events: readonly Fields[]): string {
  return events.length === 0 ? 'none' : events.map((event) => event?.type).join(', ');
}

/** Whether two values that differ as texts are the same to a reader of them: JSON, sealed or not. */
function isSameForUs(name: string, expected: unknown, got: unknown, opener: Opener): boolean {
  if (typeof expected !== 'string' || typeof got !== 'string') return false;
  if (name === 'text' || name === 'payload') return isSameJson(expected, got);
  return name === 'bytes' && opener.isSameJson(expected, got);
}

function isSameJson(a: string, b: string): boolean {
  try {
    return equalBytes(canonicalJson(parseJson(a)), canonicalJson(parseJson(b)));
  } catch {
    return false; // what is no JSON is compared as text
  }
}

/** Opens what the port sealed, to look at the JSON in it. */
class Opener {
  /** How many messages the port has sealed. */
  count = 0;
  readonly #key: Uint8Array | undefined;
  readonly #suite: Suite | undefined;

  constructor({ steps, keys, suite }: Vector) {
    const key = keys?.[steps[0].role === 'client' ? 'clientToHub' : 'hubToClient'];
    this.#key = key && hexToBytes(key);
    this.#suite = suite;
  }

  isSameJson(expected: string, got: string): boolean {
    const a = this.#open(expected);
    const b = this.#open(got);
    return a !== undefined && b !== undefined && isSameJson(a, b);
  }

  #open(sealed: string): string | undefined {
    const message = hexToBytes(sealed);
    if (message === undefined || this.#key === undefined || this.#suite === undefined) return undefined;
    const name = SUITES[this.#suite];
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
