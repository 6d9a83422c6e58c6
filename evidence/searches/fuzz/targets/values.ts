/** Every public function, with arguments that are right but for a part of one of them. */
import type { ReadBinary } from '../../../../src/binary.ts';
import * as library from '../../../../src/index.ts';
import * as parts from '../../../../src/parts.ts';
import { recordClientSession, recordHubSession } from '../../../../src/recording/recording.ts';
import type { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { hostile, spoiled } from '../hostile.ts';
import { ask, breach, type Outcome, read } from '../law.ts';

const KEY = new Uint8Array(32).fill(3);
const PEER = toyCrypto.x25519.publicKey(new Uint8Array(32).fill(5));
const noise = {
  crypto: toyCrypto,
  role: 'initiator' as const,
  pattern: 'XXpsk2' as const,
  suite: '25519_ChaChaPoly_SHA256' as const,
  prologue: new Uint8Array(3),
  psk: KEY,
  staticKey: KEY,
  randomBytes: (length: number): Uint8Array => new Uint8Array(length).fill(7),
};
const readBinary: ReadBinary = (bytes) => ({ type: 'message', kind: 'binary', bytes });
const client = {
  crypto: toyCrypto, siteId: 'lobby', randomBytes: noise.randomBytes, hello: { a: 1 }, encodings: ['a'],
  binarize: true, readBinary, patterns: ['XXpsk2'], trust: 'first-use', onKkFailure: 'replace-pin', maxMessage: 99,
  inPlace: true, paced: false,
  keyring: {
    staticKey: KEY, staticKeyIsFresh: true,
    pins: [{ nodeId: 'hub-1', key: PEER }], psks: [{ nodeId: 'hub-1', key: KEY }],
  },
}; // biome-ignore format: options
const hub = {
  crypto: toyCrypto, nodeId: 'hub-1', staticKey: KEY, randomBytes: noise.randomBytes, psk: KEY, clientKey: PEER,
  patterns: ['XXpsk2', 'KKpsk0'], suites: ['25519_ChaChaPoly_SHA256'], hello: { a: 1 }, handshake: { b: [1] },
  maxMessage: 99, inPlace: true, readBinary,
}; // biome-ignore format: options
const issued = {
  access_key: 'ak', password: 'pw', site_id: 'lobby', default_master: 'wss://hub', default_port: 5678,
  protocols: { wss: true, mqtt: true }, data_plane_endpoints: { wss: 'wss://hub/w', mqtt: 'mqtts://broker' },
  mqtt: { username: 'u', password: 'p', tls: true, endpoint: 'mqtts://broker:8883', topic_prefix: 'hivemind/u', hub_id: 'h' },
  ai_disclosure: { en: 'an assistant', fr: 'un assistant' },
}; // biome-ignore format: fields
const keyring = library.storePsk(
  library.createKeyring({ accessKey: 'ak', staticKey: KEY, crypto: toyCrypto }),
  'hub-1',
  KEY,
);
const request = {
  text: 'hello',
  requestId: 'r',
  sessionId: 's',
  siteId: 'l',
  lang: 'en',
  context: { session: { a: 1 } },
};
const policy = {
  randomBytes: noise.randomBytes,
  basePause: 10,
  maxPause: 100,
  steadyAfter: 10,
  deadlines: { 'awaiting-offer': 5 },
};
const argon = {
  crypto: { blake2b: (length: number) => new Uint8Array(length) }, password: 'p', salt: new Uint8Array(8), passes: 1, memoryKiB: 8,
  parallelism: 1, length: 4, secret: new Uint8Array(1), associatedData: new Uint8Array(1),
}; // biome-ignore format: options
const ended = {
  type: 'ended',
  reason: 'refused',
  retry: 'later',
  error: new library.RemoteError('refused', 'x'),
  pattern: 'KKpsk0',
};

type Call = readonly [call: (...args: never[]) => unknown, args: readonly unknown[]];

const make =
  (Made: new (...args: never[]) => object) =>
  (...args: never[]): object =>
    new Made(...args);

/** A method of a new object. */
const on =
  <T extends object>(create: () => T, call: (object: T, ...args: never[]) => unknown) =>
  (...args: never[]): unknown =>
    call(create(), ...args);

/** Functions whose arguments come from this side. They may throw LocalErrors only. */
export const LOCAL: { readonly [name: string]: Call } = {
  ClientSession: [make(parts.ClientSession), [client]],
  HubSession: [make(library.HubSession), [hub]],
  HandshakeState: [make(parts.HandshakeState), [noise]],
  ConnectionPolicy: [make(parts.ConnectionPolicy), [policy]],
  'policy.begin': [on(() => new parts.ConnectionPolicy(policy), (own, now) => own.begin(now)), [1]],
  'policy.take': [on(() => new parts.ConnectionPolicy(policy), (own, event, now) => own.take(event, now)), [ended, 1]],
  'policy.deadline': [on(() => new parts.ConnectionPolicy(policy), (own, state, now) => own.deadline(state, now)), ['ready', 1]],
  RequestScheduler: [make(library.RequestScheduler), [{ sessionId: 's', deadlines: { idle: 1 }, saysHandled: true }]],
  ReplyCollector: [make(parts.ReplyCollector), [{ requestId: 'r', sessionId: 's', type: 't' }]],
  'scheduler.request': [on(() => new library.RequestScheduler(), (own, envelope, now) => own.request(envelope, now)), [library.buildUtterance(request), 1]],
  'scheduler.receive': [on(() => new library.RequestScheduler(), (own, text, now) => own.receive(text, now)), ['{}', 1]],
  'scheduler.cancel': [on(() => new library.RequestScheduler(), (own, id, now) => own.cancel(id, now)), ['r', 1]],
  Reassembler: [make(parts.Reassembler), [{ maxMessage: 5, streams: true }]],
  'handshake.write': [on(() => new parts.HandshakeState(noise), (own, payload) => own.writeMessage(payload)), [KEY]],
  buildUtterance: [library.buildUtterance, [request]],
  buildAction: [library.buildAction, [{ ...request, payload: '/x', title: 't' }]],
  buildCode: [library.buildCode, [{ ...request, value: '4711', kind: 'qr', label: 'serial' }]],
  canonicalJson: [library.canonicalJson, [{ a: [1, 'x', { b: null }] }]],
  buildPrologue: [parts.buildPrologue, [{ node_id: 'x' }, { a: 1 }, 'Noise_XXpsk2_25519_ChaChaPoly_SHA256']],
  splitMessage: [parts.splitMessage, ['json', new Uint8Array(5)]],
  protocolName: [parts.protocolName, ['XXpsk2', '25519_ChaChaPoly_SHA256']],
  parseIdentity: [library.parseIdentity, [issued]],
  redactIdentity: [library.redactIdentity, [issued]],
  serializeIdentity: [library.serializeIdentity, [issued, { secrets: true }]],
  selectEndpoint: [library.selectEndpoint, [issued, { supported: ['wss', 'mqtt'], requested: 'mqtt', allowPlaintext: true }]],
  authorizedUrl: [library.authorizedUrl, ['wss://hub/p?a=1', 'agent', 'ak', { allowPlaintext: false }]],
  readAuthorization: [library.readAuthorization, ['/?authorization=YTpi']],
  disclosureDue: [library.disclosureDue, [{ aiDisclosure: issued.ai_disclosure }, { lastGiven: 'never', language: 'fr', isVoice: true, isShared: true }]],
  deriveTopics: [library.deriveTopics, [issued.mqtt, { accessKey: 'ak' }]],
  brokerEndpoint: [library.brokerEndpoint, [issued.mqtt, { allowPlaintext: true }]],
  clientId: [library.clientId, ['kiosk', 'ak']],
  presence: [library.presence, [{ status: 'hivemind/u/status' }]],
  createKeyring: [library.createKeyring, [{ accessKey: 'ak', staticKey: KEY, crypto: toyCrypto }]],
  updateKeyring: [library.updateKeyring, [keyring, { type: 'pin', nodeId: 'hub-2', key: PEER }]],
  storePsk: [library.storePsk, [keyring, 'hub-2', KEY, { isProvisioned: true }]],
  forgetPsks: [library.forgetPsks, [keyring]],
  dropPin: [library.dropPin, [keyring, 'hub-1']],
  pinHub: [library.pinHub, [keyring, 'hub-1', PEER]],
  fingerprint: [library.fingerprint, [KEY]],
  serializeKeyring: [library.serializeKeyring, [keyring]],
  parseKeyring: [library.parseKeyring, [library.serializeKeyring(keyring), 'ak']],
  argon2id: [parts.argon2id, [argon]],
  Argon2id: [make(parts.Argon2id), [argon]],
  recordClientSession: [recordClientSession, [client, { write: () => {}, ephemeralKey: true }]],
  recordHubSession: [recordHubSession, [hub, { write: () => {}, ephemeralKey: true }]],
  sessionIdsMatch: [parts.sessionIdsMatch, ['a', 'b']],
}; // biome-ignore format: one call a line

/** Functions that read what a peer wrote. */
const REMOTE: { readonly [name: string]: Call } = {
  selectNoise: [parts.selectNoise, [{ patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] }, { suites: ['25519_ChaChaPoly_SHA256'], pinned: false }]],
  parseJson: [library.parseJson, ['{"a":1}']],
  'handshake.read': [
    on(() => new parts.HandshakeState({ ...noise, role: 'responder' }), (own, message) => own.readMessage(message)),
    [new Uint8Array(48)],
  ],
  'reassembler.push': [on(() => new parts.Reassembler(), (own, frame) => own.push(frame)), [new Uint8Array([1, 2])]],
  readHubEvent: [library.readHubEvent, ['{"msg_type":"bus","payload":{"type":"speak"}}']],
  readRefusal: [library.readRefusal, [{ type: 'hive.policy.denied', data: { code: 'x', data: { limit: 1 } } }]],
}; // biome-ignore format: one call a line

/** Functions that no argument can make throw. */
const NEVER_THROW = ['readHubEvent', 'readRefusal'];
const LOCAL_NAMES = Object.keys(LOCAL);
const REMOTE_NAMES = Object.keys(REMOTE);

export function values(random: Random): void {
  const isLocal = !random.oneIn(8);
  const name = random.pick(isLocal ? LOCAL_NAMES : REMOTE_NAMES);
  const [call, args] = (isLocal ? LOCAL : REMOTE)[name]!;
  const given = random.oneIn(6) ? args.map(() => hostile(random)) : spoiled(random, args);
  const run = (): unknown => call(...(given as never[]));
  const outcome: Outcome<unknown> = isLocal ? ask(name, run) : read(name, run);
  if (outcome.error !== undefined && NEVER_THROW.includes(name)) breach(`${name} threw`, outcome.error);
  if ('polluted' in {}) breach(`${name} changed Object.prototype`);
}
