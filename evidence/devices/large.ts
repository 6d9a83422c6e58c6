/**
 * Receives a large message in an engine that has 100 KB of free heap once the library is loaded: for the handshake, the
 * session and each transport message.
 */

import { meteredXs } from './metered-engines.ts';
import { Peer } from './peer.ts';

const KB = 1024;
const FREE = 100_000; // bytes
const SLOTS = 1024; // of 16 bytes, included in FREE: XS keeps objects in slots, and everything else in chunks
const SMALL = 100;

const MAX_MESSAGE = 16 * KB;

/** Reports whether it is dropped, and that the limit holds: without `inPlace` the first transport message is too much. */
export async function measureLarge(
  file: string,
  large: number,
  report: (what: string, verdict: string, isGood: boolean) => void,
): Promise<void> {
  const began = performance.now();
  const failure = await receiveLarge(file, large, true);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  report(
    'beyond a cap of 16 KiB',
    failure ?? `dropped in ${seconds} s, and a small message received after it`,
    failure === undefined,
  );
  const elsewhere = await receiveLarge(file, large, false);
  const isOut = elsewhere === 'transport message 1: XS ran out of memory';
  report(
    'the same, but not in place',
    isOut ? 'out of memory, as it must' : `THE LIMIT DOES NOT HOLD: ${elsewhere ?? 'it survived'}`,
    isOut,
  );
}

/** Returns the step that failed and why, or `undefined` if all went as expected. */
async function receiveLarge(file: string, large: number, inPlace: boolean): Promise<string | undefined> {
  const engine = await meteredXs();
  const peer = new Peer();
  let step = 'load';
  try {
    await engine.load(file);
    await engine.run(`limitHeap(${FREE}, ${SLOTS})`);
    step = 'handshake';
    for (const statement of Object.values(peer.handshake({ maxMessage: MAX_MESSAGE, inPlace })))
      await engine.run(statement);
    const messages = [...peer.binary(large), ...peer.json(1, SMALL)];
    for (const [i, message] of messages.entries()) {
      step = `transport message ${i + 1}`;
      await engine.give(message);
      if (process.stderr.isTTY) process.stderr.write(`\r  ${i + 1} of ${messages.length} `);
    }
    step = 'at the end';
    const expected = JSON.stringify([`dropped too-large ${large}`, 'message']);
    await engine.run(`expectSeen(${JSON.stringify(expected)})`);
    return undefined;
  } catch (error) {
    return `${step}: ${(error as Error).message}`;
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    engine.stop();
  }
}
