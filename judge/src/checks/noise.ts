/** Handshakes in either role, message by message, and the resulting CipherStates. */
import type { Fields } from '../adapter.ts';
import type { Difference } from '../difference.ts';
import {
  ALL_RIGHT,
  causesOnOneSide,
  changesMessages,
  mistakesInHandshakeHash,
  mistakesInMessage,
  mistakesInSealing,
  mistakesInTransport,
  preventsOpening,
  refutesSealing,
  spares,
  type Transcript,
} from '../mistakes/noise.ts';
import type { Side } from '../mistakes/noise-with-mistake.ts';
import { hexToBytes, type Suite } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, type Causes, checkFields, checkRefusal, Declined, Failure } from '../verdict.ts';

/** A whole handshake, in which the implementation plays one side and then the other. */
export async function checkHandshake(test: Vector, ask: Ask): Promise<void> {
  const transcript = test as unknown as Transcript;
  const { roles = ['client', 'hub'] } = test;
  if (roles.includes('client')) {
    await playSide(test, 'init', ask).catch(async (error) => {
      throw await explainTransport(error, test, ask);
    });
  }
  if (!roles.includes('hub')) return;
  await playSide(test, 'resp', ask).catch((error) => {
    if (!(error instanceof Failure)) throw error;
    // A message that could not be read leaves no bytes to compare, but few mistakes are made on one side only.
    const isUnknown = error.causes.length === 0 && !isTransport(error);
    const causes = isUnknown
      ? causesOnOneSide('resp', transcript, indexOf(error), isRefused(error))
      : error.causes;
    throw narrowed(
      error,
      causes.filter((cause) => spares(cause, 'init', transcript)),
    );
  });
}

/**
 * Whether a failure rules out the mistake of this cause: a cause that says that all messages are right does not fit a wrong
 * message.
 */
export function contradictsHandshake(
  test: Vector,
  { difference }: { readonly difference: Difference },
  cause: string,
): boolean {
  if (OF_CODES.includes(cause)) return true; // the right messages are read wrongly, too
  if (/message \d/.test(difference.where)) return cause.endsWith(ALL_RIGHT);
  const isHash = difference.where.startsWith('handshakeHash') && !/^(?:nonce|tag)/.test(cause);
  return isHash && changesMessages(cause, 'init', test as unknown as Transcript); // which came before
}

/** Whether passing this handshake on both sides rules out the mistake. */
export function refutesHandshake(test: Vector, cause: string): boolean {
  // Nonces and tags belong to the cipher, and there are two ciphers; what is done on one side, to the handshake.
  if (/^(?:nonce|tag)/.test(cause) && !cause.includes('(only in messages')) return false;
  const transcript = test as unknown as Transcript;
  return !(['init', 'resp'] as const).every((side) => spares(cause, side, transcript));
}

const isRefused = ({ difference }: Failure): boolean => difference.got.startsWith('the error');

/** The index of the handshake message that failed. */
function indexOf({ difference }: Failure): number {
  return Number(/message (\d)/.exec(difference.where)?.[1] ?? 1) - 1;
}

/** The causes of a failure on one side that do not contradict the success of the other. */
function causesLeftBy(passed: Side, test: Vector, { causes }: Failure): Causes {
  return causes.filter((cause) => spares(cause, passed, test as unknown as Transcript));
}

/** The failure with some of its causes, if any are left. */
function narrowed(failure: Failure, causes: Causes): Failure {
  return causes.length === 0 ? failure : new Failure(failure.difference, causes);
}

async function playSide(test: Vector, side: Side, ask: Ask): Promise<void> {
  const transcript = test as unknown as Transcript;
  await playMessages(test, side, ask).catch(async (error) => {
    throw await explain(error, test, side, ask);
  });
  const other = side === 'init' ? 'resp' : 'init';
  const end = await ask({ op: 'handshake', do: 'split' });
  const { handshakeHash, [`${other}StaticPublic`]: remoteStaticKey } = test;
  checkFields(end, { handshakeHash, remoteStaticKey }, () => {
    if (end.handshakeHash !== handshakeHash) {
      return mistakesInHandshakeHash(side, transcript, handshakeHash, String(end.handshakeHash));
    }
    if (!end.remoteStaticKey) return [NO_KEY];
    const isOwn = end.remoteStaticKey === test[`${side}StaticPublic`];
    const isEphemeral = test.messages.some(({ message }: Fields) =>
      String(message).startsWith(String(end.remoteStaticKey)),
    );
    return [isOwn ? OWN_KEY : isEphemeral ? EPHEMERAL_KEY : OTHER_KEY];
  });
  try {
    await checkTransport(test, side, ask);
  } catch (error) {
    if (!(error instanceof Declined)) throw error; // seal and open are separate operations
  }
}

