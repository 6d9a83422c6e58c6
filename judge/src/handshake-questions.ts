/** Handshakes, stepwise and in either role, and the CipherStates that they leave. */
import { bytesToHex, hexToBytes } from '../../src/bytes.ts';
import type { Suite } from '../../src/noise/patterns.ts';
import type { Fields } from './adapter.ts';
import { checkFields, checkRefusal, Declined, Failed } from './failed.ts';
import { handshakeWith, mistakeInMessage, mistakeInSealing, type Transcript } from './mistakes.ts';
import type { Ask } from './questions.ts';
import type { Vector } from './vectors.ts';

type Side = 'init' | 'resp';

/** A transcript, in which the port plays first one side and then the other. */
export async function putHandshake(test: Vector, ask: Ask): Promise<void> {
  await play(test, 'init', ask);
  await play(test, 'resp', ask);
}

async function play(test: Vector, side: Side, ask: Ask): Promise<void> {
  const transcript = test as unknown as Transcript;
  await playMessages(test, side, ask).catch(async (error) => {
    throw await explained(error, test, side, ask);
  });
  const other = side === 'init' ? 'resp' : 'init';
  const end = await ask({ op: 'handshake', do: 'split' });
  checkFields(end, { handshakeHash: test.handshakeHash, remoteStaticKey: test[`${other}StaticPublic`] });
  try {
    const sent = test.transport.filter(({ from }: { from: Side }) => from === side);
    const received = test.transport.filter(({ from }: { from: Side }) => from === other);
    const { sendKey } = handshakeWith({ cause: '' }, side, transcript);
    await putSeal({ ...plaintextsOf(sent), suite: test.suite, counter: '0' }, bytesToHex(sendKey), ask);
    const messages = received.map(({ message }: { message: string }) => message);
    const opened = await ask({ op: 'open', messages });
    checkFields(opened, { results: received.map(({ plaintext }: { plaintext: string }) => ({ plaintext })) });
  } catch (error) {
    if (!(error instanceof Declined)) throw error; // seal and open are operations of their own
  }
}

/** Lets the port write the messages of one side and read those of the other. */
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
      const answer = await ask({ op: 'handshake', do: 'write', payload });
      checkFields(titled(answer, 'message', title), { [title]: message }, () =>
        mistakeInMessage(side, test as unknown as Transcript, index, String(answer.message)),
      );
    } else {
      const answer = await ask({ op: 'handshake', do: 'read', message });
      const what = `payload of ${title}`;
      checkFields(titled(answer, 'payload', what), { [what]: payload });
    }
  }
}

/** Gives a field of an answer the name under which a porter looks for it. */
function titled({ error, ...answer }: Fields, field: string, title: string): Fields {
  return error === undefined ? { [title]: answer[field] } : { error };
}

/**
 * A message that was not understood shows no bytes that could be compared. But the same port in the other role writes
 * some, and mistakes are rarely made on one side alone.
 */
async function explained(error: unknown, test: Vector, side: Side, ask: Ask): Promise<unknown> {
  if (!(error instanceof Failed) || error.mistake !== undefined) return error;
  try {
    await playMessages(test, side === 'init' ? 'resp' : 'init', ask);
  } catch (other) {
    if (other instanceof Failed && other.mistake !== undefined)
      return new Failed(error.difference, other.mistake);
  }
  return error;
}

/** One side of a handshake that must fail at its last step. */
export async function putHandshakeFailure(test: Vector, ask: Ask): Promise<void> {
  const { role, pattern, suite, prologue, psk, staticKey, ephemeralKey, remoteStaticKey, steps } = test;
  const keys = { staticKey, ephemeralKey, ...(remoteStaticKey && { remoteStaticKey }) };
  const start = await ask({ op: 'handshake', do: 'start', role, pattern, suite, prologue, psk, ...keys });
  if (start.error !== undefined && steps.length === 1) return checkRefusal(test.error!, start);
  checkFields(start, {});
  for (const [index, step] of steps.entries()) {
    const where = `step ${index + 1}`;
    const answers = step.do === 'write' ? 'message' : 'payload';
    const { [answers]: expected, ...request } = step;
    const answer = await ask({ op: 'handshake', ...request });
    if (index === steps.length - 1) checkRefusal(test.error!, answer, where);
    else checkFields(titled(answer, answers, where), { [where]: expected });
  }
}

function plaintextsOf(messages: { plaintext: string; message: string }[]): Fields {
  return {
    plaintexts: messages.map(({ plaintext }) => plaintext),
    results: messages.map(({ message }) => ({ message })),
  };
}

/** Seals with a key of its own, or with that of the handshake that was just done, of which `key` tells us. */
export async function putSeal(test: Fields, key: string | undefined, ask: Ask): Promise<void> {
  const { plaintexts, suite, counter } = test as { plaintexts: string[]; suite: Suite; counter: string };
  const withKey = key === undefined ? { suite, key: test.key, counter } : {};
  const answer = await ask({ op: 'seal', ...withKey, plaintexts });
  checkResults(test.results as Fields[], answer, (index, { message }) =>
    mistakeInSealing(
      suite,
      hexToBytes(key ?? String(test.key))!,
      BigInt(counter) + BigInt(index),
      hexToBytes(plaintexts[index]!)!,
      hexToBytes(String(message)) ?? new Uint8Array(0),
    ),
  );
}

export async function putOpen(test: Vector, ask: Ask): Promise<void> {
  const { suite, key, counter, messages } = test;
  checkResults(test.results, await ask({ op: 'open', suite, key, counter, messages }), () => undefined);
}

const GOES_ON = 'a failure is final: after a message that did not open, or seal, nothing else may';

/** Compares what became of each message, where every one was tried. */
function checkResults(
  expected: readonly Fields[],
  { error, results }: Fields,
  mistake: (index: number, result: Fields) => string | undefined,
): void {
  if (error !== undefined || !Array.isArray(results) || results.length !== expected.length) {
    checkFields({ error, results }, { results: expected });
  }
  const firstFailure = expected.findIndex(({ error }) => error !== undefined);
  for (const [index, result] of (results as Fields[]).entries()) {
    const where = `results[${index}]`;
    const { error, ...fields } = expected[index]!;
    if (error !== undefined) {
      checkRefusal(String(error), result ?? {}, where, index > firstFailure ? GOES_ON : undefined);
    } else {
      const field = Object.keys(fields)[0]!;
      checkFields(titled(result ?? {}, field, where), { [where]: fields[field] }, () =>
        mistake(index, result),
      );
    }
  }
}
