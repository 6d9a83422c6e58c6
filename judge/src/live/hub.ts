/** The judge as a hub: the handshake, done right or with one change. */
import { show } from '../difference.ts';
import {
  buildPrologue,
  bytesToHex,
  equalBytes,
  HandshakeState,
  type JsonObject,
  nodeCrypto,
  OFFERED_PATTERNS,
  OFFERED_SUITES,
  type Pattern,
  parseJson,
  protocolName,
  randomBytes,
  readMessage1Payload,
  readNoise,
  readNoiseMessage,
  type Suite,
} from '../protocol.ts';
import { Declined, Failure } from '../verdict.ts';
import { message2OfZeros } from './accomplice.ts';
import type { Connection } from './connection.ts';
import { envelope, payloadWithMessage, read, shake } from './envelopes.ts';
import { EphemeralKeys } from './ephemeral-keys.ts';
import { SceneOver } from './play.ts';
import { Talk } from './talk.ts';

export interface HubChanges {
  patterns?: readonly string[];
  suites?: readonly string[];
  version?: string;
  /** Further fields of both payloads, as JSON. */
  fields?: string;
  /** The payload of HELLO, as JSON. */
  hello?: string;
  /** Sends the offer before HELLO too. */
  offerFirst?: true;
  /** Sends HELLO and the offer in fragments, with pings between them. */
  fragments?: true;
  /** Sends HELLO and the offer again after message 1, and HELLO after message 2. */
  repeats?: true;
  /** The number of another hub, with its own node id, static key and PSK. */
  another?: number;
  /** The pattern that the scene tests: a client that chooses another declines. */
  expects?: Pattern;
  /** Answers message 1 with silence, until the client gives up. */
  isSilent?: true;
  psk?: Uint8Array;
  staticKey?: Uint8Array;
  message2?: (message: Uint8Array) => Uint8Array;
  /** Makes message 2 with an ephemeral key of zeros. */
  isAccomplice?: true;
  /** The message after which the client must send nothing more, not even message 1. It may or may not close the connection. */
  refused?: string;
  /** A client that refuses message 2 may have sent message 3 by then. */
  mayGetMessage3?: true;
}

const NEW_STATIC_KEY =
  'static key: the client has a different one than before; keep it as long as the identity';

const PASSWORD =
  'password: the client closes after message 2, as it must if its password is another one. If it passes the vectors of ' +
  'psk and handshake, compare its password with the judge’s; if not, fix these first';

/** The secrets of a hub, for one client. */
interface Secrets {
  readonly nodeId: string;
  readonly psk: Uint8Array;
  readonly staticKey: Uint8Array;
}

export class JudgeHub {
  readonly nodeId: string;
  /** The client's close reasons on connections whose message 2 it refused. */
  readonly reasons: Set<string> = new Set();
  /** Over MQTT, the client id of each connection. */
  readonly clientIds: string[] = [];
  /** How long the client took from the offer to message 3 of the latest XXpsk2, in milliseconds. */
  lastTime: number = Number.NaN;
  /** The suite that the client chose last. */
  lastSuite: string | undefined;
  /** Whether the next connection gets a wrong Sec-WebSocket-Accept. */
  spoilsAccept = false;
  readonly #own: Secrets;
  readonly #others: Map<number, Secrets> = new Map();
  readonly #derivePsk: (nodeId: string) => Uint8Array;
  readonly #ephemeralKeys: EphemeralKeys = new EphemeralKeys();
  /** The longest of these times: what a client may need before it goes on where it must not. */
  #slowest = 0;
  /** The client's static public key, known since the first handshake with XXpsk2. */
  #clientKey: Uint8Array | undefined;

  /** @param derivePsk - derives the PSK of the client's password */
  constructor(nodeId: string, derivePsk: (nodeId: string) => Uint8Array) {
    this.nodeId = nodeId;
    this.#derivePsk = derivePsk;
    this.#own = { nodeId, psk: derivePsk(nodeId), staticKey: randomBytes(32) };
  }