const EPHEMERAL_KEY = 'remote static key: it is an ephemeral key; the other side’s static key is due';
const NO_KEY =
  'remote static key: it is missing; it is the key that the other side has sent, or that is pinned';
const OTHER_KEY =
  'remote static key: it is another key than the one that the other side has sent or that is pinned';
const OWN_KEY = 'remote static key: it is one’s own; the other side’s is due';

/** Transport messages both ways, right after the handshake. */
async function checkTransport(test: Vector, side: Side, ask: Ask): Promise<void> {
  const transcript = test as unknown as Transcript;
  const messages = test.transport as { from: Side; plaintext: string; message: string }[];
  const sent = messages.filter(({ from }) => from === side);
  const received = messages.filter(({ from }) => from !== side);
  const plaintexts = sent.map(({ plaintext }) => plaintext);
  const sealed = sent.map(({ message }) => ({ message }));
  checkResults(sealed, await ask({ op: 'seal', plaintexts }), (index, { message }) =>
    mistakesInTransport(side, transcript, index, toBytes(plaintexts[index]), toBytes(message)),
  );
  try {
    await checkOpening(received, ask);
  } catch (error) {
    if (!(error instanceof Failure) || sent.length === 0) throw error;
    throw narrowed(error, await mistakesInCounters(test, side, received, ask));
  }
}

interface Sealed {
  readonly plaintext: string;
  readonly message: string;
}

async function checkOpening(received: readonly Sealed[], ask: Ask): Promise<void> {
  const opened = received.map(({ plaintext }) => ({ plaintext }));
  checkResults(opened, await ask({ op: 'open', messages: received.map(({ message }) => message) }));
}

const ONE_COUNTER = [
  'nonce: one counter serves both directions; each direction has its own, from 0 (Noise spec, section 5.2)',
];

/** The cause if the same messages open where nothing was sealed before. */
async function mistakesInCounters(
  test: Vector,
  side: Side,
  received: readonly Sealed[],
  ask: Ask,
): Promise<Causes> {
  await playMessages(test, side, ask);
  await ask({ op: 'handshake', do: 'split' });
  return checkOpening(received, ask).then(
    () => ONE_COUNTER,
    () => [],
  );
}

/** Lets the implementation write the messages of one side and read those of the other. */
async function playMessages(test: Vector, side: Side, ask: Ask): Promise<void> {
  const other = side === 'init' ? 'resp' : 'init';
  const { pattern, suite, prologue, psk } = test;
  const start = await ask({
    op: 'handshake',
    do: 'start',
    role: side === 'init' ? 'initiator' : 'responder',
    pattern,
    suite,
    prologue,
    psk,
    staticKey: test[`${side}Static`],
    ephemeralKey: test[`${side}Ephemeral`],
    ...(pattern === 'KKpsk0' && { remoteStaticKey: test[`${other}StaticPublic`] }),
  });
  checkFields(start, {});
  for (const [index, { payload, message }] of test.messages.entries()) {
    const title = `message ${index + 1}`;
    if ((index % 2 === 0) === (side === 'init')) {
      const response = await ask({ op: 'handshake', do: 'write', payload });
      checkFields(renamed(response, 'message', title), { [title]: message }, () =>
        mistakesInMessage(side, test as unknown as Transcript, index, String(response.message)),
      );
    } else {
      const response = await ask({ op: 'handshake', do: 'read', message });
      const what = `payload of ${title}`;
      checkFields(renamed(response, 'payload', what), { [what]: payload });
    }
  }
}

/** The response with one field renamed, to show the reader of the report where it belongs. */
function renamed({ error, ...response }: Fields, field: string, title: string): Fields {
  return error === undefined ? { [title]: response[field] } : { error };
}

/** Whether it failed after the handshake. */
function isTransport({ difference }: Failure): boolean {
  return difference.where.startsWith('results');
}

