/** Splitting messages into frames, and reassembling them. */
import type { Fields } from '../adapter.ts';
import { type Difference, firstDifference } from '../difference.ts';
import { bytesToUtf8, hexToBytes, MARKER_FINAL, MARKER_MIDDLE, MAX_CHUNK, MAX_MESSAGE } from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, type Causes, checkRefusal, checkResponse, Failure } from '../verdict.ts';

export async function checkSplit(test: Vector, ask: Ask): Promise<void> {
  const { kind, length, frames } = test;
  const response = await ask({ op: 'split', kind, length });
  checkResponse(test, response, { frames }, () => mistakesInFrames(kind, response.frames, frames));
}

export const KINDS_SWAPPED = 'markers: JSON and binary are swapped; JSON has 0 and 2, binary has 1 and 3';

const firstOf = (kind: unknown, marker: unknown): string =>
  `markers: the first chunk of a ${kind === 'json' ? 'JSON' : 'binary'} message has ${marker}; JSON begins with 2, binary with 3`;

const FIRST_SWAPPED =
  'markers: those of the first chunks of JSON and binary are swapped; JSON begins with 2, binary with 3';

/** Whether passing this test rules out the mistake of this cause. */
export function refutesSplit({ frames }: Vector, cause: string): boolean {
  return cause === KINDS_SWAPPED || (cause === FIRST_SWAPPED && frames.length > 1);
}

/** The markers of the other kind of message; middle and final chunks have the same markers in both. */
const SWAPPED = [1, 0, 3, 2, 4, 5];

function mistakesInFrames(kind: unknown, frames: unknown, expected: readonly Fields[]): Causes {
  if (!Array.isArray(frames) || frames.length === 0) return [];
  const markers = frames.map((frame: Fields | null) => frame?.marker);
  const isSwapped = markers.every((marker, index) => marker === SWAPPED[expected[index]?.marker as number]);
  if (isSwapped && markers.length === expected.length) {
    return frames.length === 1 ? [KINDS_SWAPPED] : [KINDS_SWAPPED, FIRST_SWAPPED, firstOf(kind, markers[0])];
  }
  const whole = expected.length === 1 ? expected[0] : undefined;
  if (
    whole?.length === MAX_CHUNK &&
    frames[0]?.length === MAX_CHUNK &&
    markers[0] === Number(whole.marker) + 2
  ) {
    return [
      `chunk limit: a message of ${MAX_CHUNK} bytes begins with a chunk; up to ${MAX_CHUNK} bytes are one frame`,
    ];
  }
  if (frames.length > 1 && frames.at(-1)?.length === 0) {
    return ['final chunk: an empty one follows; the last bytes of a message go into the final chunk'];
  }
  if (frames.length > 1 && markers.every((marker) => marker === MARKER_FINAL)) {
    return [
      'frames: all have the marker of the last one, as if they shared a buffer; each has its own bytes',
    ];
  }
  if (frames.length > 2 && markers.slice(1, -1).every((marker) => marker === markers[0])) {
    return [
      `markers: middle chunks have the marker of the first one, ${markers[0]}; they have ${MARKER_MIDDLE}`,
    ];
  }
  const longest = frames.reduce(
    (most: number, frame: Fields | null) => Math.max(most, Number(frame?.length)),
    0,
  );
  if (frames.length > 1 && longest !== MAX_CHUNK) {
    return [`chunk limit: chunks hold ${longest} bytes; they hold ${MAX_CHUNK}, not counting the marker`];
  }
  if (frames.length === 1 && longest > MAX_CHUNK) {
    return [
      `chunk limit: ${longest} bytes are sent in one frame; a message of more than ${MAX_CHUNK} bytes is split`,
    ];
  }
  if (frames.length > 1 && frames.at(-1)?.marker !== MARKER_FINAL) {
    return [`final chunk: the last chunk has the marker ${frames.at(-1)?.marker}; it has ${MARKER_FINAL}`];
  }
  return [];
}

