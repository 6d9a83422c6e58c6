import * as assert from 'uvu/assert';

/** Asserts that a demo printed these steps in this order, and neither the password nor what only a terminal understands. */
export function assertShows(stdout: string, steps: readonly RegExp[]): void {
  let rest = stdout;
  for (const step of steps) {
    const at = rest.search(step);
    assert.ok(at >= 0, `${step} is missing or out of order`);
    rest = rest.slice(at + 1);
  }
  for (const text of ['correct horse', '\x1b', '\r']) assert.not.match(stdout, text);
}