/**
 * The initiator's sealed message may fit several mistakes, and a message that does not open fits none. But the
 * responder seals too.
 */
async function explainTransport(error: unknown, test: Vector, ask: Ask): Promise<unknown> {
  if (!(error instanceof Failure) || error.causes.length === 1 || !isTransport(error)) return error;
  const failure = await playSide(test, 'resp', ask).catch((other) => other);
  if (!(failure instanceof Failure)) return narrowed(error, causesLeftBy('resp', test, error));
  const { causes } = error;
  const isLeft = (cause: string): boolean =>
    causes.length === 0
      ? preventsOpening(cause, 'init', test as unknown as Transcript)
      : causes.includes(cause);
  return narrowed(error, failure.causes.filter(isLeft));
}

/**
 * A message that could not be read leaves no bytes to compare, and others fit several mistakes. But the implementation
 * writes in the other role too, and mistakes are rarely made on one side only.
 */
async function explain(error: unknown, test: Vector, side: Side, ask: Ask): Promise<unknown> {
  if (!(error instanceof Failure) || error.causes.length === 1) return error;
  const other = side === 'init' ? 'resp' : 'init';
  try {
    await playMessages(test, other, ask);
  } catch (failure) {
    if (!(failure instanceof Failure)) return error;
    const { causes } = error;
    return narrowed(
      error,
      failure.causes.filter((cause) => causes.length === 0 || causes.includes(cause)),
    );
  }
  // The implementation gets only reading wrong, on this side alone.
  const isReading =
    error.causes.length === 0 && !isTransport(error) && /^payload of message/.test(error.difference.where);
  if (isReading)
    return narrowed(
      error,
      causesOnOneSide(side, test as unknown as Transcript, indexOf(error), isRefused(error)),
    );
  return narrowed(error, causesLeftBy(other, test, error));
}

const LOW_ORDER = [
  'low-order key: it is accepted; a shared secret of 32 zeros ends the handshake (RFC 7748, section 6.1), whichever key led to it',
];

const HANDSHAKE_GOES_ON = [
  'handshake: it goes on after a message that did not open; a failure ends it, and a new attempt takes a new one (Noise spec, section 5.3)',
];

const TOP_BIT =
  'keys: the unused top bit of a public key is cleared before the key is hashed; hash keys as they came (RFC 7748 ignores it only in X25519)';

/**
 * A message opened although its ephemeral key has another top bit. If it opens with another lowest bit, too, the key is not
 * bound to the message at all, for some other reason.
 */
async function mistakesInTopBit({ flags }: Vector, message: unknown, isOpened: IsOpened): Promise<Causes> {
  if (!flags.includes('FlippedBit') || typeof message !== 'string') return [];
  const last = Number.parseInt(message.slice(62, 64), 16);
  if (last < 0x80) return [];
  const first = Number.parseInt(message.slice(0, 2), 16);
  const other = hex(first ^ 1) + message.slice(2, 62) + hex(last ^ 0x80) + message.slice(64);
  return (await isOpened(other)) ? [] : [TOP_BIT];
}

/**
 * A message that opened although it must not. If it opens with another tag, too, no tag is checked. What takes the tag for a part
 * of the payload decrypts nothing.
 */
async function mistakesInOpening(
  test: Vector,
  message: unknown,
  payload: unknown,
  isOpened: IsOpened,
): Promise<Causes> {
  const isOfTag = test.flags.some((flag: string) => OF_TAGS.includes(flag));
  if (!isOfTag || typeof message !== 'string' || String(payload).endsWith(message.slice(-32))) return [];
  const last = Number.parseInt(message.slice(-2), 16);
  const isUnchecked = await isOpened(message.slice(0, -2) + hex(last ^ 1));
  return isUnchecked ? [TAG_UNCHECKED] : mistakesInTopBit(test, message, isOpened);
}

/** What nothing but a tag refuses. */
const OF_TAGS: readonly string[] = [
  ...[
    'FlippedBit',
    'WrongKey',
    'WrongPsk',
    'WrongPrologue',
    'WrongSuite',
    'WrongPinnedKey',
    'WrongStaticKey',
  ],
  ...['ReplayedMessage', 'SwappedRole'],
];
const TAG_UNCHECKED =
  'tag: a message that does not authenticate is taken; check the result of decryption, and use nothing of a message whose tag is wrong';

type IsOpened = (message: string) => Promise<boolean>;

