/** What a question can end with, other than well. */
import type { Fields } from './adapter.ts';
import { type Difference, firstDifference, show } from './difference.ts';
import type { Vector } from './vectors.ts';

/** The port does not answer what it should. */
export class Failed extends Error {
  readonly difference: Difference;
  /** The mistake behind it, where it is known. */
  readonly mistake: string | undefined;

  constructor(difference: Difference, mistake?: string) {
    super(`${difference.where}: expected ${difference.expected}, got ${difference.got}`);
    this.difference = difference;
    this.mistake = mistake;
  }
}

/** The port does not do this. */
export class Declined extends Error {}

/** Holds an answer to what a test expects: these fields, or a refusal. */
export function checkAnswer(
  test: Pick<Vector, 'result' | 'error'>,
  answer: Fields,
  expected: Fields,
  mistake?: () => string | undefined,
): void {
  if (test.result === 'invalid') checkRefusal(test.error!, answer);
  else checkFields(answer, expected, mistake);
}

export function checkFields(answer: Fields, expected: Fields, mistake?: () => string | undefined): void {
  if (answer.error !== undefined) {
    throw new Failed({
      where: Object.keys(expected).join(', ') || 'answer',
      expected: 'an answer',
      got: `a refusal, ${show(answer.error)}`,
    });
  }
  const difference = firstDifference('', expected, answer);
  if (difference !== undefined) throw new Failed(difference, mistake?.());
}

/** A refusal gives the code, or does not say why. */
export function checkRefusal(
  code: string,
  { id, ...answer }: Fields,
  where = 'error',
  mistake?: string,
): void {
  if (answer.error === code || answer.error === 'refused') return;
  const got = answer.error === undefined ? show(answer) : show(answer.error);
  throw new Failed({ where, expected: `a refusal, ${show(code)}`, got }, mistake);
}
