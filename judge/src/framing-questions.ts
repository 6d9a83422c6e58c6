/** The cutting of messages into frames, and their putting together again. */
import { MAX_CHUNK, MAX_MESSAGE } from '../../src/limits.ts';
import { MARKER_FINAL } from '../../src/wire/markers.ts';
import type { Fields } from './adapter.ts';
import { firstDifference } from './difference.ts';
import { checkAnswer, checkRefusal, Failed } from './failed.ts';
import type { Ask } from './questions.ts';
import type { Vector } from './vectors.ts';

export async function putSplit(test: Vector, ask: Ask): Promise<void> {
  const { kind, length, frames } = test;
  const answer = await ask({ op: 'split', kind, length });
  checkAnswer(test, answer, { frames }, () => mistakeInFrames(answer.frames));
}

function mistakeInFrames(frames: unknown): string | undefined {
  if (!Array.isArray(frames) || frames.length === 0) return undefined;
  const longest = Math.max(...frames.map(({ length }: Fields) => Number(length)));
  if (frames.length > 1 && longest !== MAX_CHUNK) {
    return `chunk limit: chunks hold ${longest} bytes; they hold ${MAX_CHUNK}, beside the marker`;
  }
  if (frames.length === 1 && longest > MAX_CHUNK) {
    return `chunk limit: ${longest} bytes are sent in one frame; beyond ${MAX_CHUNK} a message is chunked`;
  }
  if (frames.length > 1 && frames.at(-1).marker !== MARKER_FINAL) {
    return `final chunk: the last one has the marker ${frames.at(-1).marker}; it has ${MARKER_FINAL}`;
  }
  return undefined;
}

export async function putReassemble(test: Vector, ask: Ask): Promise<void> {
  const { frames, events } = test;
  const answer = await ask({ op: 'reassemble', frames });
  const mistake = mistakeInReassembly(test, answer);
  const difference = firstDifference('events', events, answer.events);
  if (difference !== undefined && (test.result === 'valid' || answer.error !== undefined)) {
    const refused = answer.error === undefined ? '' : `, then a refusal, ${JSON.stringify(answer.error)}`;
    throw new Failed({ ...difference, got: `${difference.got}${refused}` }, mistake);
  }
  if (test.result === 'invalid') checkRefusal(test.error!, answer, 'error', mistake);
  else checkAnswer(test, answer, { events });
}

function mistakeInReassembly({ events, error }: Vector, answer: Fields): string | undefined {
  if (error === 'message-while-open' && answer.error === undefined) {
    return 'interleaving: a new message is accepted while another is open; that ends the session';
  }
  const got: Fields[] = Array.isArray(answer.events) ? answer.events : [];
  const index = events.findIndex(({ type }: Fields, index: number) => type !== got[index]?.type);
  const expected = events[index];
  if (expected?.length === MAX_MESSAGE) {
    return `cap: a message of exactly 32 MiB, ${MAX_MESSAGE} bytes, passes; it is the next byte that drops it`;
  }
  if (expected?.reason === 'too-large') {
    return `cap: a message of more than 32 MiB is dropped, with all its chunks, and the session goes on`;
  }
  return undefined;
}
