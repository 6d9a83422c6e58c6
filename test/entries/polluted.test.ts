/**
 * A polluted Object.prototype: a program that merges untrusted JSON carelessly lets others add fields to every object. They
 * must not become options that the caller did not give.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto, randomBytes } from '../../src/crypto/node.ts';
import type { SelectedEndpoint } from '../../src/index.ts';
import * as hub from '../../src/index.ts';
import * as parts from '../../src/parts.ts';
import { Reassembler } from '../../src/wire/reassembler.ts';

const ISSUED = { access_key: 'kiosk-7', password: 'correct horse', default_master: 'wss://hub.example' };
const BARE = { access_key: 'kiosk-7', password: 'correct horse' };
const KEY = new Uint8Array(32).fill(7);
const KEYRING = hub.createKeyring({ accessKey: 'kiosk-7', staticKey: KEY, crypto: nodeCrypto });
const SESSION = { crypto: nodeCrypto, randomBytes, siteId: 'lobby', keyring: KEYRING };
const LITERAL = { ...SESSION, keyring: { staticKey: KEY } };
const REQUEST = { requestId: 'r1', text: 'hello' };
const ASKED = { requestId: 'r1', payload: '/ask' };
const SCANNED = { requestId: 'r1', value: 'A1' };
const HEARD = { lastGiven: 'earlier-session' } as const;
const TEXTS = { aiDisclosure: { en: 'You are talking to an AI.' } };

/** Calls whose outcome may depend on a field that the caller left out. */
const CALLS: readonly [field: string, value: unknown, what: string, call: () => unknown][] = [
  ['allowPlaintext', true, 'authorizedUrl', () => hub.authorizedUrl('ws://hub.example', 'lamp', 'kiosk-7')],
  ['allowPlaintext', true, 'brokerEndpoint', () => hub.brokerEndpoint({ endpoint: 'mqtt://b.example' })],
  ['allowPlaintext', true, 'selectEndpoint', () => endpoint({ ...BARE, default_master: 'ws://hub.example' })],
  ['requested', 'https', 'selectEndpoint', () => endpoint(ISSUED)],
  ['wss', 'wss://other.example', 'selectEndpoint', () => endpoint(ISSUED)],
  ['defaultMaster', 'wss://other.example', 'selectEndpoint', () => endpoint(BARE)],
  [
    'mqtt',
    { endpoint: 'mqtts://other.example' },
    'selectEndpoint',
    () => endpoint({ ...BARE, protocols: { mqtt: 1 } }),
  ],
  ['secrets', true, 'serializeIdentity', () => hub.serializeIdentity(hub.parseIdentity(ISSUED))],
  [
    'accessKey',
    'other',
    'deriveTopics',
    () => hub.deriveTopics({ username: 'u', hub_id: 'h', topic_prefix: 'p' }),
  ],
  ['isProvisioned', true, 'storePsk', () => hub.serializeKeyring(hub.storePsk(KEYRING, 'hub-1', KEY))],
  ['onKkFailure', 'keep-pin', 'ConnectionPolicy', () => new parts.ConnectionPolicy({ randomBytes }).begin(0)],
  ['deadlines', { 'awaiting-hello': 1 }, 'ConnectionPolicy', () => firstDeadline()],
  ['awaiting-hello', 1, 'ConnectionPolicy', () => firstDeadline()],
  ['paced', true, 'ClientSession', () => new parts.ClientSession(SESSION).state],
  ['pins', [{}], 'ClientSession', () => new parts.ClientSession(LITERAL).state],
  ['psks', [{}], 'ClientSession', () => new parts.ClientSession(LITERAL).state],
  ['staticKeyIsFresh', 1, 'ClientSession', () => new parts.ClientSession(LITERAL).state],
  ['status', 401, 'closed', () => codeAfter({ code: 1006 })],
  ['code', 1008, 'closed', () => codeAfter({ reason: 'why' })],
  ['maxMessage', 0, 'Reassembler', () => new Reassembler({}).push(Uint8Array.of(0, 0x7b, 0x7d))],
  ['lang', 'xx', 'buildUtterance', () => hub.buildUtterance(REQUEST)],
  ['sessionId', 'other', 'buildUtterance', () => hub.buildUtterance(REQUEST)],
  ['siteId', 'other', 'buildUtterance', () => hub.buildUtterance(REQUEST)],
  ['context', { request_id: 'r2', more: 1 }, 'buildUtterance', () => hub.buildUtterance(REQUEST)],
  ['site_id', 'other', 'buildUtterance', () => hub.buildUtterance({ ...REQUEST, siteId: 'lobby' })],
  ['title', 'other', 'buildAction', () => hub.buildAction(ASKED)],
  ['exact', true, 'buildAction', () => hub.buildAction(ASKED)],
  ['kind', 'qr', 'buildCode', () => hub.buildCode(SCANNED)],
  ['label', 'other', 'buildCode', () => hub.buildCode(SCANNED)],
  ['set', () => 7, 'parseIdentity', () => hub.parseIdentity(ISSUED).accessKey],
  ['set', () => 7, 'selectEndpoint', () => endpoint({ ...BARE, default_master: 'ws://hub.example' })],
  ['get', () => 7, 'parseIdentity', () => hub.parseIdentity(ISSUED).accessKey],
  ['language', 'fr', 'disclosureDue', () => hub.disclosureDue(TEXTS, { lastGiven: 'never' })],
  ['isVoice', true, 'disclosureDue', () => hub.disclosureDue(TEXTS, HEARD)],
  ['isShared', true, 'disclosureDue', () => hub.disclosureDue(TEXTS, HEARD)],
  ['aiDisclosure', 'other', 'disclosureDue', () => hub.disclosureDue({}, { lastGiven: 'never' })],
  ['fr', 'autre', 'disclosureDue', () => hub.disclosureDue(TEXTS, { lastGiven: 'never', language: 'fr' })],
];

function endpoint(issued: object): SelectedEndpoint {
  return hub.selectEndpoint(hub.parseIdentity(issued));
}

function firstDeadline(): number | undefined {
  const policy = new parts.ConnectionPolicy({ randomBytes });
  policy.begin(0);
  return policy.deadline('awaiting-hello', 0);
}

function codeAfter(closing: hub.Closing): unknown {
  const [event] = new parts.ClientSession(SESSION).closed(closing);
  return event?.type === 'ended' && event.error?.code;
}

/** What a call returns or throws, as JSON: what it inherits is not compared. */
function outcomeOf(call: () => unknown): string | undefined {
  try {
    return JSON.stringify(call());
  } catch (error) {
    return `throws ${(error as hub.LocalError).code}`;
  }
}

function polluted<T>(field: string, value: unknown, run: () => T): T {
  Object.defineProperty(Object.prototype, field, { value, configurable: true, writable: true });
  try {
    return run();
  } finally {
    delete (Object.prototype as { [field: string]: unknown })[field];
  }
}

for (const [field, value, what, call] of CALLS) {
  test(`${what} does not take ${field} from Object.prototype`, () => {
    const clean = outcomeOf(call);
    assert.is.not(clean, 'throws undefined');
    assert.is(
      polluted(field, value, () => outcomeOf(call)),
      clean,
    );
  });
}

test('reads fields of a closing, such as a CloseEvent, from its class', () => {
  class Closed {
    get status(): number {
      return 401;
    }
  }
  assert.is(codeAfter(new Closed() as hub.Closing), 'access-refused');
});

test('accepts an own field whose value equals the inherited one', () => {
  assert.is(
    polluted('status', 401, () => codeAfter({ status: 401 })),
    'access-refused',
  );
});

test.run();
