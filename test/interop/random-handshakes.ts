/** Random handshakes of a peer's Noise with ours. The peer is an adapter, asked as the judge asks it. */
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { Suite } from '../../src/index.ts';
import { HandshakeState } from '../../src/parts.ts';
import { Random } from '../world/random.ts';
import type { LineProgram } from './line-program.ts';
import { compare } from './matrix.ts';

type Role = 'initiator' | 'responder';
type Pattern = 'XXpsk2' | 'KKpsk0';

const COUNT = 25;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const random = new Random(seed);
const randomBytes = (length: number): Uint8Array => random.bytes(length);

/** Adds 200 handshakes: as many for each pattern, suite and role of the peer, each a row. */
export function compareHandshakes(
  test: Parameters<typeof compare>[0],
  row: { peer: string; version: string },
  start: () => LineProgram,
): void {
  for (const pattern of ['XXpsk2', 'KKpsk0'] as const) {
    for (const suite of ['25519_ChaChaPoly_SHA256', '25519_AESGCM_SHA256'] as const) {
      for (const role of ['initiator', 'responder'] as const) {
        const what = `${COUNT} random handshakes, with messages both ways`;
        const peer = role === 'initiator' ? 'client' : 'hub';
        compare(test, { ...row, suite, role: peer, pattern, what, seed }, async () => {
          const adapter = start();
          for (let i = 0; i < COUNT; i++) await shakeHands(adapter, role, pattern, suite);
          await adapter.end();
          return undefined;
        });
      }
    }
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

async function ask(adapter: LineProgram, request: object): Promise<Record<string, string>> {
  adapter.write({ id: 1, ...request });
  return adapter.read();
}

/** One handshake with random keys, prologue and payloads, in which the adapter has this role. */
async function shakeHands(adapter: LineProgram, role: Role, pattern: Pattern, suite: Suite): Promise<void> {
  const [psk, ourKey, theirKey] = [randomBytes(32), randomBytes(32), randomBytes(32)];
  const some = () => randomBytes(random.below(300));
  const prologue = some();
  const { publicKey } = nodeCrypto.x25519;
  const ours = new HandshakeState({
    crypto: nodeCrypto,
    role: role === 'initiator' ? 'responder' : 'initiator',
    pattern,
    suite,
    prologue,
    psk,
    staticKey: ourKey,
    randomBytes,
    ...(pattern === 'KKpsk0' ? { remoteStaticKey: publicKey(theirKey) } : {}),
  });
  await ask(adapter, {
    op: 'handshake',
    do: 'start',
    role,
    pattern,
    suite,
    prologue: hex(prologue),
    psk: hex(psk),
    staticKey: hex(theirKey),
    ephemeralKey: hex(randomBytes(32)),
    ...(pattern === 'KKpsk0' ? { remoteStaticKey: hex(publicKey(ourKey)) } : {}),
  });
  for (let theyWrite = role === 'initiator'; !ours.isFinished; theyWrite = !theyWrite) {
    const payload = hex(some());
    if (theyWrite) {
      const { message } = await ask(adapter, { op: 'handshake', do: 'write', payload });
      assert.is(hex(ours.readMessage(Buffer.from(message!, 'hex'))), payload);
    } else {
      const message = hex(ours.writeMessage(Buffer.from(payload, 'hex')));
      assert.is((await ask(adapter, { op: 'handshake', do: 'read', message })).payload, payload);
    }
  }
  const transport = ours.split();
  const theirs = await ask(adapter, { op: 'handshake', do: 'split' });
  assert.is(theirs.handshakeHash, hex(transport.handshakeHash));
  assert.is(theirs.remoteStaticKey, hex(publicKey(ourKey)));
  assert.is(hex(transport.remoteStaticKey), hex(publicKey(theirKey)));

  const plaintexts = [hex(some()), hex(some())];
  const sealed: unknown = (await ask(adapter, { op: 'seal', plaintexts })).results;
  const received = (sealed as { message: string }[]).map(({ message }) =>
    hex(transport.decrypt(Buffer.from(message, 'hex'))),
  );
  assert.equal(received, plaintexts);
  const messages = plaintexts.map((plaintext) => hex(transport.encrypt(Buffer.from(plaintext, 'hex'))));
  const opened: unknown = (await ask(adapter, { op: 'open', messages })).results;
  assert.equal(
    opened,
    plaintexts.map((plaintext) => ({ plaintext })),
  );
}
