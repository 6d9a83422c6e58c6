/** What breaks the rules of docs/reference/protocol.md about whole connections: handshake, order, endings, pins and policy. */
import { type Breakage, broken, live, none, same } from './breakage.ts';

const CLIENT = 'src/session/client-handshake.ts';
const HUB = 'src/session/hub-handshake.ts';
const HUB_OPTIONS = 'src/session/hub-options.ts';
const SESSION = 'src/session/channel.ts';
const TRANSITIONS = 'src/session/transitions.ts';
const ENDINGS = 'src/session/endings.ts';
const PAYLOADS = 'src/wire/handshake.ts';
const GREETING = 'const greeting = mergeFields({ pubkey: null, session }, hello);';

export const SESSION_RULES: { readonly [rule: string]: Breakage } = {
  // Connecting
  'P-1': broken('the client is the responder', [CLIENT, 'isInitiator: true,', 'isInitiator: false,']),
  'P-6': broken('a hub sends its envelopes as bytes', [
    HUB,
    'data: this.greeting[i]!',
    'data: utf8ToBytes(this.greeting[i]!)',
  ]),
  'P-7': broken('bytes are never an envelope', [
    SESSION,
    'else {\n      const envelope',
    "else if (typeof data === 'string') {\n      const envelope",
  ]),
  'P-8': broken('a connection is closed with 1000', [
    SESSION,
    'this.cipherStates === undefined ? 1008 : 1002',
    'this.cipherStates === undefined ? 1000 : 1002',
  ]),
  'P-10': broken('an established session is closed with 1008', [
    SESSION,
    'this.cipherStates === undefined ? 1008 : 1002',
    '1008',
  ]),
  'P-158': broken('a close code of 1008 tells a hub of a refusal', [
    ENDINGS,
    "  { close: 'timeout', reason: 'timeout', retry: 'never', error: 'timeout' },\n",
    "  { close: 'timeout', reason: 'timeout', retry: 'never', error: 'timeout' },\n  { close: 'refusal', reason: 'refused', retry: 'never', error: 'refused' },\n",
  ]),

  // HELLO and the offer
  'P-32': live('hub-offers-no-xx'),
  'P-33': broken('KKpsk0 is offered to everybody', [
    HUB_OPTIONS,
    "(name) => name !== 'KKpsk0' || clientKey !== undefined,",
    "(name) => name !== 'KKpsk0' || clientKey !== null,",
  ]),
  'P-162': broken('an offer without what is required has the code of another fault', [
    'src/session/negotiation.ts',
    'errors.incompleteOffer(OFFERED_PATTERNS, OFFERED_SUITES)',
    'errors.notOffered()',
  ]),
  'P-38': same('any-pattern-accepted'),
  'P-40': none('without an offer there is no prologue, so a client has nothing to send'),

  // The PSK

  // The handshake
  'P-60': broken('message 1 names an encoding', [
    'src/session/client-options.ts',
    'encodings: encodings ?? [],',
    "encodings: encodings ?? ['JSON-HEX'],",
  ]),
  'P-62': broken('an encoding of null is refused', [
    PAYLOADS,
    "ownField(payload, 'encoding') ?? undefined;",
    "ownField(payload, 'encoding');",
  ]),
  'P-63': broken('message 2 has an empty payload', [
    HUB,
    "const MESSAGE_2_PAYLOAD = utf8ToBytes('{}');",
    "const MESSAGE_2_PAYLOAD = utf8ToBytes('');",
  ]),
  'P-64': same('pattern-in-message-3'),
  'P-66': broken('message 3 leaves before the pin is compared', [
    CLIENT,
    'const isPinned = pin !== undefined && equalBytes(pin, key);',
    'const isPinned = pin !== undefined && equalBytes(pin, key);\n    if (pin !== undefined && !isPinned) this.sendNoise({ msg: bytesToHex(this.handshake!.writeMessage(EMPTY)!) });',
  ]),
  'P-67': broken('a client sends no HELLO after the handshake', [
    CLIENT,
    "for (let i = 0; i < messages.length; i++) channel.emit({ type: 'transmit', data: messages[i]! });",
    '',
  ]),
  'P-68': broken('another client key is closed with 1002', [
    SESSION,
    'this.cipherStates === undefined ? 1008 : 1002',
    "this.cipherStates === undefined && (error as { code?: string }).code !== 'client-key-changed' ? 1008 : 1002",
  ]),
  'P-69': same('ready-at-message-2'),
  'P-70': broken('the encoding in message 2 is not told', [
    CLIENT,
    'encoding: this.encoding,',
    'encoding: undefined,',
  ]),
  'P-71': same('psk0-instead-of-psk2'),

  // Messages
  'P-91': broken('the client’s HELLO is a binary message', [
    CLIENT,
    "channel.seal('json',",
    "channel.seal('binary',",
  ]),
  'P-92': same('client-names-no-site'),
  'P-157': broken('an id is added to a session without one', [
    CLIENT,
    GREETING,
    'const greeting = mergeFields({ pubkey: null, session }, hello);\n    if (isJsonObject(greeting.session)) greeting.session = mergeFields(session, greeting.session);',
  ]),
  'P-94': broken('every message is looked at for a HELLO', [HUB, 'this.expectsHello = false;', '']),
  'P-95': broken('any string is sent as JSON', [
    SESSION,
    '    if (parseByEngine(content) === undefined) readJson(payloadOf(bytes), true);\n',
    '',
  ]),

  // Order and repeats
  'P-101': same('text-delivered-after-ready'),
  'P-103': broken('bytes that begin like JSON end the session', [
    SESSION,
    '(mayBeJson(data) && !isNoObject(data))) {\n      const input = lateInputOf(data);',
    'mayBeJson(data)) {\n      const input = lateInputOf(data);\n      if (input === undefined) throw errors.textAfterReady();',
  ]),

  // Failures and endings
  'P-104': broken('a session that failed goes on reading', [SESSION, 'if (this.isOver()) return;', '']),
  'P-105': broken('the code of the failure is sent before the end', [
    SESSION,
    "this.emit({ type: 'close', code, error: this.fail(error) });",
    "const failure = this.fail(error);\n      this.emit({ type: 'transmit', data: failure.code });\n      this.emit({ type: 'close', code, error: failure });",
  ]),
  'P-106': broken('1005 is a refusal', [
    ENDINGS,
    'return code === 1008',
    'return code === 1005 || code === 1008',
  ]),
  'P-107': broken('a client waits after a loss', [
    ENDINGS,
    "{ close: 'loss', reason: 'dropped', retry: 'now', error: 'dropped' },",
    "{ close: 'loss', reason: 'dropped', retry: 'later', error: 'dropped' },",
  ]),
  'P-108': broken('the close counts, not the error before it', [
    SESSION,
    'failure === undefined\n        ? side.ended(',
    'failure !== null\n        ? side.ended(',
  ]),
  'P-109': broken('a timeout makes the pin suspect', [
    ENDINGS,
    "{ close: 'timeout', reason: 'timeout', retry: 'later', error: 'timeout' },",
    "{ close: 'timeout', reason: 'timeout', retry: 'later', error: 'timeout', doubtsPin: true },",
  ]),
  'P-161': broken('every pause has the same limit', [
    'src/policy/connection-policy.ts',
    'this.limit = 2 * limit;',
    'this.limit = limit;',
  ]),
  'P-184': broken('inputs are not held while a keyring is being stored', [
    'src/link/machine.ts',
    'while (!this.store.isBusy && this.step(now));',
    'while (this.step(now));',
  ]),

  // Keys, pins and the PSK
  'P-110': same('any-client-key'),
  'P-111': broken('a client pins nothing', [
    CLIENT,
    'if (!isPinned || isSuspect) {',
    'if (isPinned && isSuspect) {',
  ]),
  'P-112': same('pin-not-compared'),
  'P-113': same('any-client-key'),
  'P-114': live('client-repeats-a-failed-kk'),
  'P-115': broken('a suspect pin is always replaced', [
    CLIENT,
    '!(isSuspect && this.plan!.replacesPins)',
    '!isSuspect',
  ]),
  'P-116': broken('a refusal of KKpsk0 says nothing about the pin', [
    ENDINGS,
    "{ state: AWAITING_MESSAGE_2, reason: 'refused', retry: 'now', error: 'kk-refused', doubtsPin: true },",
    "{ state: AWAITING_MESSAGE_2, reason: 'refused', retry: 'later', error: 'kk-refused' },",
  ]),
  'P-117': broken('a failed KKpsk0 casts doubt on the PSK', [
    CLIENT,
    'this.doubtPin();\n      return errors.kkFailed();',
    "this.doubtPin();\n      this.channel.emit({ type: 'psk-suspect', nodeId: this.nodeId });\n      return errors.kkFailed();",
  ]),
  'P-118': broken('a PSK that does not open message 2 is not in doubt', [
    CLIENT,
    "this.channel.emit({ type: 'psk-suspect', nodeId: this.nodeId });",
    '',
  ]),
  'P-169': broken('a PSK is told before it is proved', [
    CLIENT,
    'this.derivedPsk = copyBytes(psk);',
    'this.channel.emit(pskEvent(this.nodeId, copyBytes(psk)));',
  ]),
  'P-119': none(
    'the program stores PSKs; test/keyring/keyring.test.ts holds the rule for this library’s keyring',
  ),
  'P-120': none(
    'the program reads its pins; test/keyring/keyring-text.test.ts holds the rule for this library’s keyring',
  ),
  'P-123': none('memory and time are no messages; test/session/secrets.test.ts holds the rule'),

  // MQTT
  'P-143': broken('a hub closes where the client speaks first', [
    TRANSITIONS,
    "repeat: 'awaiting-message-1',",
    '',
  ]),
  'P-144': broken('the announcement names a site', [
    CLIENT,
    "{ pubkey: null, site_id: '' }",
    "{ pubkey: null, site_id: 'kitchen' }",
  ]),
};