export async function checkReassemble(test: Vector, ask: Ask): Promise<void> {
  const { frames, events, maxMessage } = test;
  const response = await ask({ op: 'reassemble', frames, ...(maxMessage !== undefined && { maxMessage }) });
  const causes = mistakesInReassembly(test, response);
  const difference = firstDifference('events', events, response.events);
  if (difference !== undefined && (test.error === undefined || response.error !== undefined)) {
    const error = response.error === undefined ? '' : `, then the error ${JSON.stringify(response.error)}`;
    throw new Failure({ ...difference, got: `${difference.got}${error}` }, causes);
  }
  if (test.error !== undefined) checkRefusal(test.error!, response, 'error', () => causes);
  else checkResponse(test, response, { events });
}

const AT_ONCE =
  'cap: a message is dropped at once, with the first byte too many; it stays open until its final chunk, and its whole length is told';

const ZERO_CAP = 'cap: a limit of 0 counts as none; it lets no byte through';
const LOWER_IGNORED =
  'cap: the lower limit is not applied; what is longer is dropped, as more than 32 MiB are';
const NEXT_DROPPED =
  'cap: after a message that was too long, the next one is dropped, too; each is counted by itself';
const TAIL = 'cap: the end of a message that is too long is delivered as a message; all of it is dropped';
const ONE_MORE = 'cap: a message one byte longer than the limit is delivered; it is dropped';
const LOWER_FORGOTTEN = 'cap: the lower limit is forgotten after the first message; it holds for every one';

/** The causes of a message longer than a lower limit that is delivered. */
function mistakesInLowerCap(maxMessage: number, index: number): Causes {
  if (maxMessage === 0) return [ZERO_CAP, LOWER_FORGOTTEN, LOWER_IGNORED];
  return index > 0 ? [LOWER_FORGOTTEN, LOWER_IGNORED] : [LOWER_IGNORED];
}

const WHOLE_LENGTH = 'cap: the length of a dropped message is too small; it is that of the whole message';

/** What is wrong in telling that a message is too large. */
function mistakesInDropping(
  events: readonly Fields[],
  got: readonly Fields[],
  error: unknown,
  expected: unknown,
): Causes {
  const index = got.findIndex(({ reason }) => reason === 'too-large');
  if (index < 0) return [];
  const [right, { length }] = [events[index], got[index]!];
  if (right === undefined) return index === 0 ? [AT_ONCE] : [];
  const isShort = right.reason === 'too-large' && Number(length) < Number(right.length);
  if (!isShort) return [];
  // An error that is due does not tell whether it comes where it is due.
  return error === undefined ? [WHOLE_LENGTH] : error === expected ? [WHOLE_LENGTH, AT_ONCE] : [AT_ONCE];
}

const DELIVERED = 'UTF-8: a JSON message that is not UTF-8 is delivered; it is dropped';
const CHUNKS_DECODED = 'chunks: each is decoded as UTF-8 by itself; decode a message when all of it is there';
const STAYS_OPEN =
  'chunks: a message that was dropped counts as open, and the next one is refused; it ended with its final chunk';
const TOO_LARGE =
  'cap: a message of more than 32 MiB is dropped with all its chunks, and the session goes on';
const BINARY_DECODED =
  'binary: a message is decoded as text; its bytes are delivered as they come, whatever they are';
const ENDED =
  'UTF-8: a JSON message that is not UTF-8 ends the session, or is lost; report it as dropped, and let the session go on';

