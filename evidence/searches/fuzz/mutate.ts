/** Changes texts, bytes and JSON values at random, with regard to their structure. */
import type { Random } from '../../../test/world/random.ts';

const TOKENS = [
  '{', '}', '[', ']', '"', ',', ':', 'null', 'true', '1e400', '-0', '1.0', '0x1', '9007199254740993', '\\u0000',
  '\\ud800', '\\', '\ufeff', '\ud83d', '\u{10ffff}', '/*', 'NaN', '  ', '\n', '__proto__', '"":', '{"a":{"a":',
  '#', '+', '/', '$', '%2f', '?authorization=', '://', '@', '\u0000', '\u2028', 'é', '🔑', '0', '-',
]; // biome-ignore format: a list
const KEYS = [
  'node_id',
  'max_protocol_version',
  'noise',
  'patterns',
  'suites',
  'pattern',
  'suite',
  'msg',
  'msg_type',
  'payload',
  'metadata',
  'route',
  'binarize',
  'encodings',
  'session',
  'session_id',
  'site_id',
  'pubkey',
  '__proto__',
  'toString',
  'constructor',
  'length',
  '',
  'access_key',
  'password',
  'mqtt',
  'type',
  'data',
  'context',
  'request_id',
  'utterance',
  'tls',
  'port',
  'host',
  'endpoint',
  'topic_prefix',
  'hub_id',
  'toJSON',
];
const WORDS = [
  'XXpsk2',
  'KKpsk0',
  '25519_ChaChaPoly_SHA256',
  '25519_AESGCM_SHA256',
  'hello',
  'shake',
  'handshake',
  'bus',
  'hub-1',
  'speak',
  'hive.policy.denied',
  'ovos.utterance.handled',
  'complete_intent_failure',
  '',
  ' ',
  'wss://hub',
  'ws://hub',
  'mqtts://broker',
  'http://[::1]:80/x?y#z',
  'hub-1 ',
  '\ud800',
  '\u0000',
  'true',
  '1',
  'default',
  '__proto__',
];

export function anyText(random: Random, limit: number): string {
  let text = '';
  const parts = random.length(limit);
  for (let i = 0; i < parts; i++) {
    const kind = random.below(8);
    if (kind === 0) text += random.pick(WORDS);
    else if (kind < 3) text += random.pick(TOKENS);
    else if (kind === 3) text += String.fromCharCode(random.below(0x10000));
    else text += String.fromCharCode(32 + random.below(95));
  }
  return text;
}

/** A value that JSON can represent, or nearly. */
export function anyJson(random: Random, depth = 3): unknown {
  switch (random.below(depth > 0 ? 11 : 8)) {
    case 0:
      return null;
    case 1:
      return random.oneIn(2);
    case 2:
      return random.pick([0, -0, 1, 3, 1.5, 2 ** 53, -1, 1e300, 65535, 30000, 4294967296]);
    case 3:
      return random.below(100);
    case 4:
      return anyText(random, 8);
    case 5:
    case 6:
      return random.pick(WORDS);
    case 7:
      return Buffer.from(random.bytes(random.length(40))).toString('hex');
    case 8:
      return Array.from({ length: random.below(4) }, () => anyJson(random, depth - 1));
    default: {
      const object: { [key: string]: unknown } = {};
      for (let i = random.below(5); i > 0; i--) put(object, anyKey(random), anyJson(random, depth - 1));
      return object;
    }
  }
}

function anyKey(random: Random): string {
  return random.oneIn(6) ? anyText(random, 4) : random.pick(KEYS);
}

function put(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
}

/** A copy of a value, with one of its parts replaced, removed, repeated, or renamed. */
export function mutatedJson(
  random: Random,
  value: unknown,
  replacement: (random: Random) => unknown = anyJson,
): unknown {
  if (typeof value !== 'object' || value === null || random.oneIn(8)) {
    return random.oneIn(3) && typeof value === 'string' ? mutatedText(random, value) : replacement(random);
  }
  if (Array.isArray(value)) {
    const copy = value.slice();
    const at = random.below(copy.length + 1);
    const act = random.below(4);
    if (act === 0) copy.splice(at, 1);
    else if (act === 1) copy.splice(at, 0, replacement(random));
    else if (act === 2 && copy.length > 0) copy.splice(at, 0, copy[random.below(copy.length)]);
    else if (at < copy.length) copy[at] = mutatedJson(random, copy[at], replacement);
    return copy;
  }
  const copy: { [key: string]: unknown } = {};
  const keys = Object.keys(value);
  const at = random.below(keys.length + 1);
  const act = random.below(4);
  keys.forEach((key, i) => {
    const field = (value as { [key: string]: unknown })[key];
    if (i !== at || act === 1) put(copy, key, field);
    else if (act === 2) put(copy, anyKey(random), field);
    else if (act !== 0) put(copy, key, mutatedJson(random, field, replacement));
  });
  if (act === 1 || at === keys.length) put(copy, anyKey(random), replacement(random));
  return copy;
}

export function mutatedText(random: Random, text: string, other = ''): string {
  const from = random.below(text.length + 1);
  const to = Math.min(text.length, from + random.length(16));
  switch (random.below(7)) {
    case 0:
      return text.slice(0, from);
    case 1:
      return text.slice(0, from) + text.slice(to);
    case 2:
      return text.slice(0, to) + text.slice(from);
    case 3:
      return text.slice(0, from) + random.pick(TOKENS) + text.slice(from);
    case 4:
      return text.slice(0, from) + String.fromCharCode(random.below(0x80)) + text.slice(from + 1);
    case 5:
      return text.slice(0, from) + other.slice(random.below(other.length + 1));
    default:
      return text.slice(0, from) + random.pick(TOKENS) + text.slice(to);
  }
}

export function mutatedBytes(
  random: Random,
  bytes: Uint8Array,
  other: Uint8Array = new Uint8Array(0),
): Uint8Array {
  const at = random.below(bytes.length + 1);
  switch (random.below(6)) {
    case 0:
      return Uint8Array.from(bytes.subarray(0, at));
    case 1:
      return joined(bytes, random.bytes(1 + random.below(4)));
    case 2:
      return joined(bytes.subarray(0, at), other.subarray(Math.min(at, other.length)));
    case 3:
      return Uint8Array.from(bytes).fill(random.oneIn(2) ? 0 : 255, at, at + 32);
    default: {
      const copy = Uint8Array.from(bytes);
      if (at < copy.length) copy[at]! ^= 1 << random.below(8);
      return copy;
    }
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
