/**
 * Receives a large message in an engine that has 100 KB of free heap once the library is loaded: for the handshake, the
 * session and each transport message.
 */

import { Peer } from './engines-peer.ts';
import { meteredXs } from './metered-engines.ts';

const KB = 1024;
const FREE = 100_000; // bytes
const SLOTS = 1024; // of 16 bytes, included in FREE: XS keeps objects in slots, and everything else in chunks
const SMALL = 100;

/** What engines-client.js counts: chunk events with their bytes and ends, and all other events by name. */
interface Seen {
  chunks: number;
  bytes: number;
  lasts: number;
  others: string[];
}

/** The ways to receive, each with the events expected for a large message and a small one after it. */
const modes = (large: number): [options: object, what: string, expected: Seen][] => [
  [
    { streams: true, inPlace: true },
    'streamed',
    { chunks: Math.ceil(large / 65000) + 1, bytes: large + SMALL, lasts: 2, others: [] },
  ],
  [
    { maxMessage: 16 * KB, inPlace: true },
    'beyond a cap of 16 KiB',
    { chunks: 0, bytes: 0, lasts: 0, others: [`dropped too-large ${large}`, 'message'] },
  ],
];

/** Reports each mode, and that the limit holds: without `inPlace` the first transport message is too much. */
export async function measureLarge(
  file: string,
  large: number,
  report: (what: string, verdict: string, isGood: boolean) => void,
): Promise<void> {
  for (const [options, what, expected] of modes(large)) {
    const began = performance.now();
    const failure = await receiveLarge(file, large, options, what, expected);
    const seconds = ((performance.now() - began) / 1000).toFixed(0);
    report(what, failure ?? `received in ${seconds} s, and a small message after it`, failure === undefined);
  }
  const [, , expected] = modes(large)[0]!;
  const failure = await receiveLarge(file, large, { streams: true }, 'not in place', expected);
  const isOut = failure === 'transport message 1: XS ran out of memory';
  report(
    'streamed, but not in place',
    isOut ? 'out of memory, as it must' : `THE LIMIT DOES NOT HOLD: ${failure ?? 'it survived'}`,
    isOut,
  );
}

/** Returns the step that failed and why, or `undefined` if all went as expected. */
async function receiveLarge(
  file: string,
  large: number,
  options: object,
  what: string,
  expected: Seen,
): Promise<string | undefined> {
  const engine = await meteredXs();
  const peer = new Peer();
  let step = 'load';
  try {
    await engine.load(file);
    await engine.run(`limitHeap(${FREE}, ${SLOTS})`);
    step = 'handshake';
    for (const statement of Object.values(peer.handshake(options))) await engine.run(statement);
    const messages = [...peer.binary(large), ...peer.json(1, SMALL)];
    for (const [i, message] of messages.entries()) {
      step = `transport message ${i + 1}`;
      await engine.give(message);
      if (process.stderr.isTTY) process.stderr.write(`\r  ${what}: ${i + 1} of ${messages.length} `);
    }
    step = 'at the end';
    await engine.run(`expectSeen(${JSON.stringify(JSON.stringify(expected))})`);
    return undefined;
  } catch (error) {
    return `${step}: ${(error as Error).message}`;
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
    engine.stop();
  }
}
