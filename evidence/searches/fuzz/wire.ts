/** What an attacker on the path can do to a message on its way. */
import type { Data, Side } from '../../../test/world/line.ts';
import type { Random } from '../../../test/world/random.ts';
import { mutatedBytes, mutatedJson, mutatedText } from './mutate.ts';

/** A message that was put on the wire. */
export interface Item {
  readonly from: Side;
  readonly data: Data;
}

interface Noise {
  [field: string]: unknown;
  msg?: unknown;
}
interface Envelope {
  msg_type: unknown;
  payload: { [field: string]: unknown; noise?: Noise };
}

/** A message in place of another: cut, damaged, spliced, another one that was recorded, or with its envelope changed. */
export function tampered(random: Random, { data }: Item, recorded: readonly Item[]): Data {
  const other = recorded.length > 0 ? random.pick(recorded).data : data;
  switch (random.below(8)) {
    case 0:
      return other;
    case 1:
      return typeof data === 'string' ? Buffer.from(data) : Buffer.from(data).toString('latin1');
    case 2:
      if (typeof data === 'string') return mutatedText(random, data, String(other));
      break;
    default:
      if (typeof data === 'string') return tamperedText(random, data, other);
  }
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  return mutatedBytes(random, bytes, typeof other === 'string' ? Buffer.from(other) : other);
}

function tamperedText(random: Random, text: string, other: Data): string {
  let envelope: Envelope;
  try {
    envelope = JSON.parse(text);
  } catch {
    return mutatedText(random, text);
  }
  const noise = envelope.payload?.noise;
  if (typeof noise !== 'object' || noise === null || random.oneIn(6))
    return JSON.stringify(mutatedJson(random, envelope));
  if (typeof noise.msg === 'string' && !random.oneIn(5))
    noise.msg = tamperedMessage(random, noise.msg, other);
  else envelope.payload.noise = tamperedNoise(random, noise) as Noise;
  return JSON.stringify(envelope);
}

function tamperedMessage(random: Random, hex: string, other: Data): string {
  const message = Buffer.from(hex, 'hex');
  const found = typeof other === 'string' ? /"msg":"([0-9a-f]+)"/.exec(other) : null;
  const donor = found === null ? message : Buffer.from(found[1]!, 'hex');
  if (random.oneIn(16)) return random.pick(['', '0', 'zz', hex.toUpperCase(), `${hex}0`, ` ${hex}`]);
  if (random.oneIn(4)) {
    // Another key or payload in its place: the fields of a handshake message begin at 0, 32 and 80.
    const [from, to] = random.pick([[0, 32], [32, 80], [80, Infinity], [32, Infinity], [0, 80]] as const); // biome-ignore format: pairs
    return Buffer.concat([
      message.subarray(0, from),
      donor.subarray(from, to),
      message.subarray(to),
    ]).toString('hex');
  }
  return Buffer.from(mutatedBytes(random, message, donor)).toString('hex');
}

function tamperedNoise(random: Random, noise: Noise): unknown {
  const { patterns, suites } = noise;
  if (random.oneIn(3)) return mutatedJson(random, noise);
  if (Array.isArray(patterns) && random.oneIn(2)) {
    return { ...noise, patterns: random.pick([['XXpsk2'], ['KKpsk0'], [], ['KKpsk0', 'XXpsk2'], ['NN']]) };
  }
  if (Array.isArray(suites)) {
    const [first, last] = ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'];
    return { ...noise, suites: random.pick([[first], [last], [last, first], []]) };
  }
  const pattern = random.pick(['XXpsk2', 'KKpsk0', 'NN']);
  return random.oneIn(2) ? { ...noise, pattern } : { ...noise, suite: '25519_AESGCM_SHA256' };
}
