/**
 * Every mistake in Noise that the judge knows, made by a client or by a hub that stops where it can read no further.
 * `explain` names it or says that it cannot tell, and never names another one as certain.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Explanation, explain } from '../../cli/src/explain/explain.ts';
import { readRecording } from '../../cli/src/explain/recording.ts';
import { replay } from '../../cli/src/explain/replay.ts';
import { handshakeWith } from '../../judge/src/mistakes/noise.ts';
import { MISTAKES, type Mistake } from '../../judge/src/mistakes/noise-mistakes.ts';
import { sealWith } from '../../judge/src/mistakes/noise-with-mistake.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { canonicalJson, type JsonObject, type Pattern } from '../../src/index.ts';
import { buildPrologue, protocolName, splitMessage } from '../../src/parts.ts';
import { recordClientSession, recordHubSession } from '../../src/recording/recording.ts';
import { parseEnvelope, writeEnvelope } from '../../src/wire/envelope.ts';
import { readNoiseMessage } from '../../src/wire/handshake.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';

const SUITE = '25519_ChaChaPoly_SHA256';
const CLIENT_EPHEMERAL = new Uint8Array(32).fill(11);
const HUB_EPHEMERAL = new Uint8Array(32).fill(12);
const MESSAGE_1_PAYLOAD = canonicalJson({ binarize: false, encodings: [] });
const MESSAGE_2_PAYLOAD = Buffer.from('{}');
const HELLO = splitMessage('json', Buffer.from('{"msg_type":"hello","payload":{"session":{}}}'))[0]!;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (digits: string): Uint8Array => new Uint8Array(Buffer.from(digits, 'hex'));
const shake = (noise: JsonObject): string => writeEnvelope('shake', { noise });

type Events = readonly { readonly type: string; readonly data?: string | Uint8Array }[];

/** A side that makes a mistake, seen from the session that it talks to. */
class Faulty {
  readonly #mistake: Mistake;
  readonly #pattern: Pattern;
  readonly #side: 'init' | 'resp';
  readonly #prologue: Uint8Array;
  readonly #message2Payload: Uint8Array;
  readonly #messages: string[] = [];

  constructor(
    mistake: Mistake,
    pattern: Pattern,
    side: 'init' | 'resp',
    prologue: Uint8Array,
    message2Payload: Uint8Array = MESSAGE_2_PAYLOAD,
  ) {
    this.#mistake = mistake;
    this.#pattern = pattern;
    this.#side = side;
    this.#prologue = prologue;
    this.#message2Payload = message2Payload;
  }

