/** What is asked of a port for each type of vector, and how its answer is judged. */
import { utf8ToBytes } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { argon2id } from '../../src/noise/argon2id.ts';
import type { Fields } from './adapter.ts';
import { firstDifference } from './difference.ts';
import { checkAnswer, Failed } from './failed.ts';
import { putReassemble, putSplit } from './framing-questions.ts';
import { putHandshake, putHandshakeFailure, putOpen, putSeal } from './handshake-questions.ts';
import { mistakeInCanonicalJson, mistakeInPrologue } from './json-mistakes.ts';
import { putSession } from './session-questions.ts';
import type { Vector } from './vectors.ts';

/** Asks the port; throws Declined where it declines. */
export type Ask = (request: Fields) => Promise<Fields>;

export interface Question {
  /** The operation that the table names. */
  readonly operation: string;
  /** @throws Failed, Declined */
  put(test: Vector, ask: Ask): Promise<void>;
}

/** By the type of the group. */
export const QUESTIONS: { readonly [type: string]: Question } = {
  CanonicalJson: { operation: 'canonical-json', put: putCanonicalJson },
  Prologue: { operation: 'prologue', put: putPrologue },
  SelectNoise: simple(
    'select',
    ['patterns', 'suites', 'own', 'pinned'],
    ['pattern', 'suite', 'protocolName'],
  ),
  Psk: { operation: 'psk', put: putPsk },
  Handshake: { operation: 'handshake', put: putHandshake },
  HandshakeFailure: { operation: 'handshake', put: putHandshakeFailure },
  Seal: { operation: 'seal', put: (test, ask) => putSeal(test, undefined, ask) },
  Open: { operation: 'open', put: putOpen },
  Split: { operation: 'split', put: putSplit },
  Reassemble: { operation: 'reassemble', put: putReassemble },
  Session: { operation: 'session', put: putSession },
  Identity: { operation: 'identity', put: putIdentity },
  SelectEndpoint: simple('endpoint', ['text', 'supported', 'requested'], ['protocol', 'url']),
  Topics: simple('topics', ['mqtt'], ['publish', 'subscribe', 'status']),
  BrokerEndpoint: simple('broker', ['mqtt'], ['url', 'host', 'port', 'tls']),
  ClientId: simple('client-id', ['name', 'accessKey'], ['clientId']),
  Request: simple('request', ['builder', 'arguments'], ['envelope'], true),
  SessionIdsMatch: simple('session-ids', ['declared', 'returned'], ['matches']),
  Reply: simple('reply', ['request', 'events', 'end'], ['state', 'ending', 'reply', 'refusal'], true),
  RequestScheduler: simple('schedule', ['options', 'steps'], ['results'], true),
  Argon2id: simple(
    'argon2id',
    ['password', 'salt', 'secret', 'associatedData', 'passes', 'memoryKiB', 'parallelism', 'length'],
    ['tag'],
  ),
};

/** The operations, in the order in which a porter takes them. */
export const OPERATIONS: readonly string[] = [
  ...new Set(Object.values(QUESTIONS).map(({ operation }) => operation)),
];

/** One request with these fields of the test, one answer with those, to be compared exactly where it is data. */
function simple(
  operation: string,
  asked: readonly string[],
  answered: readonly string[],
  isExact = false,
): Question {
  return {
    operation,
    async put(test, ask) {
      const answer = await ask({ op: operation, ...pick(test, asked) });
      checkAnswer(test, answer, pick(test, answered));
      if (!isExact || test.result === 'invalid') return;
      for (const field of answered.filter((field) => test[field] !== undefined)) {
        const difference = firstDifference(field, test[field], answer[field], true);
        if (difference !== undefined) throw new Failed(difference);
      }
    },
  };
}

function pick(test: Vector, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.filter((name) => test[name] !== undefined).map((name) => [name, test[name]]),
  );
}

async function putCanonicalJson(test: Vector, ask: Ask): Promise<void> {
  const answer = await ask({ op: 'canonical-json', ...pick(test, ['text', 'bytes']) });
  const { canonical } = test;
  checkAnswer(test, answer, { canonical }, () => mistakeInCanonicalJson(test.text, answer.canonical));
}

async function putPrologue(test: Vector, ask: Ask): Promise<void> {
  const { hello, handshake, protocolName, prologue } = test;
  const answer = await ask({ op: 'prologue', hello, handshake, protocolName });
  checkAnswer(test, answer, { prologue }, () =>
    mistakeInPrologue(hello, handshake, protocolName, answer.prologue),
  );
}

async function putPsk(test: Vector, ask: Ask): Promise<void> {
  const { password, nodeId, psk } = test;
  const answer = await ask({ op: 'psk', password, nodeId });
  checkAnswer(test, answer, { psk }, () => mistakeInPsk(test, answer.psk));
}

/** Half a second each, so only what is likely. */
function mistakeInPsk({ password, nodeId, salt }: Vector, got: unknown): string {
  const parameters = { crypto: nodeCrypto, passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 };
  const salts: [string, Uint8Array][] = [
    ['the node id itself; it is its SHA-256', utf8ToBytes(nodeId)],
    ['the SHA-256 in hexadecimal; it is the 32 bytes', utf8ToBytes(salt)],
    ['the SHA-256 of the password; it is that of the node id', nodeCrypto.sha256(utf8ToBytes(password))],
  ];
  for (const [what, salt] of salts) {
    if (salt.length < 8) continue; // less than argon2id takes
    const tag = argon2id({ ...parameters, password: utf8ToBytes(password), salt });
    if (Buffer.from(tag).toString('hex') === got) return `psk: the salt is ${what}`;
  }
  return 'psk: most likely the salt, which is the SHA-256 of the hub’s node id, not of anything of the client’s';
}

/** Fields of an identity that may be missing, and then are. */
const ABSENT = {
  cryptoKey: undefined,
  publicKey: undefined,
  defaultMaster: undefined,
  mqtt: undefined,
  aiDisclosure: undefined,
};

/** An identity as it was read, and what would be shown of it: nothing secret, in no spelling. */
async function putIdentity(test: Vector, ask: Ask): Promise<void> {
  const { text, identity, secrets } = test;
  const answer = await ask({ op: 'identity', text });
  checkAnswer(test, answer, { identity: { ...ABSENT, ...identity } });
  if (test.result === 'invalid') return;
  const shown = JSON.stringify(answer.redacted ?? null);
  for (const secret of secrets as string[]) {
    const spelling = spellings(secret).find((spelling) => shown.includes(spelling));
    if (spelling === undefined) continue;
    const expected = 'nothing secret';
    throw new Failed({
      where: 'redacted',
      expected,
      got: `the secret ${JSON.stringify(secret)} of this test`,
    });
  }
}

function spellings(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const spelled = [secret, bytes.toString('hex'), bytes.toString('base64'), encodeURIComponent(secret)];
  return [...spelled, JSON.stringify(secret).slice(1, -1)];
}
