/** Scenes in which the judge is a client and the port is a hub, one for each connection. */
import { bytesToHex, equalBytes, utf8ToBytes } from '../../src/bytes.ts';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import { HandshakeState } from '../../src/noise/handshake-state.ts';
import { type Pattern, protocolName, type Suite } from '../../src/noise/patterns.ts';
import { suitesOf } from '../../src/session/negotiation.ts';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import { readMessage2Payload, readNodeId, readNoiseMessage, readOffer } from '../../src/wire/handshake.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { buildPrologue } from '../../src/wire/prologue.ts';
import { canonicalJson } from '../../src/wire/write-json.ts';
import { Declined, Failed } from './failed.ts';
import { flip, payloadOf, read, shake } from './live-envelopes.ts';
import type { Line } from './live-line.ts';
import { TALK_SCENES, Talk } from './live-talk.ts';

interface Changes {
  pattern?: Pattern;
  suite?: Suite;
  /** What is said in place of pattern and suite, whatever was offered. */
  claim?: { pattern?: string; suite?: string };
  psk?: Uint8Array;
  staticKey?: Uint8Array;
  prologue?: Uint8Array;
  message1?: (message: Uint8Array) => Uint8Array;
  message3?: (message: Uint8Array) => Uint8Array;
  repeats?: true;
  /** What the hub is to close on. */
  refused?: 'message 1' | 'message 3';
}

/** What the judge keeps of the port from one connection to the next. */
export class JudgeClient {
  readonly staticKey: Uint8Array = randomBytes(32);
  readonly #derivePsk: (nodeId: string) => Uint8Array;
  #psk: Uint8Array | undefined;
  #hubKey: Uint8Array | undefined;

  constructor(derivePsk: (nodeId: string) => Uint8Array) {
    this.#derivePsk = derivePsk;
  }

  /** The handshake, with changes, up to a session or to where the hub is to refuse it. */
  async greet(line: Line, changes: Changes = {}): Promise<Talk> {
    const hello = payloadOfType('hello', await line.receive('HELLO'));
    const offer = payloadOfType('shake', await line.receive('HANDSHAKE'));
    const nodeId = read('HELLO', () => readNodeId(hello));
    const offered = read('HANDSHAKE', () => readOffer(offer));
    const { pattern = 'XXpsk2', suite = suitesOf(nodeCrypto)[0]! } = changes;
    if (!offered.patterns.includes(pattern) || !offered.suites.includes(suite)) throw new Declined();
    this.#psk ??= this.#derivePsk(nodeId);
    const handshake = new HandshakeState({
      crypto: nodeCrypto,
      role: 'initiator',
      pattern,
      suite,
      prologue: changes.prologue ?? buildPrologue(hello, offer, protocolName(pattern, suite)),
      psk: changes.psk ?? this.#psk,
      staticKey: changes.staticKey ?? this.staticKey,
      remoteStaticKey: pattern === 'KKpsk0' ? this.#hubKey : undefined,
      randomBytes,
    });
    const message1 = handshake.writeMessage(canonicalJson({ binarize: false, encodings: [] }));
    const msg = bytesToHex(changes.message1?.(message1) ?? message1);
    line.send(shake({ pattern, suite, ...changes.claim, msg }));
    if (changes.refused === 'message 1') {
      await line.expectClose('message 1');
      throw new Refused();
    }
    const second = payloadOf(await line.receive('message 2'), 'message 2');
    if (changes.repeats) line.send(shake({ pattern, suite, msg }));
    read('message 2', () => readMessage2Payload(handshake.readMessage(readNoiseMessage(second))));
    if (!handshake.isFinished) {
      this.#keep(handshake.remoteStaticKey!);
      const message3 = handshake.writeMessage();
      line.send(shake({ msg: bytesToHex(changes.message3?.(message3) ?? message3) }));
    }
    const talk = new Talk(line, handshake.split(), pattern);
    talk.sendJson(HELLO);
    if (changes.refused === 'message 3') {
      await line.expectClose('message 3');
      throw new Refused();
    }
    return talk;
  }