function hex(byte: number): string {
  return byte.toString(16).padStart(2, '0');
}

/** One side of a handshake that must fail at its last step. */
export async function checkHandshakeFailure(test: Vector, ask: Ask): Promise<void> {
  const { role, pattern, suite, prologue, psk, staticKey, ephemeralKey, remoteStaticKey, steps } = test;
  const keys = { staticKey, ephemeralKey, ...(remoteStaticKey && { remoteStaticKey }) };
  const first = { op: 'handshake', do: 'start', role, pattern, suite, prologue, psk, ...keys };
  const start = await ask(first);
  if (start.error !== undefined && steps.length === 1) {
    checkRefusal(test.error!, start);
    return;
  }
  checkFields(start, {});
  for (const [index, step] of steps.entries()) {
    const where = `step ${index + 1}`;
    const result = step.do === 'write' ? 'message' : 'payload';
    const { [result]: expected, error, ...request } = step;
    const response = await ask({ op: 'handshake', ...request });
    if (error !== undefined) checkRefusal(error, response, where);
    else if (index === steps.length - 1) {
      const isOpened = async (message: string): Promise<boolean> => {
        await ask(first);
        for (const { do: what, payload, message } of steps.slice(0, index))
          await ask({ op: 'handshake', do: what, ...(what === 'write' ? { payload } : { message }) });
        return (await ask({ op: 'handshake', ...request, message })).error === undefined;
      };
      const causes =
        response.error !== undefined
          ? mistakesInCode(test, response.error)
          : test.error === 'low-order-key'
            ? LOW_ORDER
            : steps[index - 1]?.error !== undefined
              ? HANDSHAKE_GOES_ON
              : await mistakesInOpening(test, step.message, response.payload, isOpened);
      if (!test.otherErrors?.includes(String(response.error)))
        checkRefusal(test.error!, response, where, () => causes);
    } else checkFields(renamed(response, result, where), { [where]: expected });
  }
}

const NO_STATIC_KEY =
  'KKpsk0: a message that does not open is told as its static key; both keys are known before, and messages have payloads alone';
const STATIC_KEY_BLAMED =
  'handshake: a payload that does not open is told as the static key, although that has opened; each sealed part has a tag and a code of its own';
const LOW_ORDER_BLAMED =
  'low-order key: it is told as a static key that does not open; the key is refused before anything is opened with it';
const SHORT_OPENED =
  'lengths: a handshake message is opened although it is shorter than its parts; each sealed part has a tag of 16 bytes, an empty payload too';
const SHORT_1_OPENED =
  'lengths: message 1 of XXpsk2 is read without a tag, as in XX; with a psk its payload is sealed, and it has 48 bytes or more';

/** Causes of a wrong code alone. */
const OF_CODES: readonly string[] = [
  NO_STATIC_KEY,
  STATIC_KEY_BLAMED,
  LOW_ORDER_BLAMED,
  SHORT_OPENED,
  SHORT_1_OPENED,
];

/** What the wrong code for the last message says. */
function mistakesInCode(test: Vector, got: unknown): Causes {
  const isOfStatic = test.error === 'payload-not-authentic' && got === 'static-key-not-authentic';
  if (isOfStatic) return test.pattern === 'KKpsk0' ? [NO_STATIC_KEY, STATIC_KEY_BLAMED] : [STATIC_KEY_BLAMED];
  if (test.error === 'low-order-key' && got === 'static-key-not-authentic') return [LOW_ORDER_BLAMED];
  if (test.error !== 'message-too-short' || !OF_OPENING.includes(got)) return [];
  return isOfMessage1(test) ? [SHORT_1_OPENED, SHORT_OPENED] : [SHORT_OPENED];
}

const isOfMessage1 = ({ pattern, role, steps }: Vector): boolean =>
  pattern === 'XXpsk2' && role === 'responder' && (steps.length === 1 || steps[0].error !== undefined);

/** Whether the right code for a message rules out the cause. */
export function refutesCode(test: Vector, cause: string): boolean {
  if (test.error === 'message-too-short') return cause === SHORT_OPENED && !isOfMessage1(test);
  const hasStatic = test.pattern === 'XXpsk2' && !isOfMessage1(test);
  return cause === STATIC_KEY_BLAMED && test.error === 'payload-not-authentic' && hasStatic;
}

