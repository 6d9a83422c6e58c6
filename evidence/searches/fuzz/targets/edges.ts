/**
 * The edges, which are what people run: what strangers and authenticated clients send to the example hub, a device's
 * events at the bridge, recordings that explain() reads, answers of an adapter that the judge reads. Nothing ends the process, and
 * nothing raw reaches a terminal.
 */
import { CannotRun } from '../../../../cli/src/command.ts';
import { toText } from '../../../../cli/src/commands/explain.ts';
import { explain } from '../../../../cli/src/explain/explain.ts';
import { readRecording } from '../../../../cli/src/explain/recording.ts';
import { ServedConnection, share } from '../../../../client/src/hub-connection.ts';
import { eventIn } from '../../../../examples/bridge/bridge.ts';
import { AdapterError, parseResponse } from '../../../../judge/src/adapter.ts';
import { printable } from '../../../../judge/src/printable.ts';
import { nodeCrypto } from '../../../../src/crypto/node.ts';
import { HubSession, readAuthorization } from '../../../../src/index.ts';
import { ClientSession, ConnectionPolicy } from '../../../../src/parts.ts';
import { recordClientSession } from '../../../../src/recording/recording.ts';
import { type Random, seeded } from '../../../../test/world/random.ts';
import { ask, breach, tally } from '../law.ts';
import { anyJson, anyText, mutatedJson, mutatedText } from '../mutate.ts';

const PSK = new Uint8Array(32).fill(5);
const OTHER_PSK = new Uint8Array(32).fill(6);
const HUB_STATIC = new Uint8Array(32).fill(2);
const NODE_ID = 'hub-1';
/** The same in each run, so that a case can be run again. */
const randomBytes = seeded(1);
const CLIENT = {
  crypto: nodeCrypto,
  siteId: 'lobby',
  randomBytes,
  keyring: { staticKey: new Uint8Array(32).fill(1), psks: [{ nodeId: NODE_ID, key: PSK }] },
};
const CALLER = { is: 'known', accessKey: 'kiosk', client: { psk: PSK } } as const;
/** What moves the cursor of a terminal, or turns its text around. */
const RAW = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function edges(random: Random): void {
  for (let i = 0; i < 40; i++) requestLine(random);
  for (let i = 0; i < 40; i++) deviceEvent(random);
  for (let i = 0; i < 20; i++) answer(random);
  for (let i = 0; i < 4; i++) recording(random);
  client(random);
}

/** Counts an input. What it throws has to be of this class, and printable. */
function count<T>(what: string, run: () => T, allowed?: new (message: string) => Error): T | undefined {
  tally.inputs++;
  try {
    return run();
  } catch (error) {
    if (allowed === undefined || !(error instanceof allowed)) breach(`${what} threw`, error);
    if (RAW.test(printable(error.message))) breach(`${what}: the error is raw`, error);
    return undefined;
  }
}

const PATHS = ['//', '///', '//[', '/?authorization=', '/?authorization=%', '/?authorization=bGFtcDpr'];

function requestLine(random: Random): void {
  const path = random.oneIn(4) ? anyText(random, 40) : random.pick(PATHS);
  count('a request line', () => readAuthorization(random.oneIn(2) ? path : mutatedText(random, path)));
}

