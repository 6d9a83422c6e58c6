/** Texts and frames that a peer may send: JSON compared with the engine's own, and frames with a model of the rules. */
import {
  canonicalJson,
  type Json,
  JsonNumber,
  LocalError,
  parseJson,
  RemoteError,
} from '../../../../src/index.ts';
import { Reassembler, splitMessage } from '../../../../src/parts.ts';
import { stringifyJson } from '../../../../src/wire/write-json.ts';
import { withoutEngine } from '../../../../test/world/both-ways.ts';
import type { Random } from '../../../../test/world/random.ts';
import { breach, read, tally } from '../law.ts';
import { anyJson, anyText, mutatedBytes, mutatedText } from '../mutate.ts';

/** What a text is mixed with. It depends on no other case, so that a case can be run again. */
const SEED = '{"a":[1,2.50,"x"]}';

export function texts(random: Random): void {
  const isSeed = random.oneIn(2);
  const seed = isSeed ? JSON.stringify(anyJson(random)) : SEED;
  let text = seed;
  for (let i = random.below(4); i > 0; i--) text = mutatedText(random, text, seed);
  if (random.oneIn(16)) text = anyText(random, 30);
  compare(text);
  if (random.oneIn(4)) readBytes(random, text);
}

/** What parseJson reads is what JSON.parse reads. It refuses more: equal keys, lone surrogates, too much depth. */
function compare(text: string): void {
  const { value, error } = read('parseJson', () => parseJson(text)) as { value?: Json; error?: Error };
  const strict = read('parseJson', () => withoutEngine(() => parseJson(text))) as {
    value?: Json;
    error?: Error;
  };
  if (String(error) !== String(strict.error)) breach('the two readers have different errors', error);
  let expected: unknown;
  try {
    expected = JSON.parse(text);
  } catch {
    if (error === undefined) breach('parseJson reads what is no JSON');
    if (!(error instanceof RemoteError)) breach('parseJson takes a bad text for misuse', error);
    return;
  }
  if (error !== undefined) {
    const { code } = error as RemoteError;
    if (!['duplicate-key', 'lone-surrogate', 'json-depth'].includes(code))
      breach(`parseJson refuses JSON: ${code}`, error);
    return;
  }
  if (!isSame(value as Json, expected)) breach('parseJson reads another value than JSON.parse');
  if (!isLike(value as Json, strict.value as Json)) breach('the two readers differ');
  const write = (): string => {
    try {
      return stringifyJson(expected as Json);
    } catch (problem) {
      return String(problem);
    }
  };
  if (write() !== withoutEngine(write)) breach('the two writers differ');
  tally.inputs++;
  let canonical: Uint8Array;
  try {
    canonical = canonicalJson(value as Json);
  } catch (problem) {
    breach('canonicalJson refuses what parseJson returned', problem);
  }
  const again = canonicalJson(parseJson(canonical));
  if (Buffer.compare(canonical, again) !== 0)
    breach('canonical JSON is not the same when it is read and written');
}

/** Whether a value is the same as the engine's, where a JsonNumber stands for its token. */
function isSame(value: Json, expected: unknown): boolean {
  if (value instanceof JsonNumber) return Object.is(Number(value.token), expected);
  if (typeof value !== 'object' || value === null) return Object.is(value, expected);
  if (typeof expected !== 'object' || expected === null || Array.isArray(value) !== Array.isArray(expected))
    return false;
  const keys = Object.keys(value);
  return (
    keys.length === Object.keys(expected).length &&
    keys.every(
      (key) =>
        Object.prototype.hasOwnProperty.call(expected, key) &&
        isSame((value as { [key: string]: Json })[key]!, (expected as { [key: string]: unknown })[key]),
    )
  );
}

/** Whether two values have the same tokens and types, and their keys in the same order. */
function isLike(a: Json, b: Json): boolean {
  if (a instanceof JsonNumber) return b instanceof JsonNumber && a.token === b.token;
  if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) return Object.is(a, b);
  const [names, others] = [Object.keys(a), Object.keys(b)];
  const fieldOf = (of: object, name: string): Json => (of as { [name: string]: Json })[name]!;
  return (
    Array.isArray(a) === Array.isArray(b) &&
    names.length === others.length &&
    names.every((name, i) => name === others[i] && isLike(fieldOf(a, name), fieldOf(b, name)))
  );
}

