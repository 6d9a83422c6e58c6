/** Every vector as one line of JSON, for the test runner of a port. */
import { CHECKS } from './checks/checks.ts';
import { readVectorFile, vectorFiles } from './vectors.ts';

/**
 * One line for each test of these operations, or of all files. It has the fields of the test and of its group, the file,
 * and the operation, or null if no operation takes it.
 * @param isSpecOnly - leaves out tests that the protocol leaves open
 */
export function* jsonLines(only: readonly string[] | undefined, isSpecOnly: boolean): Generator<string> {
  for (const file of vectorFiles()) {
    for (const { source, tests, ...group } of readVectorFile(file).testGroups) {
      const operation = CHECKS[group.type]?.operation ?? null;
      if (only !== undefined && (operation === null || !only.includes(operation))) continue;
      for (const test of tests) {
        if (isSpecOnly && test.result === 'acceptable') continue;
        yield JSON.stringify({ file, operation, ...group, ...test });
      }
    }
  }
}