/** A client that holds the password, and says whatever it likes once the session is encrypted. */
function client(random: Random): void {
  const shared = share({
    nodeId: NODE_ID,
    staticKey: HUB_STATIC,
    clients: new Map([['kiosk', CALLER.client]]),
    answer(utterance) {
      if (typeof utterance !== 'string') breach('an utterance is not a text');
      return utterance;
    },
    onFault: (error) => breach('a message of a client threw at the hub', error),
  });
  const sent: (string | Uint8Array)[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  const write = (data: string | Uint8Array): void => void sent.push(data);
  const hub = ServedConnection.of(CALLER, shared, { write, close: end, cut: end, unsent: () => 0 })!;
  hub.start();
  const hello = random.oneIn(2) ? { session: { session_id: random.pick([1, 'mine', null, {}]) } } : undefined;
  const session = new ClientSession({ ...CLIENT, hello });
  const deliver = (data: string | Uint8Array): void => {
    tally.inputs++;
    hub.receive(data);
  };
  const exchange = (): void => {
    while (sent.length > 0) {
      for (const event of session.receive(sent.shift()!)) if (event.type === 'transmit') deliver(event.data);
    }
  };
  exchange();
  if (session.state !== 'ready') breach(`the client is ${session.state}`);
  for (let i = 200; i > 0; i--) {
    const sealed = ask('send', () =>
      random.oneIn(20)
        ? session.sendBinary(random.bytes(random.length(300)))
        : session.sendJson(JSON.stringify(said(random))),
    );
    if (sealed.error === undefined) sealed.value.forEach(deliver); // what is not JSON is not sent
    exchange();
    if (isOver) breach('the hub hung up on a client that broke no rule');
  }
  hub.closed(1000);
}

function said(random: Random): unknown {
  const context = random.oneIn(3) ? anyJson(random) : { session: { session_id: anyJson(random, 1) } };
  const data = {
    utterances: random.oneIn(3) ? anyJson(random) : [random.oneIn(2) ? 'hi' : anyJson(random, 2)],
  };
  const type = random.oneIn(4) ? anyText(random, 10) : 'recognizer_loop:utterance';
  const message = { msg_type: 'bus', payload: { type, data, context } };
  return random.oneIn(3) ? mutatedJson(random, message) : message;
}

const DEVICE_EVENTS = [
  'null',
  '{"state":"ready","type":"ready"}',
  '{"state":"closed","type":"ended","retry":"never","reason":"refused","error":{"code":"psk-differs"}}',
  '[]',
];

function deviceEvent(random: Random): void {
  const text = mutatedText(random, random.pick(DEVICE_EVENTS));
  const event = count('an event of a device', () => eventIn(text));
  if (event === undefined) return;
  if (RAW.test(JSON.stringify(event))) breach('an event of a device is raw');
  const policy = new ConnectionPolicy({ randomBytes });
  policy.begin(0);
  count('the policy', () => {
    policy.deadline(event.state, 1);
    const decision = policy.take(event, 1);
    if (decision?.do === 'ask') decision.error.code.trim();
  });
}

const RESPONSES = [
  '{"id":1,"declined":true}',
  '{"id":1,"error":"refused"}',
  '{"id":1,"events":[{"type":"ready"}]}',
  '[]',
  'null',
];

function answer(random: Random): void {
  count('an answer', () => parseResponse(mutatedText(random, random.pick(RESPONSES))), AdapterError);
}

let recorded: readonly string[] | undefined;

/** The lines of a handshake in which the hub has another PSK. */
function record(): readonly string[] {
  const lines: string[] = [];
  const session = recordClientSession(CLIENT, { write: (line) => lines.push(line) });
  const hub = new HubSession({
    crypto: nodeCrypto,
    randomBytes,
    nodeId: NODE_ID,
    staticKey: HUB_STATIC,
    psk: OTHER_PSK,
  });
  for (const greeting of hub.start()) {
    if (greeting.type !== 'transmit') continue;
    for (const sent of session.receive(greeting.data)) {
      if (sent.type !== 'transmit') continue;
      for (const reply of hub.receive(sent.data)) if (reply.type === 'transmit') session.receive(reply.data);
    }
  }
  session.closed(1008);
  return lines;
}

function recording(random: Random): void {
  recorded ??= record();
  const changed = recorded.map((line) => (random.oneIn(3) ? mutatedText(random, line) : line));
  if (random.oneIn(3)) changed.splice(random.below(changed.length), 1);
  const text = random.oneIn(8) ? anyText(random, 200) : changed.join('\n');
  const shown = count(
    'a recording',
    () => {
      const read = readRecording('client.jsonl', Buffer.from(text));
      return toText(explain({ [read.role]: read, derive: () => PSK }));
    },
    CannotRun,
  );
  if (shown !== undefined && RAW.test(printable(shown))) breach('what explain prints is raw');
}