/** As bytes, a text is read to the same value, or to an error. */
function readBytes(random: Random, text: string): void {
  let bytes: Uint8Array = Buffer.from(text);
  const isWhole = random.oneIn(2);
  if (!isWhole) bytes = mutatedBytes(random, bytes, Buffer.from(SEED));
  const outcome = read('parseJson', () => parseJson(bytes));
  if (outcome.error instanceof LocalError) breach('parseJson takes bad bytes for misuse', outcome.error);
  if (!isWhole || text !== Buffer.from(text).toString()) return;
  const asText = read('parseJson', () => parseJson(text));
  if (asText.error?.code !== outcome.error?.code) breach('parseJson reads bytes and text differently');
}

/** Frames of two messages, some of them spoiled, and what must come of them. */
export function frames(random: Random): void {
  const maxMessage = random.pick([0, 1, 5, 40, 70_000, 33554432]);
  const reassembler = new Reassembler({ maxMessage });
  let failure: RemoteError | undefined;
  let open: { kind: 'json' | 'binary'; length: number } | undefined;
  for (let i = random.below(12); i > 0; i--) {
    const frame = random.oneIn(12) ? random.bytes(random.below(3)) : frameOf(random);
    const outcome = read('push', () => reassembler.push(frame));
    if (outcome.error !== undefined) {
      if (!(outcome.error instanceof RemoteError))
        breach('push() takes a bad frame for misuse', outcome.error);
      if (failure !== undefined && outcome.error !== failure)
        breach('push() throws another error after the first');
      failure = outcome.error;
      continue;
    }
    if (failure !== undefined) breach('push() goes on after a failure');
    const marker = frame[0]!;
    const isChunk = marker === 4 || marker === 5;
    const isFirst = marker === 2 || marker === 3;
    if (marker > 5 || frame.length === 0 || isChunk !== (open !== undefined))
      breach(`push() accepts the marker ${marker}`);
    if (isFirst) open = { kind: marker === 2 ? 'json' : 'binary', length: 0 };
    const message = open ?? { kind: marker === 0 ? ('json' as const) : ('binary' as const), length: 0 };
    message.length += frame.length - 1;
    const event = outcome.value;
    const isLast = !isFirst && marker !== 4;
    if (isLast) open = undefined;
    if (event === undefined) {
      if (isLast) breach('the last frame of a message yields nothing');
      continue;
    }
    if (event.kind !== message.kind) breach('a message of another kind');
    if (event.type === 'dropped' && event.bytes !== message.length) breach('a drop of another length');
    if (event.type === 'dropped' && event.reason === 'too-large' && message.length <= maxMessage)
      breach('a drop without reason');
    if (event.type === 'message' && message.length > maxMessage) breach('a message that is too long');
    if (event.type === 'message' && event.kind === 'binary' && event.bytes.length !== message.length)
      breach('a message of another length');
    if (!isLast) breach('a message before its last frame');
  }
  reassembler.destroy();
}

function frameOf(random: Random): Uint8Array {
  const bytes = random.bytes(1 + random.length(random.oneIn(32) ? 65_000 : 50));
  bytes[0] = random.oneIn(16) ? random.below(8) : random.pick([0, 1, 2, 3, 4, 4, 5, 5]);
  return bytes;
}

/** A message that is split and reassembled is the same. */
export function messages(random: Random): void {
  const length = random.oneIn(200) ? random.length(200_000) : random.length(3_000);
  const bytes = random.bytes(length);
  tally.inputs++;
  const reassembler = new Reassembler();
  const events = splitMessage('binary', bytes).map((frame) => reassembler.push(frame));
  const event = events.pop();
  if (event?.type !== 'message' || event.kind !== 'binary' || Buffer.compare(event.bytes, bytes) !== 0)
    breach('a message changed');
  if (events.some((event) => event !== undefined)) breach('a message arrived before its end');
}