  /**
   * Another hub, whose PSK takes a moment at first.
   * @param isRenamed - whether it has the static key of this one
   */
  another(number: number, isRenamed = false): Secrets {
    const known = this.#others.get(number);
    if (known !== undefined) return known;
    const nodeId = `${this.nodeId}-${number}`;
    const staticKey = isRenamed ? this.#own.staticKey : randomBytes(32);
    const hub = { nodeId, psk: this.#derivePsk(nodeId), staticKey };
    this.#others.set(number, hub);
    return hub;
  }

  /**
   * HELLO, offer and handshake, up to the client's sealed HELLO.
   * @throws Failure, SceneOver if a change makes the client close the connection
   */
  async greet(connection: Connection, changes: HubChanges = {}): Promise<Talk> {
    const { patterns = this.#patterns(), suites = OFFERED_SUITES, version = '3' } = changes;
    const own = changes.another === undefined ? this.#own : this.another(changes.another);
    if (patterns.includes('KKpsk0') && this.#clientKey === undefined) {
      const expected = 'the client’s static key, from an earlier scene with XXpsk2';
      throw new Failure({ where: 'offer of KKpsk0', expected, got: 'none: no such scene has succeeded' });
    }
    const fields = changes.fields === undefined ? '' : `,${changes.fields}`;
    const noise = JSON.stringify({ patterns, suites });
    const hello = changes.hello ?? `{"node_id":${JSON.stringify(own.nodeId)}${fields}}`;
    const offer = `{"max_protocol_version":${version},"noise":${noise}${fields}}`;
    if (changes.offerFirst) connection.send(envelope('shake', offer));
    connection.splitsNext = changes.fragments ?? false;
    connection.send(envelope('hello', hello));
    connection.splitsNext = changes.fragments ?? false;
    connection.send(envelope('shake', offer));
    const offeredAt = performance.now();
    if (changes.refused) {
      await connection.expectNothing(changes.refused, 2 * this.#slowest);
      throw new SceneOver();
    }
    const first = payloadWithMessage('message 1', await connection.receiveEnvelope('message 1', true));
    if (changes.repeats) {
      connection.send(envelope('hello', hello));
      connection.send(envelope('shake', offer));
    }
    const { pattern, suite } = readChoice(first, patterns, suites);
    this.lastSuite = suite;
    if (changes.expects !== undefined && pattern !== changes.expects) throw new Declined();
    const prologue = buildPrologue(parseJson(hello), parseJson(offer), protocolName(pattern, suite));
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'responder',
      pattern,
      suite,
      prologue,
      psk: changes.psk ?? own.psk,
      staticKey: changes.staticKey ?? own.staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.#clientKey : undefined,
      randomBytes,
    });
    const message1 = read('message 1', () => readNoiseMessage(first));
    read('message 1', () => readMessage1Payload(handshake.readMessage(message1)));
    this.#ephemeralKeys.check('message 1', message1, this.#clientKey);
    if (changes.isSilent) {
      await connection.expectClose('message 1, which was not answered', true);
      throw new SceneOver();
    }
    const payload = new Uint8Array([0x7b, 0x7d]); // {}
    const message2 = changes.isAccomplice
      ? message2OfZeros(suite, prologue, message1, { staticKey: own.staticKey, psk: own.psk, payload })
      : handshake.writeMessage(payload);
    connection.send(shake({ msg: bytesToHex(changes.message2?.(message2) ?? message2) }));
    const { message2: isChanged, isAccomplice, psk, staticKey } = changes;
    if ((isChanged ?? isAccomplice ?? psk ?? staticKey) !== undefined) {
      if (changes.mayGetMessage3) {
        const third = await connection.receiveOrClose('message 2');
        if (third !== undefined) payloadWithMessage('message 3', third);
      }
      await connection.expectClose('message 2');
      if (connection.closing !== undefined) this.reasons.add(connection.closing.reason);
      throw new SceneOver();
    }
    if (changes.repeats) connection.send(envelope('hello', hello));
    if (!handshake.isFinished) {
      const causes = this.#clientKey === undefined ? [PASSWORD] : [];
      const isLong = changes.another !== undefined; // it may derive its PSK as late as this
      const third = payloadWithMessage(
        'message 3',
        await connection.receiveEnvelope('message 3', isLong, causes),
      );
      this.lastTime = performance.now() - offeredAt;
      this.#slowest = Math.max(this.#slowest, this.lastTime);
      read('message 3', () => handshake.readMessage(readNoiseMessage(third)));
      this.#learn(handshake.remoteStaticKey!);
    }
    const talk = new Talk(connection, handshake.split(), pattern);
    checkHello(await talk.receiveHello());
    return talk;
  }

  /** A hub offers KKpsk0 to clients whose key it knows. */
  #patterns(): Pattern[] {
    return OFFERED_PATTERNS.filter((pattern) => pattern !== 'KKpsk0' || this.#clientKey !== undefined);
  }

  #learn(key: Uint8Array): void {
    if (this.#clientKey !== undefined && !equalBytes(this.#clientKey, key)) {
      const expected = 'the same on every connection';
      throw new Failure({ where: 'static key in message 3', expected, got: 'another' }, [NEW_STATIC_KEY]);
    }
    this.#clientKey = key;
  }
}

function readChoice(
  payload: JsonObject,
  patterns: readonly string[],
  suites: readonly string[],
): { pattern: Pattern; suite: Suite } {
  const { pattern, suite } = readNoise(payload) as { pattern?: Pattern; suite?: Suite };
  if (patterns.includes(pattern as string) && suites.includes(suite as string)) {
    return { pattern: pattern!, suite: suite! };
  }
  throw new Failure({
    where: 'noise.pattern and noise.suite of message 1',
    expected: `of ${patterns} and ${suites}`,
    got: `${pattern} and ${suite}`,
  });
}

/** A HELLO needs all that a hub reads. Clients without an RSA key send an empty string as pubkey, or null. */
function checkHello(value: unknown): void {
  const { msg_type: type, payload } = Object(value);
  const { pubkey, site_id: siteId, session } = Object(payload);
  const texts = [pubkey ?? '', siteId, Object(session).session_id];
  if (type === 'hello' && pubkey !== undefined && texts.every((text) => typeof text === 'string')) return;
  const expected = 'msg_type hello with pubkey and the strings session.session_id and site_id in its payload';
  throw new Failure({ where: 'the sealed HELLO', expected, got: show(value) });
}