function mistakesInReassembly({ events, error, frames, maxMessage }: Vector, response: Fields): Causes {
  const got: Fields[] = Array.isArray(response.events) ? response.events.map((event) => event ?? {}) : [];
  const index = events.findIndex(({ type }: Fields, index: number) => type !== got[index]?.type);
  const expected = events[index];
  if (error === undefined && response.error === 'message-while-open' && got.at(-1)?.type === 'dropped')
    return [STAYS_OPEN];
  const inDropping = mistakesInDropping(events, got, response.error, error);
  if (inDropping.length > 0) return inDropping;
  if (error === 'message-while-open' && response.error === undefined && expected === undefined) {
    return lengthOf(frames.slice(0, -1)) > MAX_MESSAGE
      ? [
          'interleaving: a new message is accepted while another is being dropped; that one stays open until its final chunk',
        ]
      : ['interleaving: a new message is accepted while another is open; that ends the session'];
  }
  const inChunks =
    error === undefined && expected !== undefined ? mistakesInDecoding(expected, frames, got[index]) : [];
  const isRefused = error === undefined && response.error !== undefined && index === got.length;
  const refused = isRefused ? FRAMES.filter(({ has }) => has(frames)).map(({ cause }) => cause) : [];
  if (inChunks.length > 0 && expected.reason !== 'not-utf8') return [...refused, ...inChunks];
  if (isRefused) {
    const reason = expected?.reason;
    if (reason === 'not-utf8') return [ENDED, ...inChunks, ...refused];
    if (isBinaryThatIsNoText(expected, frames)) return [BINARY_DECODED, ...refused];
    if (refused.length > 0) return reason === 'too-large' ? [TOO_LARGE, ...refused] : refused;
  }
  const isNext = expected?.type === 'message' && events[index - 1]?.reason === 'too-large';
  if (isNext && got[index]?.reason === 'too-large') return [NEXT_DROPPED];
  const inMessages = mistakesInMessages(events, got, frames);
  if (inMessages.length > 0) return inMessages;
  if (expected?.reason === 'not-utf8') return got[index]?.type === 'message' ? [DELIVERED] : [ENDED];
  const isTail = expected?.reason === 'too-large' && got[index]?.type === 'message';
  if (isTail && Number(got[index]!.length) < Number(expected.length)) return [TAIL];
  if (maxMessage !== undefined) {
    const isDelivered = expected?.reason === 'too-large' && got[index]?.type === 'message';
    if (!isDelivered) return []; // it does not show the cap of 32 MiB
    return [
      ...(expected.length === maxMessage + 1 ? [ONE_MORE] : []),
      ...mistakesInLowerCap(maxMessage, index),
    ];
  }
  if (got.some(({ type, length }) => type === 'message' && Number(length) > MAX_MESSAGE))
    return [
      ...(expected?.length === MAX_MESSAGE + 1 ? [ONE_MORE] : []),
      'cap: a message of more than 32 MiB is delivered; it never is',
    ];
  if (expected?.length === MAX_MESSAGE) {
    return [`cap: a message of exactly 32 MiB, ${MAX_MESSAGE} bytes, is delivered; one byte more drops it`];
  }
  if (expected?.reason === 'too-large') {
    return [TOO_LARGE];
  }
  return [];
}

/**
 * Whether a failure rules out causes about the cap or UTF-8: a message for which neither matters was refused, too.
 */
export function contradictsReassembly(
  { error, events, maxMessage }: Vector,
  { difference }: { readonly difference: Difference },
  cause: string,
): boolean {
  if (cause === NEXT_DROPPED)
    return events[0]?.type === 'message' && difference.where.startsWith('events[0]');
  if (cause === LOWER_FORGOTTEN) return maxMessage !== undefined && events[0]?.reason === 'too-large';
  if (!/^(?:cap|UTF-8): /.test(cause) || error !== undefined) return false;
  const isOrdinary = events.every(
    ({ type, length }: Fields) => type === 'message' && Number(length) < MAX_MESSAGE / 2,
  );
  return isOrdinary && / the error /.test(difference.got);
}

interface Frame {
  readonly marker?: number;
  /** The first byte is the offset modulo 127. */
  readonly offset?: number;
  readonly length?: number;
  readonly bytes?: string;
}

const markerOf = ({ marker, bytes }: Frame): number => marker ?? Number.parseInt(bytes!.slice(0, 2), 16);
const isChunk = (frame: Frame): boolean => markerOf(frame) > 1;
const isLast = (frame: Frame): boolean => markerOf(frame) === MARKER_FINAL;

