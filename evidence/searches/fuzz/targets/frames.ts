/** Frames that a peer may send, compared with a model of the rules. */
import { RemoteError } from '../../../../src/index.ts';
import { Reassembler } from '../../../../src/parts.ts';
import type { Random } from '../../../../test/world/random.ts';
import { breach, read } from '../law.ts';

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
