/** Scenes in which the judge is a hub and the port is a client, one for each connection. */
import { bytesToHex, equalBytes } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import {
  ALL_PATTERNS,
  ALL_SUITES,
  type Pattern,
  protocolName,
  type Suite,
} from '../../src/noise/patterns.ts';
import { readMessage1Payload, readNoise, readNoiseMessage } from '../../src/wire/handshake.ts';
import { isJsonObject, type JsonObject } from '../../src/wire/json.ts';
import { parseJson } from '../../src/wire/parse-json.ts';
import { buildPrologue } from '../../src/wire/prologue.ts';
import { Declined, Failed } from './failed.ts';
import { envelope, flip, payloadOf, read, shake } from './live-envelopes.ts';
import type { Line } from './live-line.ts';
import { TALK_SCENES, Talk } from './live-talk.ts';

/** A JSON text of payload fields that only a canonical form by the book binds rightly. */
const UNKNOWN_FIELDS =
  '"h\u00fcb \ud83c\udfe0":1.0,"\ue000":12345678901234567890,"\ud83d\ude00":-0.0,"__proto__":{"a":null},"c":"\\b\\u0001/<"';

/** What the judge keeps of the port from one connection to the next. */
export class JudgeHub {
  readonly nodeId: string;
  readonly #psk: Uint8Array;
  readonly #staticKey: Uint8Array = randomBytes(32);
  clientKey: Uint8Array | undefined;

  constructor(nodeId: string, psk: Uint8Array) {
    this.nodeId = nodeId;
    this.#psk = psk;
  }

  /** HELLO and HANDSHAKE as texts, with changes; then the handshake, up to a session or to what the scene is about. */
  async greet(line: Line, changes: Changes = {}): Promise<Talk> {
    const { patterns = this.patterns(), suites = ALL_SUITES, version = '3', more = '' } = changes;
    const fields = more === '' ? '' : `,${more}`;
    const noise = JSON.stringify({ patterns, suites });
    const hello = changes.hello ?? `{"node_id":${JSON.stringify(this.nodeId)}${fields}}`;
    const offer = `{"max_protocol_version":${version},"noise":${noise}${fields}}`;
    if (changes.offerFirst) line.send(envelope('shake', offer));
    line.send(envelope('hello', hello));
    line.send(envelope('shake', offer));
    if (changes.refused) {
      await line.expectClose(changes.refused);
      throw new Refused();
    }
    const first = payloadOf(await line.receive('message 1', true), 'message 1');
    if (changes.repeats) {
      line.send(envelope('hello', hello));
      line.send(envelope('shake', offer));
    }
    const { pattern, suite } = readChoice(first, patterns, suites);
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'responder',
      pattern,
      suite,
      prologue: buildPrologue(parseJson(hello), parseJson(offer), protocolName(pattern, suite)),
      psk: changes.psk ?? this.#psk,
      staticKey: changes.staticKey ?? this.#staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.clientKey : undefined,
      randomBytes,
    });
    read('message 1', () => readMessage1Payload(handshake.readMessage(readNoiseMessage(first))));
    const message2 = handshake.writeMessage(new Uint8Array([0x7b, 0x7d]));
    line.send(shake({ msg: bytesToHex(changes.message2?.(message2) ?? message2) }));
    if (changes.message2 !== undefined || changes.psk !== undefined || changes.staticKey !== undefined) {
      await line.expectClose('message 2');
      throw new Refused();
    }
    if (changes.repeats) line.send(envelope('hello', hello));
    if (!handshake.isFinished) {
      const third = payloadOf(await line.receive('message 3'), 'message 3');
      read('message 3', () => handshake.readMessage(readNoiseMessage(third)));
      this.#keep(handshake.remoteStaticKey!);
    }
    const talk = new Talk(line, handshake.split(), pattern);
    checkHello(await talk.receiveJson('the sealed HELLO'));
    return talk;
  }

  /** A hub offers KKpsk0 to a client whose key it holds. */
  patterns(): Pattern[] {
    return ALL_PATTERNS.filter((pattern) => pattern !== 'KKpsk0' || this.clientKey !== undefined);
  }

  #keep(key: Uint8Array): void {
    if (this.clientKey !== undefined && !equalBytes(this.clientKey, key)) {
      const expected = 'the same on every connection';
      throw new Failed({ where: 'static key in message 3', expected, got: 'another' });
    }
    this.clientKey = key;
  }
}

interface Changes {
  patterns?: readonly string[];
  suites?: readonly string[];
  version?: string;
  /** Further fields of both payloads, as JSON. */
  more?: string;
  hello?: string;
  offerFirst?: true;
  repeats?: true;
  psk?: Uint8Array;
  staticKey?: Uint8Array;
  message2?: (message: Uint8Array) => Uint8Array;
  /** What the client is to leave at, before message 1. */
  refused?: string;
}

/** The client left where it should: the scene is over, and well. */
class Refused extends Error {}

export interface HubScene {
  readonly name: string;
  readonly comment: string;
  /** @throws Failed, Declined */
  play(hub: JudgeHub, line: Line): Promise<void>;
}