/** Frames that a receiver may refuse by mistake, whatever the message. */
const FRAMES: readonly { readonly cause: string; has(frames: readonly Frame[]): boolean }[] = [
  {
    cause: 'frame: an empty chunk is refused; a receiver takes chunks of any length',
    has: (frames) => frames.some((frame) => isChunk(frame) && lengthOf([frame]) === 0),
  },
  {
    cause: `frame: a chunk of less than ${MAX_CHUNK} bytes is refused; a receiver takes chunks of any length`,
    has: (frames) =>
      frames.some((frame) => {
        const length = lengthOf([frame]);
        return isChunk(frame) && !isLast(frame) && length > 0 && length < MAX_CHUNK;
      }),
  },
  {
    cause: `frame: one of more than ${MAX_CHUNK} bytes is refused; a receiver takes all that a transport message can hold`,
    has: (frames) => frames.some((frame) => lengthOf([frame]) > MAX_CHUNK),
  },
];

/** Whether passing this test means accepting the frames that the mistake of this cause would refuse. */
export function refutesReassembly({ error, events, frames, maxMessage }: Vector, cause: string): boolean {
  if (cause === ONE_MORE)
    return events.some(
      ({ reason, length }: Fields) => reason === 'too-large' && length === (maxMessage ?? MAX_MESSAGE) + 1,
    );
  if (cause === LOWER_IGNORED || cause === LOWER_FORGOTTEN) {
    const index = events.findIndex(({ reason }: Fields) => reason === 'too-large');
    return index >= 0 && maxMessage !== undefined && mistakesInLowerCap(maxMessage, index)[0] === cause;
  }
  if (cause === BINARY_DECODED) return isBinaryThatIsNoText(events[0], frames);
  if (cause === CHUNKS_DECODED)
    return (
      events.length === 1 &&
      events[0].kind === 'json' &&
      events[0].type === 'message' &&
      hasPartOfText(frames)
    );
  return error === undefined && FRAMES.some((frame) => frame.cause === cause && frame.has(frames));
}

/** Whether a chunk, given as bytes, is not UTF-8 by itself. */
function hasPartOfText(frames: readonly Frame[]): boolean {
  const payloads = frames.map(({ bytes }) => bytes !== undefined && hexToBytes(bytes.slice(2)));
  return payloads.some((payload) => payload instanceof Uint8Array && bytesToUtf8(payload) === undefined);
}

const isBinaryThatIsNoText = (expected: Fields | undefined, frames: readonly Frame[]): boolean =>
  expected?.type === 'message' && expected.kind === 'binary' && hasPartOfText(frames);

/** A JSON message that does not arrive, and that has a chunk which is not UTF-8 by itself. */
function mistakesInDecoding(expected: Fields, frames: readonly Frame[], got: Fields | undefined): Causes {
  const isLost = expected.kind === 'json' && got?.type !== 'message';
  return isLost && hasPartOfText(frames) ? [CHUNKS_DECODED] : [];
}

const OTHER_KIND =
  'kind: a message is delivered as one of the other kind; the marker of its first chunk decides, 2 for JSON and 3 for binary';
const EARLIER =
  'reassembly: a message begins with the bytes of the one before it; the buffer is empty when a message starts';

const COUNTS_ON =
  'reassembly: the bytes of an earlier message count too, so that a later one is dropped as too large; each is counted from 0';

const AS_TEXT =
  'reassembly: a message ends before its first zero byte (a string of C); all its bytes are delivered';

/** Mistakes in the first wrong message, if all events up to it have the right types. */
function mistakesInMessages(
  events: readonly Fields[],
  got: readonly Fields[],
  frames: readonly Frame[],
): Causes {
  let before = 0;
  for (const [index, { type, kind, length }] of events.entries()) {
    const other = got[index];
    const isTooLong =
      other?.type === 'dropped' && before > 0 && Number(other.length) === before + Number(length);
    if (type === 'message' && isTooLong) return [COUNTS_ON];
    if (type !== 'message' || other?.type !== type) return [];
    if (other.kind !== kind) return other.length === length ? [OTHER_KIND] : [];
    if (index === 0 && other.length === 0 && length !== 0 && frames[0]?.offset === 0) return [AS_TEXT];
    if (other.length !== length)
      return before > 0 && other.length === before + Number(length) ? [EARLIER] : [];
    before += Number(length);
  }
  return [];
}

/** The payload bytes of all frames. */
function lengthOf(frames: readonly { bytes?: string; length?: number }[]): number {
  return frames.reduce((sum, { bytes, length }) => sum + (length ?? bytes!.length / 2 - 1), 0);
}
