/** Puts every vector to a port, and keeps what came of it. */
import { type Adapter, AdapterError, CannotRun, type Fields } from './adapter.ts';
import type { Difference } from './difference.ts';
import { Declined, Failed } from './failed.ts';
import { OPERATIONS, QUESTIONS } from './questions.ts';
import { readVectorFile, type Vector, vectorFiles } from './vectors.ts';

/** What came of one test. */
export interface Verdict {
  /** The operation, or the part of a live session, that the table counts it under. */
  readonly capability: string;
  /** The file and the tcId, or the name of a live scenario. */
  readonly name: string;
  readonly comment: string;
  readonly result: 'passed' | 'failed' | 'declined';
  readonly milliseconds: number;
  readonly failure?: {
    readonly difference: Difference;
    readonly cause: string;
    /** Whether the cause was found by its effect. If not, it is what the test is about. */
    readonly isFound: boolean;
  };
}

export interface JudgeOptions {
  adapter: Adapter;
  /** Only these operations. */
  only?: readonly string[] | undefined;
  onProgress?: (done: number, total: number, capability: string) => void;
}

export interface Task {
  readonly operation: string;
  readonly type: string;
  readonly file: string;
  readonly test: Vector;
  readonly notes: { readonly [flag: string]: string };
}

/** Every vector that a port can be asked about, in the order in which a porter takes the operations. */
export function tasks(only?: readonly string[]): Task[] {
  const found: Task[] = [];
  for (const file of vectorFiles()) {
    const { notes, testGroups } = readVectorFile(file);
    for (const { type, tests } of testGroups) {
      const question = QUESTIONS[type];
      if (question === undefined) continue; // known answers of primitives, which are nobody's operation
      const { operation } = question;
      if (only === undefined || only.includes(operation)) {
        for (const test of tests) found.push({ operation, type, file, test, notes });
      }
    }
  }
  const place = ({ operation }: Task): number => OPERATIONS.indexOf(operation);
  return found.sort((a, b) => place(a) - place(b));
}

/** @throws CannotRun where the adapter does not start */
export async function judge(options: JudgeOptions): Promise<Verdict[]> {
  const { adapter, only, onProgress } = options;
  const all = tasks(only);
  const verdicts: Verdict[] = [];
  for (const task of all) {
    onProgress?.(verdicts.length, all.length, task.operation);
    verdicts.push(await judgeOne(task, adapter));
  }
  onProgress?.(all.length, all.length, '');
  return verdicts;
}

export async function judgeOne({ type, file, test, notes }: Task, adapter: Adapter): Promise<Verdict> {
  const { operation, put } = QUESTIONS[type]!;
  const start = performance.now();
  const verdict = (result: Verdict['result'], failure?: Verdict['failure']): Verdict => ({
    capability: operation,
    name: `${file} ${test.tcId}`,
    comment: test.comment,
    result,
    milliseconds: Math.round(performance.now() - start),
    ...(failure && { failure }),
  });
  try {
    await put(test, async (request: Fields) => {
      const answer = await adapter.ask(request);
      if (answer.declined === true) throw new Declined();
      return answer;
    });
    return verdict('passed');
  } catch (error) {
    if (error instanceof CannotRun) throw error;
    if (error instanceof Declined) return verdict('declined');
    if (error instanceof AdapterError) {
      const difference = { where: 'adapter', expected: 'an answer', got: error.message };
      const cause = 'the adapter itself, or a crash of the port';
      return verdict('failed', { difference, cause, isFound: true });
    }
    if (!(error instanceof Failed)) throw error;
    const { difference, mistake } = error;
    const cause = mistake ?? notes[test.flags[0]!] ?? test.comment;
    return verdict('failed', { difference, cause, isFound: mistake !== undefined });
  }
}