  /** Takes a handshake message. Returns whether it could be read. */
  read(events: Events): boolean {
    const text = events.find(({ type, data }) => type === 'transmit' && typeof data === 'string')?.data;
    if (text === undefined) return false;
    this.#messages.push(hex(readNoiseMessage(parseEnvelope(text).payload)));
    const { opened } = replay(this.#mistake, {
      pattern: this.#pattern,
      suite: SUITE,
      prologue: this.#prologue,
      psk: PSK,
      client: { s: CLIENT_STATIC, e: CLIENT_EPHEMERAL },
      hub: { s: HUB_STATIC, e: HUB_EPHEMERAL },
      messages: this.#messages.map(bytes),
    });
    return opened === this.#messages.length;
  }

  write(): string {
    const message = this.#outcome().messages.at(-1)!;
    this.#messages.push(message);
    return message;
  }

  seal(count: number): Uint8Array[] {
    const { sendKey } = this.#outcome();
    const counter = (index: number): bigint =>
      this.#mistake.nonce === 'never-advanced' ? 0n : BigInt(index);
    return Array.from({ length: count }, (_, index) =>
      sealWith(this.#mistake, SUITE, sendKey, counter(index), new Uint8Array(0), HELLO),
    );
  }

  #outcome(): ReturnType<typeof handshakeWith> {
    const payloads = [hex(MESSAGE_1_PAYLOAD), hex(this.#message2Payload), ''];
    const isWriting = this.#messages.length % 2 === (this.#side === 'init' ? 0 : 1);
    const count = Math.min(this.#messages.length + (isWriting ? 1 : 0), this.#pattern === 'XXpsk2' ? 3 : 2);
    return handshakeWith(this.#mistake, this.#side, {
      pattern: this.#pattern,
      suite: SUITE,
      prologue: hex(this.#prologue),
      psk: hex(PSK),
      initStatic: hex(CLIENT_STATIC),
      initEphemeral: hex(CLIENT_EPHEMERAL),
      respStatic: hex(HUB_STATIC),
      respEphemeral: hex(HUB_EPHEMERAL),
      messages: Array.from({ length: count }, (_, index) => ({
        payload: payloads[index]!,
        message: this.#messages[index] ?? '',
      })),
    });
  }
}

/** A client with this mistake at our hub; what the hub recorded, explained. */
function faultyClient(mistake: Mistake, pattern: Pattern): Explanation {
  const lines: string[] = [];
  const hub = recordHubSession(
    {
      crypto: nodeCrypto,
      nodeId: NODE_ID,
      staticKey: HUB_STATIC,
      randomBytes: () => HUB_EPHEMERAL.slice(),
      psk: PSK,
      clientKey: pattern === 'KKpsk0' ? CLIENT_KEY : undefined,
    },
    { write: (line) => lines.push(line), ephemeralKey: true },
  );
  const [hello, offer] = hub.start().map((event) => parseEnvelope((event as { data: string }).data).payload);
  const client = new Faulty(
    mistake,
    pattern,
    'init',
    buildPrologue(hello!, offer!, protocolName(pattern, SUITE)),
  );
  let goesOn = client.read(hub.receive(shake({ pattern, suite: SUITE, msg: client.write() })));
  if (goesOn && pattern === 'XXpsk2') {
    goesOn = !hub.receive(shake({ msg: client.write() })).some(({ type }) => type === 'close');
  }
  if (goesOn) for (const message of client.seal(2)) hub.receive(message);
  hub.closed(1000);
  const recording = readRecording('hub', Buffer.from(lines.join('\n')));
  return explain({
    hub: recording,
    hubPsk: PSK,
    hubStatic: HUB_STATIC,
    derive: () => PSK,
    mistakenPsks: () => [],
  });
}

/** A hub with this mistake; what our client recorded, explained. */
function faultyHub(mistake: Mistake, pattern: Pattern, message2Payload?: Uint8Array): Explanation {
  const lines: string[] = [];
  const client = recordClientSession(
    {
      crypto: nodeCrypto,
      siteId: 'lobby',
      randomBytes: () => CLIENT_EPHEMERAL.slice(),
      keyring: {
        staticKey: CLIENT_STATIC,
        pins: pattern === 'KKpsk0' ? [{ nodeId: NODE_ID, key: HUB_KEY }] : [],
        psks: [{ nodeId: NODE_ID, key: PSK }],
      },
    },
    { write: (line) => lines.push(line), ephemeralKey: true },
  );
  const hello = { node_id: NODE_ID };
  const offer = { max_protocol_version: 3, noise: { patterns: ['XXpsk2', 'KKpsk0'], suites: [SUITE] } };
  const hub = new Faulty(
    mistake,
    pattern,
    'resp',
    buildPrologue(hello, offer, protocolName(pattern, SUITE)),
    message2Payload,
  );
  client.receive(writeEnvelope('hello', hello));
  let goesOn = hub.read(client.receive(writeEnvelope('shake', offer)));
  if (goesOn) {
    const events = client.receive(shake({ msg: hub.write() }));
    goesOn = client.state === 'ready' && (pattern === 'KKpsk0' || hub.read(events));
  }
  if (goesOn) for (const message of hub.seal(2)) client.receive(message);
  client.closed(1008);
  const recording = readRecording('client', Buffer.from(lines.join('\n')));
  return explain({
    client: recording,
    clientPsk: PSK,
    clientStatic: CLIENT_STATIC,
    derive: () => PSK,
    mistakenPsks: () => [],
  });
}

const SWAPPED = 'keys: es and se are swapped';
/** The same, if the payload is all that a side encrypts. */
const UNMIXED = 'hash: nothing is mixed into it after encrypting';

for (const [what, pattern, play, expected] of [
  ['client under XXpsk2', 'XXpsk2', faultyClient, 48],
  ['hub under XXpsk2', 'XXpsk2', faultyHub, 27],
  ['client under KKpsk0', 'KKpsk0', faultyClient, 54],
  ['hub under KKpsk0', 'KKpsk0', faultyHub, 13],
] as const) {
  test(`names the visible mistakes of a ${what}, and no others`, () => {
    let named = 0;
    const others: string[] = [];
    for (const mistake of MISTAKES) {
      const { cause } = play(mistake, pattern);
      // The session's own code names what was left out.
      const isShort = mistake.emptyPayload !== undefined || mistake.staticInClear === true;
      const isCode = isShort && cause?.name === 'bad-message';
      // Whose mistake it is follows from who wrote the message.
      const text = mistake.dhSwapped === undefined ? mistake.cause : SWAPPED;
      const isUnmixed = mistake.mixes === 'nothing-of-payload' && cause?.text.includes(UNMIXED);
      if (isCode || isUnmixed || cause?.text.includes(text)) named++;
      else if (cause?.certainty === 'certain') others.push(`${mistake.cause} => ${cause.name} ${cause.text}`);
    }
    assert.equal(others, []);
    assert.is(named, expected);
  });
}

test('names a static key in the clear in a message 2 whose payload makes up for the tag', () => {
  const mistake = MISTAKES.find(({ staticInClear }) => staticInClear)!;
  const { cause } = faultyHub(mistake, 'XXpsk2', Buffer.from('{"encoding":"json-b64"}'));
  assert.is(cause?.name, 'noise-mistake');
  assert.match(cause!.text, /s is sent in the clear/);
});

test.run();
