/** Handshakes in either role, message by message, and the resulting CipherStates. */
import type { Fields } from '../adapter.ts';
import type { Side } from '../symmetric-state.ts';
import type { Vector } from '../vectors.ts';
import { type Ask, checkFields, checkRefusal, Declined } from '../verdict.ts';

/** A whole handshake, in which the implementation plays one side and then the other. */
export async function checkHandshake(test: Vector, ask: Ask): Promise<void> {
  const { roles = ['client', 'hub'] } = test;
  if (roles.includes('client')) await playSide(test, 'init', ask);
  if (roles.includes('hub')) await playSide(test, 'resp', ask);
}

async function playSide(test: Vector, side: Side, ask: Ask): Promise<void> {
  await playMessages(test, side, ask);
  const other = side === 'init' ? 'resp' : 'init';
  const end = await ask({ op: 'handshake', do: 'split' });
  const { handshakeHash, [`${other}StaticPublic`]: remoteStaticKey } = test;
  checkFields(end, { handshakeHash, remoteStaticKey });
  try {
    await checkTransport(test, side, ask);
  } catch (error) {
    if (!(error instanceof Declined)) throw error; // seal and open are separate operations
  }
}

/** Transport messages both ways, right after the handshake. */
async function checkTransport(test: Vector, side: Side, ask: Ask): Promise<void> {
  const messages = test.transport as { from: Side; plaintext: string; message: string }[];
  const sent = messages.filter(({ from }) => from === side);
  const received = messages.filter(({ from }) => from !== side);
  const sealed = sent.map(({ message }) => ({ message }));
  const plaintexts = sent.map(({ plaintext }) => plaintext);
  checkResults(sealed, await ask({ op: 'seal', plaintexts }));
  const opened = received.map(({ plaintext }) => ({ plaintext }));
  checkResults(opened, await ask({ op: 'open', messages: received.map(({ message }) => message) }));
}

/** Lets the implementation write the messages of one side and read those of the other. */
async function playMessages(test: Vector, side: Side, ask: Ask): Promise<void> {
  const other = side === 'init' ? 'resp' : 'init';
  const { pattern, suite, prologue, psk } = test;
  const start = await ask({
    op: 'handshake',
    do: 'start',
    role: side === 'init' ? 'initiator' : 'responder',
    pattern,
    suite,
    prologue,
    psk,
    staticKey: test[`${side}Static`],
    ephemeralKey: test[`${side}Ephemeral`],
    ...(pattern === 'KKpsk0' && { remoteStaticKey: test[`${other}StaticPublic`] }),
  });
  checkFields(start, {});
  for (const [index, { payload, message }] of test.messages.entries()) {
    const title = `message ${index + 1}`;
    if ((index % 2 === 0) === (side === 'init')) {
      const response = await ask({ op: 'handshake', do: 'write', payload });
      checkFields(renamed(response, 'message', title), { [title]: message });
    } else {
      const response = await ask({ op: 'handshake', do: 'read', message });
      const what = `payload of ${title}`;
      checkFields(renamed(response, 'payload', what), { [what]: payload });
    }
  }
}

/** The response with one field renamed, to show the reader of the report where it belongs. */
function renamed({ error, ...response }: Fields, field: string, title: string): Fields {
  return error === undefined ? { [title]: response[field] } : { error };
}

/** One side of a handshake that must fail at its last step. */
export async function checkHandshakeFailure(test: Vector, ask: Ask): Promise<void> {
  const { role, pattern, suite, prologue, psk, staticKey, ephemeralKey, remoteStaticKey, steps } = test;
  const keys = { staticKey, ephemeralKey, ...(remoteStaticKey && { remoteStaticKey }) };
  const start = await ask({ op: 'handshake', do: 'start', role, pattern, suite, prologue, psk, ...keys });
  if (start.error !== undefined && steps.length === 1) {
    checkRefusal(test.error!, start);
    return;
  }
  checkFields(start, {});
  for (const [index, step] of steps.entries()) {
    const where = `step ${index + 1}`;
    const result = step.do === 'write' ? 'message' : 'payload';
    const { [result]: expected, error, ...request } = step;
    const response = await ask({ op: 'handshake', ...request });
    if (error !== undefined) checkRefusal(error, response, where);
    else if (index === steps.length - 1) {
      if (!test.otherErrors?.includes(String(response.error))) checkRefusal(test.error!, response, where);
    } else checkFields(renamed(response, result, where), { [where]: expected });
  }
}

export async function checkSeal(test: Vector, ask: Ask): Promise<void> {
  const { suite, key, counter, plaintexts, results } = test;
  checkResults(results, await ask({ op: 'seal', suite, key, counter, plaintexts }));
}

export async function checkOpen(test: Vector, ask: Ask): Promise<void> {
  const { suite, key, counter, messages, results } = test;
  checkResults(results, await ask({ op: 'open', suite, key, counter, messages }));
}

const GOES_ON = [
  'a failure is final: after a message that cannot be decrypted or encrypted, send and accept nothing more',
];

/** Compares the result of each message. Every message is tried, even after a failure. */
function checkResults(expected: readonly Fields[], { error, results }: Fields): void {
  if (error !== undefined || !Array.isArray(results) || results.length !== expected.length) {
    checkFields({ error, results }, { results: expected });
    return;
  }
  const firstFailure = expected.findIndex(({ error }) => error !== undefined);
  for (const [index, result] of (results as (Fields | null)[]).entries()) {
    const where = `results[${index}]`;
    const { error, ...fields } = expected[index]!;
    if (error !== undefined) {
      const goesOn = index > firstFailure && result?.error === undefined;
      checkRefusal(String(error), result ?? {}, where, () => (goesOn ? GOES_ON : []));
    } else {
      const field = Object.keys(fields)[0]!;
      checkFields(renamed(result ?? {}, field, where), { [where]: fields[field] });
    }
  }
}
