/** Splitting messages into frames, and reassembling them. */
import { firstDifference } from '../difference.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, checkRefusal, checkResponse, Failure } from '../verdict.ts';

export async function checkSplit({ kind, length, frames, ...test }: Vector, ask: Ask): Promise<void> {
  checkResponse(test, await ask({ op: 'split', kind, length }), { frames });
}

export async function checkReassemble(test: Vector, ask: Ask): Promise<void> {
  const { frames, events, maxMessage } = test;
  const response = await ask({ op: 'reassemble', frames, ...(maxMessage !== undefined && { maxMessage }) });
  const difference = firstDifference('events', events, response.events);
  if (difference !== undefined && (test.error === undefined || response.error !== undefined)) {
    const error = response.error === undefined ? '' : `, then the error ${JSON.stringify(response.error)}`;
    throw new Failure({ ...difference, got: `${difference.got}${error}` });
  }
  if (test.error !== undefined) checkRefusal(test.error!, response);
  else checkResponse(test, response, { events });
}
