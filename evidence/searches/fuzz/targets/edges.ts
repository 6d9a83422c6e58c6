/**
 * The edges, which are what people run: what authenticated clients send to the example hub, and a device's events at the bridge. Nothing
 * ends the process, and nothing raw reaches a terminal.
 */
import { ServedConnection, share } from '../../../../client/src/hub-connection.ts';
import { eventIn } from '../../../../examples/bridge/bridge.ts';
import { nodeCrypto } from '../../../../src/crypto/node.ts';
import { ClientSession, ConnectionPolicy } from '../../../../src/parts.ts';
import { type Random, seeded } from '../../../../test/world/random.ts';
import { ask, breach, tally } from '../law.ts';
import { anyJson, anyText, mutatedJson, mutatedText } from '../mutate.ts';

const PSK = new Uint8Array(32).fill(5);
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
  for (let i = 0; i < 40; i++) deviceEvent(random);
  client(random);
}

/** Counts an input, which has to be read without an error. */
function count<T>(what: string, run: () => T): T {
  tally.inputs++;
  try {
    return run();
  } catch (error) {
    return breach(`${what} threw`, error);
  }
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