const OF_OPENING: readonly unknown[] = ['static-key-not-authentic', 'payload-not-authentic', 'low-order-key'];
export async function checkSeal(test: Vector, ask: Ask): Promise<void> {
  const { suite, key, counter, plaintexts, results } = test;
  const response = await ask({ op: 'seal', suite, key, counter, plaintexts });
  const mistakesIn = (index: number, { error, message }: Fields): Causes =>
    error !== undefined
      ? endsEarly(BigInt(counter) + BigInt(index))
      : mistakesInSealing(
          suite as Suite,
          toBytes(key),
          BigInt(counter),
          index,
          toBytes(plaintexts[index]),
          toBytes(message),
        );
  checkResults(results, response, mistakesIn, [GOES_PAST]);
}

/** Whether passing this test rules out the mistake. */
export function refutesSeal({ counter, results }: Vector, cause: string): boolean {
  const sealed = results.filter(({ error }: Fields) => error === undefined).length;
  return refutesSealing(BigInt(counter), sealed, cause);
}

/** Whether failing this test in another way rules out the mistake: the last four bytes are a counter in one suite alone. */
export function contradictsSeal(
  _test: Vector,
  { causes }: { readonly causes: Causes },
  cause: string,
): boolean {
  return cause.includes('its last four bytes') && causes.length > 0 && !causes.includes(cause);
}

const ENDS_EARLY = 'nonce: the counter ends too early; the last one is 2^64 - 2';

const GOES_PAST =
  'nonce: a message goes under a counter after 2^64 - 2; that is the last one (2^64 - 1 is reserved)';

/** The cause if nothing is sealed under this counter. */
function endsEarly(counter: bigint): Causes {
  return counter > 0x7fffn ? [ENDS_EARLY] : []; // the least that a counter of some type could hold
}

export async function checkOpen(test: Vector, ask: Ask): Promise<void> {
  const { suite, key, counter, messages, results, flags } = test;
  const isOfTag = flags.some((flag: string) => OF_TAGS.includes(flag));
  const isOfCounter = flags.includes('NonceExhausted');
  const response = await ask({ op: 'open', suite, key, counter, messages });
  checkResults(results, response, undefined, isOfTag ? [TAG_UNCHECKED] : isOfCounter ? [GOES_PAST] : []);
}

function toBytes(hex: unknown): Uint8Array {
  return hexToBytes(String(hex)) ?? new Uint8Array(0);
}

const GOES_ON = [
  'a failure is final: after a message that cannot be decrypted or encrypted, send and accept nothing more',
];
const OTHER_CODE = [
  'a failure is final: the code of the first failure is repeated for every later message (a choice)',
];

const TOO_LONG_TAKEN =
  'limit: a plaintext of more than 65519 bytes is taken; with its tag the message has more than 65535';
const TOO_LONG_REFUSED =
  'limit: a plaintext of 65519 bytes or fewer is refused as too long; with its tag the message has 65535, the most';

/** Compares the result of each message. Every message is tried, even after a failure. */
function checkResults(
  expected: readonly Fields[],
  { error, results }: Fields,
  findCauses: (index: number, result: Fields) => Causes = () => [],
  /** The causes of a message that opens where the first failure is due. */
  ofOpening: Causes = [],
): void {
  if (error !== undefined || !Array.isArray(results) || results.length !== expected.length) {
    checkFields({ error, results }, { results: expected });
    return;
  }
  const firstFailure = expected.findIndex(({ error }) => error !== undefined);
  for (const [index, result] of (results as (Fields | null)[]).entries()) {
    const where = `results[${index}]`;
    const { error, ...fields } = expected[index]!;
    if (error !== undefined) {
      const isTaken = result?.error === undefined;
      const ofFirst = !isTaken ? [] : error === 'message-too-long' ? [TOO_LONG_TAKEN] : ofOpening;
      const ofLater = isTaken ? GOES_ON : OTHER_CODE;
      checkRefusal(String(error), result ?? {}, where, () => (index > firstFailure ? ofLater : ofFirst));
    } else {
      const field = Object.keys(fields)[0]!;
      checkFields(renamed(result ?? {}, field, where), { [where]: fields[field] }, () =>
        result?.error === 'message-too-long' ? [TOO_LONG_REFUSED] : findCauses(index, result ?? {}),
      );
    }
  }
}
