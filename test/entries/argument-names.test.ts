/**
 * An error about an argument starts with the argument’s name in quotes. That is all which the files for devices keep of a
 * message.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  assertBytes,
  assertFlag,
  assertObject,
  assertString,
  assertTime,
  readArgument,
  readOptions,
} from '../../src/arguments.ts';
import {
  authorizedUrl,
  brokerEndpoint,
  buildAction,
  buildCode,
  buildUtterance,
  clientId,
  createKeyring,
  deriveTopics,
  disclosureDue,
  dropPin,
  type HubEvent,
  JsonNumber,
  parseIdentity,
  parseJson,
  presence,
  RequestScheduler,
  readAuthorization,
  readSpeech,
  redactIdentity,
  selectEndpoint,
  serializeIdentity,
} from '../../src/index.ts';
import {
  buildPrologue,
  ConnectionPolicy,
  Reassembler,
  ReplyCollector,
  splitMessage,
} from '../../src/parts.ts';
import { detached, revoked } from '../world/hostile.ts';
import { raisesAbout } from '../world/raises.ts';

const given = (fields: object): never => fields as never;
const unreadable = (): never => given(revoked({}));
const UNKNOWN = given({ unknown: 1 });
const MQTT = { endpoint: 'mqtts://broker.example' };
const TEXT = { requestId: 'r1', text: 'Hello' };
const ACTION = { requestId: 'r1', payload: '/stop' };
const CODE = { requestId: 'r1', value: '1234' };
const EVENT: HubEvent = { type: 'speak', data: {}, requestId: 'r1', sessionId: undefined, payload: {} };
const collector = new ReplyCollector({ requestId: 'r1' });
const scheduler = new RequestScheduler();
const IDENTITY = parseIdentity({ access_key: 'ak', password: 'pw' });
const randomBytes = (length: number): Uint8Array => new Uint8Array(length);
const policy = new ConnectionPolicy({ randomBytes });

const FAULTS: [name: string, call: () => unknown][] = [
  // checks
  ['some', () => readArgument('some', () => Object.keys(unreadable()))],
  ['some', () => assertObject([], 'some')],
  ['some', () => assertTime('1', 'some')],
  ['some.unknown', () => readOptions(UNKNOWN, 'some', {} as never)],
  ['some', () => readOptions(unreadable(), 'some', {} as never)],
  ['some', () => assertBytes('aa', 'some')],
  ['some', () => assertBytes(new Uint8Array(1), 'some', 2)],
  ['some', () => assertString('', 'some')],
  ['some', () => assertFlag(1, 'some')],
  // JSON, prologue and messages
  ['token', () => new JsonNumber('one')],
  ['text', () => parseJson(given([]))],
  ['text', () => parseJson(unreadable())],
  ['text', () => parseJson(detached(1))],
  ['protocolName', () => buildPrologue({}, {}, '')],
  ['kind', () => splitMessage(given(['json']), new Uint8Array(0))],
  ['payload', () => splitMessage('json', given(['a']))],
  ['options', () => new Reassembler(unreadable())],
  ['maxMessage', () => new Reassembler({ maxMessage: -1 })],
  ['frame', () => new Reassembler().push(given([]))],
  // identities
  ['input', () => parseIdentity(unreadable())],
  ['identity', () => redactIdentity(unreadable())],
  ['identity', () => serializeIdentity(unreadable())],
  ['identity', () => serializeIdentity(unreadable(), { secrets: true })],
  ['secrets', () => serializeIdentity(IDENTITY, given({ secrets: 1 }))],
  ['identity', () => selectEndpoint(unreadable())],
  ['allowPlaintext', () => selectEndpoint(IDENTITY, given({ allowPlaintext: 1 }))],
  ['supported', () => selectEndpoint(IDENTITY, given({ supported: 'wss' }))],
  ['situation', () => disclosureDue({}, unreadable())],
  ['lastGiven', () => disclosureDue({}, given({ lastGiven: 'always' }))],
  ['language', () => disclosureDue({}, given({ lastGiven: 'never', language: 1 }))],
  ['url', () => authorizedUrl('', 'kiosk', 'key')],
  ['url', () => authorizedUrl('ws://hub', 'kiosk', 'key')],
  ['userAgent', () => authorizedUrl('wss://hub', '', 'key')],
  ['userAgent', () => authorizedUrl('wss://hub', 'a:b', 'key')],
  ['accessKey', () => authorizedUrl('wss://hub', 'kiosk', '')],
  ['allowPlaintext', () => authorizedUrl('wss://hub', 'kiosk', 'key', given({ allowPlaintext: 1 }))],
  ['url', () => readAuthorization(given([]))],
  // connections
  [
    'nodeId',
    () => dropPin(createKeyring({ accessKey: 'ak', staticKey: new Uint8Array(32).fill(1) }), given([])),
  ],
  ['randomBytes', () => new ConnectionPolicy(given({}))],
  ['onKkFailure', () => new ConnectionPolicy(given({ randomBytes, onKkFailure: 'drop' }))],
  ['basePause', () => new ConnectionPolicy({ randomBytes, basePause: 0 })],
  ['deadlines.ready', () => new ConnectionPolicy({ randomBytes, deadlines: given({ ready: 1 }) })],
  [
    'deadlines.awaiting-hello',
    () => new ConnectionPolicy({ randomBytes, deadlines: { 'awaiting-hello': 0 } }),
  ],
  ['now', () => policy.begin(Number.NaN)],
  ['now', () => policy.deadline('ready', Number.NaN)],
  ['now', () => policy.take({ type: 'ready' } as never, Number.NaN)],
  ['event', () => policy.take(given([]), 0)],
  ['event', () => policy.take(unreadable(), 0)],
  // MQTT
  ['mqtt', () => brokerEndpoint(unreadable())],
  ['allowPlaintext', () => brokerEndpoint(MQTT, given({ allowPlaintext: 1 }))],
  ['mqtt', () => deriveTopics(unreadable())],
  ['accessKey', () => deriveTopics(MQTT, { accessKey: '' })],
  ['name', () => clientId('', 'key')],
  ['accessKey', () => clientId('kiosk', '')],
  ['topics', () => presence(unreadable())],
  ['topics.status', () => presence({ status: '' })],
  // requests
  ...[buildUtterance, buildAction, buildCode].flatMap((build): [string, () => unknown][] => [
    ['request', () => build(given([]))],
    ['request', () => build(unreadable())],
  ]),
  ['text', () => buildUtterance({ ...TEXT, text: ' ' })],
  ['payload', () => buildAction({ ...ACTION, payload: ' ' })],
  ['title', () => buildAction({ ...ACTION, title: ' ' })],
  ['value', () => buildCode({ ...CODE, value: ' ' })],
  ['kind', () => buildCode({ ...CODE, kind: ' ' })],
  ['label', () => buildCode({ ...CODE, label: ' ' })],
  ['lang', () => buildUtterance({ ...TEXT, lang: ' ' })],
  ['requestId', () => buildUtterance({ ...TEXT, requestId: ' ' })],
  ['sessionId', () => buildUtterance({ ...TEXT, sessionId: ' ' })],
  ['siteId', () => buildUtterance({ ...TEXT, siteId: ' ' })],
  ['context', () => buildUtterance({ ...TEXT, context: given([]) })],
  ['context.session', () => buildUtterance({ ...TEXT, context: { session: [] } })],
  // replies
  ['requestId', () => new ReplyCollector({ requestId: ' ' })],
  ['sessionId', () => new ReplyCollector({ requestId: 'r1', sessionId: ' ' })],
  ['type', () => new ReplyCollector({ requestId: 'r1', type: ' ' })],
  ['message', () => collector.push(given([]), true)],
  ['message', () => collector.push(unreadable(), true)],
  ['message', () => collector.push({ ...EVENT, data: hostile('utterance') }, true)],
  ['message', () => collector.push({ ...EVENT, data: { utterance: 'x', table: hostile('rows') } }, true)],
  ['message', () => collector.owns(given([]), true)],
  ['event', () => readSpeech(given([]))],
  ['event', () => readSpeech({ ...EVENT, data: hostile('utterance') })],
  ['message', () => collector.push({ ...EVENT, ...DENIED, data: hostile('denied_type') }, true)],
  ['sessionId', () => new RequestScheduler({ sessionId: ' ' })],
  ['saysHandled', () => new RequestScheduler({ saysHandled: given([]) })],
  ['deadlines.unknown', () => new RequestScheduler({ deadlines: UNKNOWN })],
  ['deadlines.idle', () => new RequestScheduler({ deadlines: given({ idle: '1' }) })],
  ['envelope', () => scheduler.request({}, 0)],
  ['envelope', () => scheduler.request({ msg_type: 'bus', payload: { type: 'speak' } }, 0)],
  ['now', () => scheduler.request(buildUtterance(TEXT), given(['now']))],
  ['timeout', () => scheduler.request(buildUtterance(TEXT), 0, Number.NaN)],
  ['now', () => scheduler.noteSent(Number.NaN)],
  ['now', () => scheduler.receive('', Number.NaN)],
  ['now', () => scheduler.expire(Number.NaN)],
  ['now', () => scheduler.nextDeadline(Number.NaN)],
  ['now', () => scheduler.cancel('r1', Number.NaN)],
];

const DENIED = { type: 'hive.policy.denied', requestId: undefined };

/** An object with a field that cannot be read. */
function hostile(field: string): never {
  return Object.defineProperty({}, field, {
    enumerable: true,
    get() {
      throw new TypeError('hostile');
    },
  }) as never;
}

for (const [i, [name, call]] of FAULTS.entries()) {
  test(`an error about "${name}" starts with its name (${i})`, () => raisesAbout(name, call));
}

test('an error about a field of an identity names the field', () => {
  const FIELDS: [name: string, call: () => unknown][] = [
    ['mqtt', () => deriveTopics(given(['mqtt']))],
    ['hash_topics', () => deriveTopics({ topic_prefix: 'a', hash_topics: 'maybe' })],
    ['mqtt.topic_prefix', () => deriveTopics({ topic_prefix: 'a/#' })],
    ['mqtt.hub_id', () => deriveTopics({ hub_id: 'a/#', access_key: 'ak' })],
  ];
  for (const [name, call] of FIELDS) assert.throws(call, new RegExp(`field ${name} `));
  assert.throws(() => parseIdentity({}), / access_key /);
  assert.throws(() => parseIdentity({ access_key: 'ak' }), / password /);
});

test.run();