  #keep(key: Uint8Array): void {
    if (this.#hubKey !== undefined && !equalBytes(this.#hubKey, key)) {
      const expected = 'the same on every connection';
      throw new Failed({ where: 'static key in message 2', expected, got: 'another' });
    }
    this.#hubKey = key;
  }
}

const HELLO = writeEnvelope('hello', {
  pubkey: '',
  session: { session_id: 'judge' },
  site_id: 'judge',
});

/** The hub closed where it should: the scene is over, and well. */
class Refused extends Error {}

export interface ClientScene {
  readonly name: string;
  readonly comment: string;
  /** @throws Failed, Declined */
  play(client: JudgeClient, line: Line): Promise<void>;
}

function scene(name: string, comment: string, play: ClientScene['play']): ClientScene {
  return {
    name,
    comment,
    play: (client, line) =>
      play(client, line).catch((error) => {
        if (!(error instanceof Refused)) throw error;
      }),
  };
}

function works(name: string, comment: string, changes: Changes): ClientScene {
  return scene(name, comment, async (client, line) => {
    const talk = await client.greet(line, changes);
    await talk.expectEcho('json', 20);
  });
}

function refusal(name: string, comment: string, changes: Changes): ClientScene {
  return scene(name, comment, async (client, line) => {
    await client.greet(line, changes);
  });
}

export const CLIENT_SCENES: readonly ClientScene[] = [
  works('first-contact', 'XXpsk2, then messages both ways.', {}),
  works('reconnect', 'A client that the hub knows is offered KKpsk0.', { pattern: 'KKpsk0' }),
  ...suitesOf(nodeCrypto).map((suite) =>
    works(`suite ${suite}`, 'A suite that is offered works.', { suite }),
  ),
  works('repeated-message', 'A message 1 that comes again changes nothing.', { repeats: true }),
  ...TALK_SCENES.map(({ name, comment, play }) =>
    scene(name, comment, async (client, line) => play(await client.greet(line), line)),
  ),
  refusal('not-offered-pattern', 'A pattern that was not offered is refused.', {
    claim: { pattern: 'NNpsk0' },
    refused: 'message 1',
  }),
  refusal('not-offered-suite', 'A suite that was not offered is refused.', {
    claim: { suite: '448_ChaChaPoly_SHA512' },
    refused: 'message 1',
  }),
  refusal('other-prologue', 'A client that bound another HELLO or HANDSHAKE is refused.', {
    prologue: utf8ToBytes('another'),
    refused: 'message 1',
  }),
  refusal('damaged-message-1', 'A message 1 whose payload does not open is refused.', {
    message1: (message) => flip(message, message.length - 1),
    refused: 'message 1',
  }),
  refusal('truncated-message-1', 'A message 1 that was cut short is refused.', {
    message1: (message) => message.subarray(0, 31),
    refused: 'message 1',
  }),
  refusal('low-order-key', 'An ephemeral key of low order is refused.', {
    message1: (message) => {
      const changed = message.slice();
      changed.fill(0, 0, 32);
      return changed;
    },
    refused: 'message 1',
  }),
  refusal('damaged-message-3', 'A message 3 that does not open is refused.', {
    message3: (message) => flip(message, 0),
    refused: 'message 3',
  }),
  scene('wrong-password', 'A client without the password cannot read message 2.', async (client, line) => {
    try {
      await client.greet(line, { psk: randomBytes(32) });
    } catch (error) {
      const isRefusal = error instanceof Failed && error.difference.got.startsWith('payload-not-authentic');
      if (isRefusal) return;
      throw error;
    }
    throw new Failed({
      where: 'message 2',
      expected: 'sealed under the psk',
      got: 'one that opens without it',
    });
  }),
  refusal('other-static-key', 'A client with another static key than the pinned one is refused.', {
    staticKey: randomBytes(32),
    refused: 'message 3',
  }),
  works('still-there', 'After all that, the pin and the static key are what they were.', {}),
];

/** The payload of an envelope of this type. */
function payloadOfType(wanted: 'hello' | 'shake', data: string | Uint8Array): JsonObject {
  const { type, payload } = read(wanted, () => parseEnvelope(data));
  if (type === wanted) return payload;
  throw new Failed({ where: wanted, expected: `msg_type ${wanted}`, got: `msg_type ${type}` });
}
