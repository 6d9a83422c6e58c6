/** The judge as a client: the handshake, done right or with one change. */
import { show } from '../difference.ts';
import {
  buildPrologue,
  bytesToHex,
  canonicalJson,
  equalBytes,
  HandshakeState,
  nodeCrypto,
  OFFERED_SUITES,
  type Pattern,
  protocolName,
  RemoteError,
  randomBytes,
  readMessage2Payload,
  readNodeId,
  readNoiseMessage,
  readOffer,
  type Suite,
  writeEnvelope,
} from '../protocol.ts';
import { Declined, Failure } from '../verdict.ts';
import { message1OfZeros } from './accomplice.ts';
import type { Connection } from './connection.ts';
import { payloadOfType, payloadWithMessage, read, shake } from './envelopes.ts';
import { EphemeralKeys } from './ephemeral-keys.ts';
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
  /** Makes message 1 with an ephemeral key of zeros. */
  isAccomplice?: true;
  message3?: (message: Uint8Array) => Uint8Array;
  /** Sends message 1 again after message 2. */
  repeats?: true;
  /** The message at which the hub closes the connection. */
  refused?: 'message 1' | 'message 3';
}

const REFUSAL = 1008;

const NEW_STATIC_KEY = 'static key: the hub has another one than before; it keeps one, which its clients pin';

const NEW_NODE_ID =
  'node id: the hub has a different one than before; keep it, since clients store the hub’s key and the psk under it';
const WAITS = 'order: the hub waits for the client; over a WebSocket the hub speaks first';

const PASSWORD =
  'password: the payload of message 2 does not open, though the static key before it does, so the hub has another psk. ' +
  'If it passes the vectors of psk and handshake, compare its password with the judge’s; if not, fix these first';

const HELLO = writeEnvelope('hello', { pubkey: '', session: { session_id: 'judge' }, site_id: 'judge' });

export class JudgeClient {
  readonly #staticKey: Uint8Array = randomBytes(32);
  readonly #ephemeralKeys: EphemeralKeys = new EphemeralKeys();
  /** The close reasons of handshakes that were refused. */
  readonly reasons: Set<string> = new Set();
  readonly #derivePsk: (nodeId: string) => Uint8Array;
  #psk: Uint8Array | undefined;
  /** Known since the first HELLO. */
  #nodeId: string | undefined;
  /** The hub's static public key, known since the first handshake with XXpsk2. */
  #hubKey: Uint8Array | undefined;

  constructor(derivePsk: (nodeId: string) => Uint8Array) {
    this.#derivePsk = derivePsk;
  }

  /**
   * The handshake, and the client's sealed HELLO.
   * @throws Failure, Declined if the hub does not offer the pattern or the suite, SceneOver if a change makes the hub
   *   close the connection
   */
  async greet(connection: Connection, changes: ClientChanges = {}): Promise<Talk> {
    const hello = payloadOfType(
      'hello',
      await connection.receiveEnvelope('HELLO', false, undefined, [WAITS]),
    );
    const offer = payloadOfType('shake', await connection.receiveEnvelope('HANDSHAKE'));
    const nodeId = read('HELLO', () => readNodeId(hello));
    const offered = read('HANDSHAKE', () => readOffer(offer));
    const { pattern, suite } = chooseFrom(offered, changes);
    if (pattern === 'KKpsk0' && this.#hubKey === undefined) {
      const expected = 'the hub’s static key, from an earlier scene with XXpsk2';
      throw new Failure({ where: 'KKpsk0', expected, got: 'none: no such scene has succeeded' });
    }
    this.#nodeId ??= nodeId;
    if (nodeId !== this.#nodeId) {
      const difference = { where: 'node_id of HELLO', expected: show(this.#nodeId), got: show(nodeId) };
      throw new Failure(difference, [NEW_NODE_ID]);
    }
    this.#psk ??= this.#derivePsk(nodeId);
    const prologue = changes.prologue ?? buildPrologue(hello, offer, protocolName(pattern, suite));
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'initiator',
      pattern,
      suite,
      prologue,
      psk: changes.psk ?? this.#psk,
      staticKey: changes.staticKey ?? this.#staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.#hubKey : undefined,
      randomBytes,
    });
    const payload = canonicalJson({ binarize: false, encodings: [] });
    const message1 = changes.isAccomplice
      ? message1OfZeros(suite, prologue, payload)
      : handshake.writeMessage(payload);
    const msg = bytesToHex(changes.message1?.(message1) ?? message1);
    connection.send(shake({ pattern, suite, ...changes.claim, msg }));
    if (changes.refused === 'message 1') {
      await connection.expectClose('message 1');
      this.#checkClosing(connection, 'message 1');
      throw new SceneOver();
    }
    const second = payloadWithMessage('message 2', await connection.receiveEnvelope('message 2'));
    const message2 = read('message 2', () => readNoiseMessage(second));
    this.#ephemeralKeys.check('message 2', message2, this.#hubKey);
    if (changes.repeats) connection.send(shake({ pattern, suite, msg }));
    read('message 2', () => this.#readMessage2(handshake.readMessage(message2)), {
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
      this.#checkClosing(connection, 'message 3');
      throw new SceneOver();
    }
    return talk;
  }

  #readMessage2(payload: Uint8Array): void {
    if (readMessage2Payload(payload) !== undefined) return;
    throw new RemoteError('bad-handshake-payload', 'the payload of message 2 is not a JSON object');
  }

  /** A hub closes a handshake that cannot be completed with 1008, and gives no other reason. */
  #checkClosing({ closing }: Connection, where: string): void {
    if (closing === undefined) return; // over MQTT there is none
    const { code, reason } = closing;
    if (code !== REFUSAL) {
      const got = code === 1006 ? 'none: the connection ended without a close frame' : String(code);
      const cause = `close code: a handshake that cannot be completed ends with ${REFUSAL}, not ${code}`;
      throw new Failure({ where: `close code after ${where}`, expected: String(REFUSAL), got }, [cause]);
    }
    this.reasons.add(reason);
  }

  #learn(key: Uint8Array): void {
    if (this.#hubKey !== undefined && !equalBytes(this.#hubKey, key)) {
      const expected = 'the same on every connection';
      throw new Failure({ where: 'static key in message 2', expected, got: 'another' }, [NEW_STATIC_KEY]);
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
  const suite = changes.suite ?? OFFERED_SUITES.find((suite) => suites.includes(suite)) ?? OFFERED_SUITES[0]!;
  if (pattern === 'XXpsk2' && !patterns.includes(pattern)) throw notOffered('patterns', pattern, patterns);
  if (suite === OFFERED_SUITES[0] && !suites.includes(suite)) throw notOffered('suites', suite, suites);
  if (!patterns.includes(pattern) || !suites.includes(suite)) throw new Declined();
  return { pattern, suite };
}

function notOffered(field: string, required: string, offered: readonly string[]): Failure {
  const got = JSON.stringify(offered);
  const difference = { where: `noise.${field} of HANDSHAKE`, expected: `${required} among them`, got };
  return new Failure(difference, [`offer: it lacks ${required}, which every hub offers`]);
}