function scene(name: string, comment: string, play: HubScene['play']): HubScene {
  return {
    name,
    comment,
    play: (hub, line) =>
      play(hub, line).catch((error) => {
        if (!(error instanceof Refused)) throw error;
      }),
  };
}

/** A handshake with these changes, of which a client must not go on. */
function refusal(name: string, comment: string, changes: (hub: JudgeHub) => Changes): HubScene {
  return scene(name, comment, async (hub, line) => {
    await hub.greet(line, changes(hub));
  });
}

const XX = ['XXpsk2'];

export const HUB_SCENES: readonly HubScene[] = [
  scene(
    'first-contact',
    'XXpsk2, then the client’s HELLO as its first sealed message.',
    async (hub, line) => {
      const talk = await hub.greet(line, { patterns: XX });
      await talk.expectEcho('json', 20);
    },
  ),
  scene(
    'reconnect',
    'A client that pinned the hub’s key uses KKpsk0 where it is offered.',
    async (hub, line) => {
      const talk = await hub.greet(line, { patterns: ['XXpsk2', 'KKpsk0'] });
      await talk.expectEcho('json', 20);
      if (talk.pattern !== 'KKpsk0') throw new Declined();
    },
  ),
  ...ALL_SUITES.map((suite) =>
    scene(`suite ${suite}`, 'The only suite that is offered is used, or refused.', async (hub, line) => {
      const talk = await hub.greet(line, { suites: [suite] });
      await talk.expectEcho('json', 20);
    }),
  ),
  scene(
    'unknown-fields',
    'Fields that the client does not know are bound into the prologue.',
    async (hub, line) => {
      const talk = await hub.greet(line, { more: UNKNOWN_FIELDS });
      await talk.expectEcho('json', 20);
    },
  ),
  scene('repeated-offer', 'A HELLO and an offer that come again change nothing.', async (hub, line) => {
    const talk = await hub.greet(line, { repeats: true });
    await talk.expectEcho('json', 20);
  }),
  ...TALK_SCENES.map(({ name, comment, play }) =>
    scene(name, comment, async (hub, line) => play(await hub.greet(line), line)),
  ),
  refusal('version', 'A hub below protocol 3 is left.', () => ({ version: '2', refused: 'the offer' })),
  refusal('no-suite', 'A hub without a common suite is left.', () => ({
    suites: ['448_ChaChaPoly_SHA512'],
    refused: 'the offer',
  })),
  refusal('no-pattern', 'A hub without a common pattern is left.', () => ({
    patterns: ['NNpsk0'],
    refused: 'the offer',
  })),
  refusal('no-node-id', 'A HELLO without a node id is refused.', () => ({ hello: '{}', refused: 'HELLO' })),
  refusal('offer-first', 'An offer before any HELLO is refused.', () => ({
    offerFirst: true,
    refused: 'the offer',
  })),
  refusal('damaged-static-key', 'A message 2 whose static key does not open ends it.', () => ({
    patterns: XX,
    message2: (message) => flip(message, 40),
  })),
  refusal('damaged-payload', 'A message 2 whose payload does not open ends it: nothing follows.', () => ({
    patterns: XX,
    message2: (message) => flip(message, message.length - 1),
  })),
  refusal('truncated-message-2', 'A message 2 that was cut short ends it.', () => ({
    patterns: XX,
    message2: (message) => message.subarray(0, 60),
  })),
  refusal('low-order-key', 'An ephemeral key of low order is refused.', () => ({
    patterns: XX,
    message2: (message) => {
      const changed = message.slice();
      changed.fill(0, 0, 32);
      return changed;
    },
  })),
  refusal('wrong-password', 'A hub that does not know the password is left before message 3.', () => ({
    patterns: XX,
    psk: randomBytes(32),
  })),
  refusal('changed-key', 'A hub with another key than the pinned one gets no message 3.', () => ({
    patterns: XX,
    staticKey: randomBytes(32),
  })),
  scene(
    'still-there',
    'After all that, the pin and the static key are what they were.',
    async (hub, line) => {
      const talk = await hub.greet(line, { patterns: XX });
      await talk.expectEcho('json', 20);
    },
  ),
];

function readChoice(
  payload: JsonObject,
  patterns: readonly string[],
  suites: readonly string[],
): { pattern: Pattern; suite: Suite } {
  const { pattern, suite } = readNoise(payload) as { pattern?: Pattern; suite?: Suite };
  if (patterns.includes(pattern as string) && suites.includes(suite as string)) {
    return { pattern: pattern!, suite: suite! };
  }
  throw new Failed({
    where: 'noise.pattern and noise.suite of message 1',
    expected: `of ${patterns} and ${suites}`,
    got: `${pattern} and ${suite}`,
  });
}

function checkHello(value: unknown): void {
  const { msg_type: type, payload } = (value ?? {}) as { msg_type?: unknown; payload?: JsonObject };
  const session = isJsonObject(payload) ? payload.session : undefined;
  if (type === 'hello' && isJsonObject(session) && typeof session.session_id === 'string') return;
  const got = JSON.stringify(value).slice(0, 200);
  throw new Failed({
    where: 'the sealed HELLO',
    expected: 'msg_type hello, payload.session.session_id',
    got,
  });
}
