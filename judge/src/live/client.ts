/** The judge as a client: the handshake, as a client should do it or with one thing changed. */
import {
  ALL_SUITES,
  buildPrologue,
  bytesToHex,
  canonicalJson,
  equalBytes,
  HandshakeState,
  nodeCrypto,
  type Pattern,
  protocolName,
  randomBytes,
  readMessage2Payload,
  readNodeId,
  readNoiseMessage,
  readOffer,
  type Suite,
  writeEnvelope,
} from '../protocol.ts';
import { Declined, Failure } from '../verdict.ts';
import type { Connection } from './connection.ts';
import { payloadOfType, payloadWithMessage, read, shake } from './envelopes.ts';
import { SceneOver } from './play.ts';
import { Talk } from './talk.ts';

export interface ClientChanges {
  pattern?: Pattern;
  suite?: Suite;
  /** The pattern or suite that message 1 names, in place of the one in use. */
  claim?: { pattern?: string; suite?: string };
  psk?: Uint8Array;
  staticKey?: Uint8Array;
  prologue?: Uint8Array;
  message1?: (message: Uint8Array) => Uint8Array;
  message3?: (message: Uint8Array) => Uint8Array;
  /** Sends message 1 again after message 2. */
  repeats?: true;
  /** The message at which the hub closes the connection. */
  refused?: 'message 1' | 'message 3';
}

const PASSWORD =
  'password: the payload of message 2 does not open, though the static key before it does, so the hub has another psk. ' +
  'If it passes the vectors of psk and handshake, compare its password with --password; if not, fix these first';

const HELLO = writeEnvelope('hello', { pubkey: '', session: { session_id: 'judge' }, site_id: 'judge' });

export class JudgeClient {
  readonly #staticKey: Uint8Array = randomBytes(32);
  readonly #derivePsk: (nodeId: string) => Uint8Array;
  #psk: Uint8Array | undefined;
  /** The hub's static public key, known since the first handshake with XXpsk2. */
  #hubKey: Uint8Array | undefined;

  constructor(derivePsk: (nodeId: string) => Uint8Array) {
    this.#derivePsk = derivePsk;
  }

  /**
   * The handshake, and the client's sealed HELLO.
   * @throws Failure, Declined if the hub does not offer the pattern or the suite, SceneOver where a change makes the hub
   *   close the connection
   */
  async greet(connection: Connection, changes: ClientChanges = {}): Promise<Talk> {
    const hello = payloadOfType('hello', await connection.receive('HELLO'));
    const offer = payloadOfType('shake', await connection.receive('HANDSHAKE'));
    const nodeId = read('HELLO', () => readNodeId(hello));
    const offered = read('HANDSHAKE', () => readOffer(offer));
    const { pattern, suite } = chooseFrom(offered, changes);
    if (pattern === 'KKpsk0' && this.#hubKey === undefined) {
      const expected = 'the hub’s static key, from an earlier scene with XXpsk2';
      throw new Failure({ where: 'KKpsk0', expected, got: 'none: no such scene has succeeded' });
    }
    this.#psk ??= this.#derivePsk(nodeId);
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'initiator',
      pattern,
      suite,
      prologue: changes.prologue ?? buildPrologue(hello, offer, protocolName(pattern, suite)),
      psk: changes.psk ?? this.#psk,
      staticKey: changes.staticKey ?? this.#staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.#hubKey : undefined,
      randomBytes,
    });
    const message1 = handshake.writeMessage(canonicalJson({ binarize: false, encodings: [] }));
    const msg = bytesToHex(changes.message1?.(message1) ?? message1);
    connection.send(shake({ pattern, suite, ...changes.claim, msg }));
    if (changes.refused === 'message 1') {
      await connection.expectClose('message 1');
      throw new SceneOver();
    }
    const second = payloadWithMessage('message 2', await connection.receive('message 2'));
    if (changes.repeats) connection.send(shake({ pattern, suite, msg }));
    read('message 2', () => readMessage2Payload(handshake.readMessage(readNoiseMessage(second))), {
      'payload-not-authentic': pattern === 'XXpsk2' && !changes.psk && !this.#hubKey ? [PASSWORD] : [],
    });
    if (!handshake.isFinished) {
      this.#learn(handshake.remoteStaticKey!);
      const message3 = handshake.writeMessage();
      connection.send(shake({ msg: bytesToHex(changes.message3?.(message3) ?? message3) }));
    }
    const talk = new Talk(connection, handshake.split(), pattern);
    talk.sendJson(HELLO);
    if (changes.refused === 'message 3') {
      await connection.expectClose('message 3');
      throw new SceneOver();
    }
    return talk;
  }

  #learn(key: Uint8Array): void {
    if (this.#hubKey !== undefined && !equalBytes(this.#hubKey, key)) {
      const expected = 'the same on every connection';
      throw new Failure({ where: 'static key in message 2', expected, got: 'another' });
    }
    this.#hubKey = key;
  }
}

/** The pattern and suite of the scene, or the first that is offered. A hub always offers XXpsk2 and the required suite. */
function chooseFrom(
  { patterns, suites }: { patterns: string[]; suites: string[] },
  changes: ClientChanges,
): { pattern: Pattern; suite: Suite } {
  const { pattern = 'XXpsk2' } = changes;
  const suite = changes.suite ?? ALL_SUITES.find((suite) => suites.includes(suite)) ?? ALL_SUITES[0]!;
  if (pattern === 'XXpsk2' && !patterns.includes(pattern)) throw notOffered('patterns', pattern, patterns);
  if (suite === ALL_SUITES[0] && !suites.includes(suite)) throw notOffered('suites', suite, suites);
  if (!patterns.includes(pattern) || !suites.includes(suite)) throw new Declined();
  return { pattern, suite };
}

function notOffered(field: string, required: string, offered: readonly string[]): Failure {
  return new Failure({
    where: `noise.${field} of HANDSHAKE`,
    expected: `${required} among them: every hub offers it`,
    got: JSON.stringify(offered),
  });
}
