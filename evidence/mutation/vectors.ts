/** The vectors as tests, put to the mutated sources, which the adapter of ports/typescript/ imports. */
import assert from 'node:assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { listTasks, runVector } from '../../judge/src/run-vectors.ts';
import { lineOf } from '../../ports/typescript/adapter.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { createAdapterWithAnyCounter } from '../../test/vectors/any-counter.ts';
import { startFile, test } from './uvu.ts';

/** Adds a test for each vector of the wanted files, whose path is `vectors/` and the name of the file. */
export function addVectors(isWanted: (path: string) => boolean): void {
  const throughJson = (value: Fields): Fields => JSON.parse(lineOf(value));
  for (const task of listTasks()) {
    const path = `vectors/${task.file}`;
    if (!isWanted(path)) continue;
    startFile(path);
    test(`${task.test.tcId} ${task.test.comment}`, async () => {
      const respond = createAdapterWithAnyCounter(nodeCrypto);
      const send = async (request: Fields) => throughJson(respond(throughJson({ id: 1, ...request })));
      const { result, failure, defect } = await runVector(task, { send, stop: async () => {} });
      assert.equal(result, 'passed', defect ?? JSON.stringify(failure?.difference));
    });
    test.run();
  }
}
