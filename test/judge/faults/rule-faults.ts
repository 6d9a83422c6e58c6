/**
 * What breaks each rule of docs/reference/protocol.md in this library: a fault of another list by its name, or patches; or why
 * nothing does. Where a rule names vectors, one of those has to fail.
 */
import { type Breakage, broken, live, none, same } from './breakage.ts';
import { SESSION_RULES } from './session-rule-faults.ts';

const PARSE = 'src/wire/parse-json.ts';
const WRITE = 'src/wire/write-json.ts';
const ENVELOPE = 'src/wire/envelope.ts';
const PAYLOADS = 'src/wire/handshake.ts';
const MARKERS = 'src/wire/markers.ts';
const REASSEMBLER = 'src/wire/frame-joiner.ts';
const HANDSHAKE = 'src/noise/handshake.ts';
const CLIENT = 'src/session/client-handshake.ts';
const NEGOTIATION = 'src/session/negotiation.ts';
const TOPICS = 'src/mqtt-topics/topics.ts';
const READ_IDENTITY = 'src/identity/read-identity.ts';
const BINARY = 'src/binary/binary-message.ts';
const SCHEDULER = 'src/requests/request-scheduler.ts';

export const RULE_FAULTS: { readonly [rule: string]: Breakage } = {
  ...SESSION_RULES,

  // Connecting
  'P-2': broken('the field has another name', [
    'src/identity/authorized-url.ts',
    'fields.push(`authorization=',
    'fields.push(`auth=',
  ]),
  'P-170': same('client-escapes-no-plus'),
  'P-4': none('the program that holds the URL follows redirects and writes logs; the library does neither'),
  'P-9': none('it leaves a transport out'),

  // JSON
  'P-11': same('text-after-the-value'),
  'P-13': broken('half of a surrogate pair is joined with what follows', [
    PARSE,
    'if (point >= 0xdc00 || low < 0xdc00 || low > 0xdfff) {',
    'if (point === 0) {',
  ]),
  'P-15': broken('bytes that are not UTF-8 have the code of a third fault', [
    PARSE,
    'errors.badUtf8()',
    'errors.notUnicode()',
  ]),
  'P-16': broken('`__proto__` is assigned', [
    'src/wire/json.ts',
    "if (key === '__proto__' || key in object) {",
    "if (key === '') {",
  ]),
  'P-17': broken('a space follows each colon', [
    WRITE,
    'out.writeByte(COLON);',
    'out.writeByte(COLON);\n          out.writeByte(0x20);',
  ]),
  'P-18': same('keys-by-utf16'),
  'P-19': same('delete-escaped'),
  'P-185': broken('integers have 32 bits', [
    'src/wire/write-json.ts',
    '    }\n    out.writeText(String(value));',
    '    }\n    out.writeText(String(canonical ? value | 0 : value));',
  ]),
  'P-21': none(
    'vectors are texts, and a number of a program is none; test/wire/canonical-json.test.ts holds the rule',
  ),

  // Envelopes
  'P-22': broken('an envelope without metadata is refused', [
    ENVELOPE,
    'if (!isJsonObject(envelope)) {',
    'if (!isJsonObject(envelope) || !isJsonObject(envelope.metadata)) {',
  ]),
  'P-23': broken('`handshake` is an unknown type', [
    ENVELOPE,
    "type: type === 'handshake' ? 'shake' : type",
    'type',
  ]),
  'P-24': broken('HELLO is written with four fields', [
    ENVELOPE,
    "if (type !== 'shake') {",
    "if (type === 'bus') {",
  ]),
  'P-27': same('upper-case-hex-refused'),

  // HELLO and the offer
  'P-29': broken('the node id is trimmed', [PAYLOADS, 'return nodeId;', 'return nodeId.trim();']),
  'P-30': broken('one list of strings is enough', [
    PAYLOADS,
    'if (!isStringArray(patterns) || !isStringArray(suites)) {',
    'if (!isStringArray(patterns) && !isStringArray(suites)) {',
  ]),
  'P-31': same('version-2-accepted'),
  'P-34': same('hubs-order-of-suites'),
  'P-35': same('kk-not-offered'),
  'P-36': broken('the pattern is looked for first', [
    NEGOTIATION,
    '  const suite = ownSuites',
    "  if (patterns.indexOf('XXpsk2') < 0 && !(pinned && patterns.indexOf('KKpsk0') >= 0))\n    throw errors.noCommonPattern();\n  const suite = ownSuites",
  ]),

  // The prologue and the PSK
  'P-41': same('prologue-name-first'),
  'P-42': same('unknown-fields-not-bound'),
  'P-43': same('prologue-not-hashed'),
  'P-44': same('psk-memory'),
  'P-45': same('psk-password-normalized'),
  'P-46': same('argon2id-own-lane-only'),

  // Noise
  'P-49': broken('the name of the protocol has no `Noise_`', [
    'src/noise/patterns.ts',
    'return `Noise_',
    'return `',
  ]),
  'P-50': same('name-always-hashed'),
  'P-51': same('own-static-key-hashed-first'),
  'P-52': same('psk0-instead-of-psk2'),
  'P-53': same('e-not-in-the-key'),
  'P-54': same('split-swapped'),
  'P-56': same('top-bit-masked'),
  'P-57': live('client-repeats-ephemeral-key'),
  'P-58': same('oversized-messages-read'),
  'P-59': broken('a payload that does not open counts as an empty one', [
    HANDSHAKE,
    'result = this.open(work.input.subarray(work.read), errors.payloadNotAuthentic);',
    'try {\n        result = this.open(work.input.subarray(work.read), errors.payloadNotAuthentic);\n      } catch {\n        result = new Uint8Array(0);\n      }',
  ]),

  // Transport messages
  'P-72': same('counters-big-endian'),
  'P-73': same('counter-never-advances'),
  'P-74': broken('the associated data of transport messages is a byte', [
    'src/noise/cipher-state.ts',
    "EMPTY as NO_ASSOCIATED_DATA, wipe } from '../bytes.ts';",
    "wipe } from '../bytes.ts';\nconst NO_ASSOCIATED_DATA = new Uint8Array(1);",
  ]),
  'P-75': broken('the last counter is used', [
    'src/noise/cipher-state.ts',
    'if (this.nonce[i] !== 0xff) return false;\n    return true;',
    'if (this.nonce[i] !== 0xff) return false;\n    return false;',
  ]),
  'P-76': same('oversized-messages-read'),
  'P-77': broken('a message that does not open is passed over', [
    'src/session/channel.ts',
    "        this.emit({ type: 'close', code, error: this.fail(error) });",
    "        const { code: cause } = error as { code?: string };\n        if (cause !== 'not-authentic') this.emit({ type: 'close', code, error: this.fail(error) });\n        else if (!(this as any).isTold) this.emit({ type: 'close', code, error: error as RemoteError });\n        (this as any).isTold = true;",
  ]),
  'P-78': same('goes-on-after-failure'),
  'P-79': none('the program writes what was sealed'),

  // Frames and chunks
  'P-80': broken('an empty message has no frame', [
    MARKERS,
    'return length <= MAX_CHUNK ? 1',
    'return length > 0 && length <= MAX_CHUNK ? 1',
  ]),
  'P-81': same('first-marker-repeated'),
  'P-82': broken('an empty final chunk follows a multiple of 65000 bytes', [
    MARKERS,
    'Math.ceil(length / MAX_CHUNK)',
    'Math.floor(length / MAX_CHUNK) + 1',
  ]),
  'P-83': broken('a message may start inside another', [
    REASSEMBLER,
    'if (this.kind !== undefined) throw errors.messageWhileOpen();',
    '',
  ]),
  'P-84': broken('an empty chunk is refused', [
    REASSEMBLER,
    'this.length += payload.length;',
    'if (payload.length === 0) throw errors.unknownMarker(0);\n    this.length += payload.length;',
  ]),
  'P-85': same('orphan-chunks-passed-over'),
  'P-86': same('unknown-markers-ignored'),
  'P-87': same('cap-one-too-many'),
  'P-159': broken('each chunk is decoded on its own', [
    REASSEMBLER,
    'const payload = frame.subarray(1) as Bytes;',
    "let payload = frame.subarray(1) as Bytes;\n    if (marker === MARKER_FIRST_JSON || this.kind === 'json') payload = new TextEncoder().encode(new TextDecoder().decode(payload));",
  ]),
  'P-90': broken('a binary message has to be UTF-8', [
    REASSEMBLER,
    "if (kind === 'json') return delivered(",
    "if (kind === 'json' || bytesToUtf8(bytes) === undefined) return delivered(",
  ]),

  // Identity
  'P-124': broken('a password is not needed', [
    READ_IDENTITY,
    'if (!password) throw errors.noPassword();',
    'if (password === null) throw errors.noPassword();',
  ]),
  'P-125': broken('the last name of a field counts', [
    'src/issued/fields.ts',
    'const all = namesOf(names);',
    'const all = namesOf(names).reverse();',
  ]),
  'P-126': same('false-is-true'),
  'P-127': same('https-before-wss'),
  'P-128': broken('default_master counts before the address', [
    'src/identity/endpoint.ts',
    'address?.trim() || defaultAddress(protocol, identity)',
    'defaultAddress(protocol, identity) || address?.trim()',
  ]),
  'P-130': broken('a broker needs no credentials', [
    READ_IDENTITY,
    'if (endpoint === undefined || !mqtt.username || !mqtt.password) return undefined;',
    'if (endpoint === undefined) return undefined;',
  ]),
  'P-131': same('password-shown'),
  'P-132': broken('crypto_key is dropped', [
    READ_IDENTITY,
    'cryptoKey: fields.string(IDENTITY.cryptoKey),',
    'cryptoKey: undefined,',
  ]),
  'P-133': broken('the English disclosure alone is kept', [
    READ_IDENTITY,
    "if (typeof text === 'string') setField(texts",
    "if (typeof text === 'string' && languages[i] === 'en') setField(texts",
  ]),
  'P-134': broken('a shared device gives the disclosure once', [
    'src/identity/disclosure.ts',
    "(lastGiven === 'earlier-session' && !isVoice && !isShared)",
    "(lastGiven === 'earlier-session' && !isVoice)",
  ]),

  // MQTT
  'P-135': broken('the topic to publish to ends with `c2s`', [TOPICS, '/in`, subscribe', '/c2s`, subscribe']),
  'P-136': same('hash-of-16-bytes'),
  'P-137': same('topics-not-checked'),
  'P-138': same('wildcards-accepted'),
  'P-139': same('tls-flag-ignored'),
  'P-141': broken('presence has QoS 0', [
    'src/mqtt-topics/presence.ts',
    'qos: 1,\n      retain',
    'qos: 0 as 1,\n      retain',
  ]),
  'P-142': live('mqtt-client-speaks-before-it-has-subscribed'),
  'P-145': live('mqtt-client-takes-retained-messages'),
  'P-146': broken('the default is QoS 0', [
    'src/mqtt-topics/mqtt.ts',
    "?? 1) as Mqtt['qos']",
    "?? 0) as Mqtt['qos']",
  ]),

  // Requests and replies
  'P-148': same('request-without-input'),
  'P-149': broken('thalovant_request_id is not read', [
    'src/requests/hub-event.ts',
    "['request_id', 'thalovant_request_id', 'correlation_id']",
    "['request_id', 'correlation_id']",
  ]),
  'P-150': same('session-ids-equal'),
  'P-151': same('every-refusal-is-policy'),
  'P-152': same('soft-failure-ends'),
  'P-153': broken('a refusal without an id belongs to any request', [
    'src/requests/reply-collector.ts',
    'return sole === true && ',
    'return ',
  ]),
  'P-154': broken('a cancelled request goes on', [
    SCHEDULER,
    'request.collector.stop();\n      return this.decide(at, [request]);',
    'return [];',
  ]),
  'P-96': broken('a request is an envelope of the type hello', [
    'src/requests/build-request.ts',
    "composeEnvelope('bus', {",
    "composeEnvelope('hello', {",
  ]),
  'P-37': broken('a client takes KKpsk0 although it may not', [
    CLIENT,
    'offer.patterns.filter((name) => patterns.indexOf(name as Pattern) >= 0)',
    'offer.patterns',
  ]),

  // Binary messages
  'P-171': broken('the types are counted from 1', [BINARY, '0x80 | (type << 1)', '0x80 | ((type + 1) << 1)']),
  'P-172': broken('the payload type comes first in its byte', [
    BINARY,
    '(before << 4) | payloadType',
    '(payloadType << 4) | (before & 15)',
  ]),
  'P-173': broken('metadata may have 256 bytes', [
    'src/limits.ts',
    'MAX_METADATA: number = 255',
    'MAX_METADATA: number = 256',
  ]),
  'P-174': broken('version 2 is read', [BINARY, 'if (version > 1)', 'if (version > 2)']),
  'P-175': broken('a message may end in the middle of a byte', [BINARY, 'bits.at % 8 !== 0', 'bits.at < 0']),
  'P-177': broken('the type 11 is read as `3rdparty`', [
    BINARY,
    "undefined,\n  'bin',",
    "'3rdparty',\n  'bin',",
  ]),
  'P-179': broken('a payload of JSON may be an array', [
    BINARY,
    'if (!isJsonObject(payload)) {',
    'if (!isJsonObject(payload) && !Array.isArray(payload)) {',
  ]),
  'P-181': broken('metadata are not inflated', [BINARY, 'parseJson(textOf(encoded))', 'parseJson(encoded)']),
  'P-183': none('the requests that write a message ask for this form; test/binary/encode.test.ts holds it'),
};
