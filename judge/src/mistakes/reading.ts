/**
 * What a session makes of an envelope that is read in a wrong way: of the node id, of what was offered, of the payload of
 * message 2. Each cause is claimed where nothing else leads to the events, and a test that passes rules out those that it would
 * show.
 */
import { createHash } from 'node:crypto';
import type { Fields } from '../adapter.ts';
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';
import { bindsMore, FIRST_BOUND, HUB_PROLOGUE } from './message-1.ts';
import { mistakesInParts, refutesParts } from './payload.ts';

export type Events = readonly (Fields | null)[];

/** A step of a vector, and what came before it. */
export interface Point {
  readonly steps: readonly Fields[];
  /** The index of the step. */
  readonly step: number;
  readonly isHub: boolean;
  readonly flags: readonly string[];
  /** Codes that are as good as the vector's. */
  readonly otherErrors?: readonly string[];
}

export const BYTES_EARLY =
  'envelopes: one that arrives as bytes before the session is not read; over MQTT all of them do';
const ODD_DIGITS =
  'msg: an odd number of digits is read; it is refused, as is everything but pairs of digits';
const VERSION =
  'message 1: a hub refuses it without max_protocol_version; it checks the version only if there is one';
const UNNAMED = 'message 3: it is refused as one without pattern and suite; only message 1 names them';
const HALF_NAMED =
  'message 1: one that names only the pattern or only the suite is taken for message 3; either of them makes it message 1';
const HELLO_AGAIN =
  'HELLO: a later message of this type is taken for the client’s HELLO; only the first sealed message can be it';
const BAD_HELLO_TOLD =
  'HELLO: a first message that is a HELLO with wrong fields is delivered, too; only one that is no HELLO is';
const SWALLOWED =
  'HELLO: a first message that is none is swallowed; it is told that HELLO is missing, and the message follows';
const SUSPECT = 'pin: KKpsk0 is used although the pin is suspect; the next attempt uses XXpsk2';
const KEPT = 'pin: a suspect pin is replaced where it is to be kept, or where only pinned hubs are trusted';
const FIRST_HELLO = 'HELLO: the first one is kept; the latest one before the HANDSHAKE counts';
const FIRST_NODE_ID =
  'HELLO: of several the node id of the first one is kept, and the payload of the latest; both are the latest’s';
const OF_OTHER_HUB = 'psk: the stored PSK of another hub is used; each belongs to the node id of its own hub';
const UNREADABLE =
  'after ready: text that is no envelope is ignored; text on an encrypted session that repeats nothing of the handshake ends it';
const NULL_MSG =
  'msg: one that is null counts as absent, so the envelope is taken for an offer; it is a Noise message, and refused';
const NO_STRING_MSG =
  'msg: one that is no string counts as absent, so the envelope is taken for an offer; it is a Noise message, and refused';
const TELLS_NOISE =
  'message 2: a payload that opens but is no JSON object has an error of its own; it ends like one that does not open, since one ciphertext can be made to open under many PSKs';
const UNREAD = 'message 2: its payload is not read; it is a JSON object or nothing, and may name an encoding';
const EMPTY_REFUSED = 'message 2: an empty payload is refused; it counts as {}';
const BRACE_IN_CLEAR =
  'after ready: bytes that begin like JSON count as a message in the clear; only a whole envelope does, and anything else is opened';
const PIN_FIRST = 'pin: it is compared before the payload of message 2 is read; the payload comes first';
const NO_ENCODING = 'ready: it does not tell the encoding that message 2 names';

const notOffered = (what: string): string =>
  `negotiation: a hub takes a ${what} that it did not offer; it refuses what is not in its offer`;

/** What only a Noise message that was read can lead to. */
export const AFTER_READING: readonly string[] = [
  ...['prologue-differs', 'psk-differs', 'kk-failed', 'low-order-key'],
  ...['static-key-not-authentic', 'payload-not-authentic', 'message-too-short', 'message-too-long'],
];

/** What only a transport message leads to. */
const OF_TRANSPORT = ['not-authentic', 'message-too-short'];

/** Whether bytes arrive in this step before the session is encrypted. */
export function isEarly(steps: readonly Fields[], step: number): boolean {
  const before = steps.slice(0, step);
  const isOn = has(eventsOf(before), 'ready') || (steps[0]!.role === 'hub' && isAnswered(before));
  return steps[step]!.do === 'receive' && steps[step]!.bytes !== undefined && !isOn;
}

/** Fields of every envelope that is sent, which no rule lets a reader demand. */
const UNREAD_FIELDS = ['metadata', 'route'];

const unreadCause = (field: string): string =>
  `envelopes: one without \`${field}\` is refused; only msg_type and payload are read`;
const oddCause = (field: string): string =>
  `envelopes: one whose \`${field}\` has another type is refused; only msg_type and payload are read`;

/** The causes that the events of a step show as a whole. */
export function mistakesInReading(point: Point, expected: Events, got: Events): Causes {
  const { isHub, steps, step, flags } = point;
  const isMessage = (index: number): boolean => expected[index]?.type === 'message';
  if (isHub && got.some((event, index) => event?.type === 'hello' && isMessage(index))) return [HELLO_AGAIN];
  if (isHub && isSwallowed(expected, got)) return [SWALLOWED];
  const isBadHello =
    expected.length === 1 && expected[0]?.type === 'hello' && expected[0].error !== undefined;
  if (isHub && isBadHello && typesOf(got) === 'hello,message') return [BAD_HELLO_TOLD];
  const [right, error] = [closeOf(expected), closeOf(got)];
  if (isEarly(steps, step) && error !== right && OF_TRANSPORT.includes(String(error))) return [BYTES_EARLY];
  const ofMsg = mistakesInMsg(steps[step]!, expected, got);
  if (ofMsg.length > 0) return ofMsg;
  const ofNodeId = isHub ? [] : mistakesInLookup(point, expected, got);
  if (ofNodeId.length > 0) return ofNodeId;
  const ofPayload = mistakesInMessage2(flags, right, got);
  if (ofPayload.length > 0) return ofPayload;
  const inParts = mistakesInParts(
    steps[step]!.text,
    { closes: has(expected, 'close'), code: right },
    { closes: has(got, 'close'), code: error },
    point.otherErrors,
  );
  const envelope = envelopeOf(steps[step]!);
  const ofPayloadForm = right === 'bad-payload' ? mistakesInForm(inText(steps[step]!), error) : [];
  if (ofPayloadForm.length > 0) return ofPayloadForm;
  const isOddRead = right === 'bad-hex' && AFTER_READING.includes(String(error));
  if (isOddRead && isOdd(fieldsOf(envelope?.payload.noise)?.msg)) return [ODD_DIGITS, ...inParts];
  if (inParts.length > 0) return inParts;
  if (right === undefined && error === 'text-after-ready' && beginsLikeJson(steps[step]!))
    return [BRACE_IN_CLEAR];
  const inClear = right === 'text-after-ready' ? mistakesInClear(steps[step]!, got) : [];
  if (inClear.length > 0 || envelope === undefined) return inClear;
  const noise = fieldsOf(envelope.payload.noise);
  if (right === BAD_OFFER && !has(got, 'close')) return mistakesInOfferTaken(envelope.payload.noise);
  const ofLimits = mistakesInLimits(steps[step]!, isHub, right, error);
  if (ofLimits.length > 0) return ofLimits;
  if (right === 'not-offered') return mistakesInOffer(point, noise, got);
  if (error === undefined) return [];
  if (right !== undefined) return [];
  if (!isHub && OF_BAD_PAYLOAD.includes(String(error)) && isEmpty2(noise?.msg, steps)) return [EMPTY_REFUSED];
  if (error === 'bad-envelope') return unreadCauses(envelope);
  const isFirst = noise?.pattern !== undefined;
  if (isHub && noise?.msg !== undefined && expected.length === 0)
    return isFirst === (noise.suite !== undefined) ? [] : [HALF_NAMED];
  if (!isHub || typeof noise?.msg !== 'string') return [];
  if (error === 'prologue-differs' || error === 'kk-failed') return bindsMore(steps) ? [HUB_PROLOGUE] : [];
  if (error === 'protocol-version')
    return isFirst && envelope.payload.max_protocol_version === undefined ? [VERSION] : [];
  return error === 'bad-payload' && !isFirst && noise.suite === undefined ? [UNNAMED] : [];
}

const OTHER_IGNORED =
  'after ready: an envelope of another type, such as bus, is ignored; only repeats of the handshake are, and everything else in the clear ends the session';
const LOST_IGNORED =
  'after ready: HELLO or HANDSHAKE that arrives as bytes is ignored as a repeat; over MQTT a hub greets only clients that it does not know, so it ends the session';
const CLEAR_TAKEN =
  'after ready: a message in the clear is delivered; it was never sealed, and ends the session';

/** What is done with a message in the clear that must end an encrypted session. */
function mistakesInClear(current: Fields, got: Events): Causes {
  if (has(got, 'message')) return [CLEAR_TAKEN];
  if (got.length > 0) return [];
  const isText = current.text !== undefined;
  const envelope = envelopeOf(inText(current));
  if (envelope === undefined) return isText ? [UNREADABLE] : [];
  const isOfHandshake = OF_HANDSHAKE.includes(String(envelope.msg_type));
  return isOfHandshake ? (isText ? [] : [LOST_IGNORED]) : [OTHER_IGNORED];
}

const beginsLikeJson = ({ bytes }: Fields): boolean =>
  /^\s*[{[]/.test(Buffer.from(String(bytes ?? ''), 'hex').toString('latin1'));

/** The bytes of message 2 without a payload. */
const EMPTY_2: { readonly [pattern: string]: number } = { XXpsk2: 96, KKpsk0: 48 };

function isEmpty2(msg: unknown, steps: readonly Fields[]): boolean {
  const pattern = textsOf(eventsOf(steps))
    .map(patternIn)
    .find((name) => name !== undefined);
  return typeof msg === 'string' && msg.length === 2 * (EMPTY_2[String(pattern)] ?? 0);
}

/** Whether a client opens a message 2 with a payload in these steps. */
function opensFull2(steps: readonly Fields[]): boolean {
  const last = steps.find(({ events }) => has((events as Events | undefined) ?? [], 'ready'));
  if (steps[0]!.role === 'hub' || last === undefined) return false;
  return !isEmpty2(fieldsOf(envelopeOf(last)?.payload.noise)?.msg, steps);
}

/** How a payload that is no object is read, where it is not refused for its form. */
function mistakesInForm({ text }: Fields, error: unknown): Causes {
  if (['bad-payload', 'bad-envelope', 'bad-json', 'refused'].includes(String(error))) return [];
  try {
    const envelope = fieldsOf(JSON.parse(String(text)))!;
    if (typeof envelope.msg_type !== 'string' || fieldsOf(envelope.payload) !== undefined) return [];
    const { payload } = envelope;
    const form =
      payload === undefined
        ? 'one without payload is read as if it were empty'
        : payload === null
          ? 'a payload of null is read as if it were empty'
          : Array.isArray(payload)
            ? 'a payload that is a list is read as if it were empty'
            : typeof payload === 'string' && payload.startsWith('{')
              ? 'a payload that is JSON in a text is read'
              : 'a payload that is no object is read as if it were empty';
    return [`envelopes: ${form}; it is an object`];
  } catch {
    return [];
  }
}

const OF_HANDSHAKE = ['hello', 'shake', 'handshake'];

/** A step in which bytes are the text that they are in UTF-8. */
function inText(current: Fields): Fields {
  const { bytes, text } = current;
  return typeof bytes === 'string' && text === undefined
    ? { ...current, text: Buffer.from(bytes, 'hex').toString() }
    : current;
}

const MOST_IN_ENVELOPE = 256 * 1024;
const MOST_IN_NODE_ID = 4096;
const LONG_NODE_ID = 700; // bytes, which a port that refuses it finds too long
const ENVELOPE_SHORT =
  'limit: an envelope of 256 KiB or less is refused as too large; up to 256 KiB of UTF-8 are read';
const ENVELOPE_LONG =
  'limit: an envelope of more than 256 KiB of UTF-8 is read; it is refused before it is parsed';
const ENVELOPE_UNITS = 'limit: the 256 KiB of an envelope are counted in characters; they are bytes of UTF-8';
const NODE_ID_MISSING = 'node id: HELLO without one is taken; it is a non-empty string';
const NODE_ID_EMPTY = 'node id: an empty one is taken; it is a non-empty string';
const NODE_ID_NO_STRING = 'node id: one that is no string is taken; it is a non-empty string';
const NODE_ID_SHORT =
  'limit: a node id of 4096 bytes or fewer is refused; up to 4096 bytes of UTF-8 are taken';
const NODE_ID_LONG = 'limit: a node id of more than 4096 bytes of UTF-8 is taken; it is refused';
const NODE_ID_UNITS = 'limit: the 4096 bytes of a node id are counted in characters; they are bytes of UTF-8';
export const MESSAGE_2_SHORT =
  'limit: a payload of message 2 of 64 bytes or fewer is refused as too long; up to 64 bytes are taken';
const MESSAGE_2_LONG =
  'limit: a payload of message 2 of more than 64 bytes is opened; it is refused before anything is opened';
export const DEPTH_SHORT =
  'limit: 64 arrays and objects that are open at once are refused; up to 64 are read';

/** What a session takes although it is too long, or refuses although it is not. */
function mistakesInLimits(current: Fields, isHub: boolean, right: unknown, error: unknown): Causes {
  const { text } = inText(current);
  const nodeId = envelopeOf(inText(current))?.payload.node_id;
  if (typeof text !== 'string' || right === error || error === 'refused') return [];
  if (right === undefined) {
    if (error === 'envelope-too-large') return [ENVELOPE_SHORT];
    if (error === 'json-depth') return [DEPTH_SHORT];
    if (error === 'message-too-long' && !isHub) return [MESSAGE_2_SHORT];
    const isLong = typeof nodeId === 'string' && Buffer.byteLength(nodeId) >= LONG_NODE_ID;
    return error === 'bad-node-id' && isLong ? [NODE_ID_SHORT] : [];
  }
  if (right === 'envelope-too-large')
    return text.length <= MOST_IN_ENVELOPE ? [ENVELOPE_LONG, ENVELOPE_UNITS] : [ENVELOPE_LONG];
  if (error === undefined && right === 'missing-node-id') return [NODE_ID_MISSING];
  if (error === undefined && right === 'bad-node-id' && (typeof nodeId !== 'string' || nodeId === ''))
    return [nodeId === '' ? NODE_ID_EMPTY : NODE_ID_NO_STRING];
  if (right === 'bad-node-id' && error === undefined && typeof nodeId === 'string')
    return nodeId.length <= MOST_IN_NODE_ID ? [NODE_ID_LONG, NODE_ID_UNITS] : [NODE_ID_LONG];
  const isOpened = error === undefined || AFTER_READING.includes(String(error));
  return right === 'message-too-long' && !isHub && isOpened ? [MESSAGE_2_LONG] : [];
}

/** Whether refusing what is too long in these steps rules out that it is taken. */
function refutesLimit(steps: readonly Fields[], cause: string): boolean {
  const last = steps.find(({ events }) => closeOf((events as Events | undefined) ?? []) !== undefined);
  if (last === undefined) return false;
  const right = closeOf(last.events as Events);
  const taken = mistakesInLimits(last, steps[0]!.role === 'hub', right, undefined);
  return taken.includes(cause);
}

/** An envelope whose `msg` is no string is taken for an offer: before the session for a repeat, after it for a hub that forgot it. */
function mistakesInMsg(current: Fields, expected: Events, got: Events): Causes {
  const msg = msgOf(current);
  if (msg === undefined || typeof msg === 'string') return [];
  const isTaken =
    expected.length === 0
      ? current.bytes !== undefined && closeOf(got) === 'text-after-ready'
      : has(expected, 'close') && got.length === 0;
  return !isTaken ? [] : msg === null ? [NULL_MSG, NO_STRING_MSG] : [NO_STRING_MSG];
}

const msgOf = (current: Fields): unknown => fieldsOf(envelopeOf(inText(current))?.payload.noise)?.msg;

/** Whether a `msg` that is no string, and not null, is refused in these steps. */
function refusesMsg(steps: readonly Fields[]): boolean {
  return steps.some((step) => {
    const isRefused = closeOf((step.events as Events | undefined) ?? []) === 'bad-hex';
    const msg = isRefused ? msgOf(step) : undefined;
    return msg !== undefined && msg !== null && typeof msg !== 'string';
  });
}

/** A first message that is no HELLO, and of which nothing follows. */
function isSwallowed(expected: Events, got: Events): boolean {
  const at = expected.findIndex((event) => event?.type === 'hello' && event.error === 'no-hello');
  return (
    at >= 0 && expected[at + 1]?.type === 'message' && typesOf(expected.slice(0, at + 1)) === typesOf(got)
  );
}

/** A hub that goes on with what it did not offer. */
function mistakesInOffer({ steps }: Point, noise: Fields | undefined, got: Events): Causes {
  const goesOn = has(got, 'transmit') || [...AFTER_READING, 'bad-length'].includes(String(closeOf(got)));
  const offers = steps.flatMap(({ events }) => textsOf(events)).map((text) => envelopeOf(received(text)));
  const offer = fieldsOf(offers.find((envelope) => envelope?.payload.noise !== undefined)?.payload.noise);
  if (!goesOn || noise === undefined || offer === undefined) return [];
  const isOffered = (names: unknown, name: unknown): boolean => Array.isArray(names) && names.includes(name);
  if (!isOffered(offer.patterns, noise.pattern)) return [notOffered('pattern')];
  return isOffered(offer.suites, noise.suite) ? [] : [notOffered('suite')];
}

const BAD_OFFER = 'bad-offer';
const NO_NOISE = 'offer: one without `noise` is taken; it names patterns and suites there';
const NO_LISTS = 'offer: one whose patterns or suites are no list of strings is taken';
const BEGINS_LIKE =
  'offer: a name that only begins like a required one counts as that (strncmp of C); names are compared whole';
const lacksRequired = (name: string): string =>
  `offer: one without ${name} is taken; every hub offers it, so who does not is none`;

/** What is wrong in an offer that is taken although it must be refused. */
function mistakesInOfferTaken(value: unknown): Causes {
  if (value === undefined) return [NO_NOISE];
  const lists = [fieldsOf(value)?.patterns, fieldsOf(value)?.suites];
  const isList = (list: unknown): list is string[] =>
    Array.isArray(list) && list.every((name) => typeof name === 'string');
  if (!lists.every(isList)) return [NO_LISTS];
  const names = (lists as string[][]).flat();
  const lacking = REQUIRED.filter((name) => !names.includes(name));
  const isBegun = lacking.some((name) => names.some((other) => other.startsWith(name)));
  return [...lacking.map(lacksRequired), ...(isBegun ? [BEGINS_LIKE] : [])];
}

const REQUIRED = ['XXpsk2', '25519_ChaChaPoly_SHA256'];

/** Whether these steps refuse such an offer, so that it is not taken. */
function refutesOffer(steps: readonly Fields[], cause: string): boolean {
  const last = steps.find(({ events }) => closeOf((events as Events | undefined) ?? []) === BAD_OFFER);
  const payload = last && envelopeOf(inText(last))?.payload;
  const causes = payload === undefined ? [] : mistakesInOfferTaken(payload.noise);
  return causes.length === 1 && causes[0] === cause;
}

const NO_OBJECT = 'bad-handshake-payload';
const OF_BAD_PAYLOAD = ['psk-differs', 'kk-failed', NO_OBJECT];
const OF_PAYLOAD = ['Message2Noise', 'Message2Payload', 'PayloadFirst'];

/** A payload of message 2 that ends nothing, although it must. */
function mistakesInMessage2(flags: readonly string[], right: unknown, got: Events): Causes {
  const ends = OF_BAD_PAYLOAD.includes(String(right));
  if (!ends || !flags.some((flag) => OF_PAYLOAD.includes(flag))) return [];
  if (closeOf(got) === 'hub-key-changed') return [UNREAD, PIN_FIRST];
  if (right !== NO_OBJECT && closeOf(got) === NO_OBJECT) return [TELLS_NOISE];
  return has(got, 'ready') ? [UNREAD] : [];
}

/** How a node id is changed by mistake. It counts as it came. */
const CHANGES: readonly { readonly how: string; change(nodeId: string): string }[] = [
  { how: 'without the white space around it', change: (nodeId) => nodeId.trim() },
  { how: 'in lower case', change: (nodeId) => nodeId.toLowerCase() },
  { how: 'in NFC', change: (nodeId) => nodeId.normalize('NFC') },
  { how: 'in NFD', change: (nodeId) => nodeId.normalize('NFD') },
  { how: 'up to U+0000', change: (nodeId) => nodeId.replace(/\0.*/s, '') },
  { how: 'up to its first line feed', change: (nodeId) => nodeId.replace(/\n.*/s, '') },
  { how: 'with LF in place of CR LF', change: (nodeId) => nodeId.replace(/\r\n/g, '\n') },
  { how: 'with CR LF in place of LF', change: (nodeId) => nodeId.replace(/\r?\n/g, '\r\n') },
  { how: 'without its line feeds', change: (nodeId) => nodeId.replace(/[\r\n]/g, '') },
  ...[63, 64, 127, 128, 255, 256, 511, 512, 1023, 1024].map((count) => ({
    how: `cut to ${count} bytes`,
    change: (nodeId: string) => Buffer.from(nodeId).subarray(0, count).toString(),
  })),
];

const nodeIdCause = (how: string): string =>
  `node id: it is taken ${how}; salt, pins and stored PSKs go by it as it came`;
const lookupCause = (how: string): string =>
  `pins: they are looked up by the node id ${how}; they belong to it as it came`;
const saltCause = (how: string): string =>
  `psk: the salt hashes the node id ${how}; it hashes the node id as it came`;
const pskCause = (how: string): string =>
  `psk: stored ones are looked up by the node id ${how}; they belong to it as it came`;
const changeOf = (cause: string): ((nodeId: string) => string) | undefined =>
  CHANGES.find(({ how }) => [nodeIdCause(how), lookupCause(how), pskCause(how)].includes(cause))?.change;

/** A pin, a PSK or trust that belongs to another node id, or is not found. */
function mistakesInLookup(point: Point, expected: Events, got: Events): Causes {
  const [open] = point.steps as [Fields];
  const nodeId = nodeIdOf(point);
  if (nodeId === undefined) return [];
  const isFoundWrongly = has(expected, 'close') && closeOf(expected) === 'unknown-hub' && !has(got, 'close');
  const isNew = (type: string): boolean => has(got, type) && !has(expected, type);
  const isLost = closeOf(got) === 'unknown-hub' || isNew('new-hub');
  const isKk = got.some((event) => patternIn(event?.text) === 'KKpsk0');
  if (isKk && closeOf(expected) === 'no-common-pattern' && isSuspect(point)) return [SUSPECT];
  if ((isLost || isNew('psk-needed')) && isOfLatest(point)) return [FIRST_HELLO, FIRST_NODE_ID];
  const ofPart = isFoundWrongly && hubsIn(open.pins).some((known) => isPart(known, nodeId)) ? [BY_PART] : [];
  if (isFoundWrongly || isLost)
    return [...changesOf(hubsIn(open.pins), nodeId, isLost, lookupCause), ...ofPart];
  const isAsked = isNew('psk-needed');
  const isUnasked = has(expected, 'psk-needed') && has(got, 'transmit');
  if (!isAsked && !isUnasked) return [];
  const known = hubsIn(open.psks);
  const ofOther = isUnasked && known.length > 0 ? [OF_OTHER_HUB] : [];
  return [...changesOf(known, nodeId, isAsked, pskCause), ...ofOther];
}

const BY_PART =
  'pins: they are looked up by the beginning of the node id (strncmp of C); a whole one is compared with a whole one';

const isPart = (known: string, nodeId: string): boolean =>
  known !== nodeId && (known.startsWith(nodeId) || nodeId.startsWith(known));

/** The changes after which a node id that is known is not, or the other way round. */
function changesOf(
  known: readonly string[],
  nodeId: string,
  isLost: boolean,
  causeOf: (how: string) => string,
): Causes {
  const fitting = CHANGES.filter(({ change }) => {
    const other = change(nodeId);
    if (other === nodeId) return false;
    return isLost ? known.includes(nodeId) && !known.includes(other) : known.includes(other);
  });
  return fitting.flatMap(({ how }) => [nodeIdCause(how), causeOf(how)]);
}

/** The node ids of a map of pins or PSKs. */
export function hubsIn(stored: unknown): string[] {
  return Object.keys(fieldsOf(stored) ?? {});
}

function knownHubs(open: Fields): string[] {
  return [open.pins, open.psks].flatMap(hubsIn);
}

/** The node id in the latest HELLO of a hub. */
function nodeIdOf({ steps, step }: Point): string | undefined {
  const nodeId = nodeIdsIn(steps.slice(0, step + 1)).at(-1);
  return typeof nodeId === 'string' ? nodeId : undefined;
}

/** The causes that one field of an event shows. */
export function mistakesInField(point: Point, event: Fields, name: string, got: unknown): Causes {
  const { isHub, steps, step } = point;
  const right = event[name];
  if (name === 'encoding') return got === null && typeof right === 'string' ? [UNREAD, NO_ENCODING] : [];
  if (name === 'text')
    return steps[step]!.do !== 'start'
      ? inPattern(point, right, got)
      : isHub
        ? inOwnOffer(right, got)
        : inAnnouncement(right, got);
  const nodeId = String(event.nodeId);
  const ofNodeId = (value: (nodeId: string) => string): Causes =>
    CHANGES.filter(({ change }) => change(nodeId) !== nodeId && value(change(nodeId)) === got).map(
      ({ how }) => nodeIdCause(how),
    );
  if (name === 'nodeId')
    return nodeIdsIn(steps.slice(0, step)).includes(got)
      ? [FIRST_HELLO, FIRST_NODE_ID]
      : ofNodeId((changed) => changed);
  const saltOf = (changed: string): string => createHash('sha256').update(changed).digest('hex');
  return name !== 'salt'
    ? []
    : CHANGES.filter(({ change }) => change(nodeId) !== nodeId && saltOf(change(nodeId)) === got).flatMap(
        ({ how }) => [nodeIdCause(how), saltCause(how)],
      );
}

/** The causes of a message 1, and that of a first HELLO that is kept, where it would bind just that one. */
export function withFirstHello(steps: readonly Fields[], causes: Causes): Causes {
  const isOne = new Set(nodeIdsIn(steps)).size === 1;
  return isOne && causes.includes(FIRST_BOUND) ? [...causes, FIRST_HELLO] : causes;
}

/** The node ids in the HELLOs of a hub, in order. */
function nodeIdsIn(steps: readonly Fields[]): unknown[] {
  const hellos = steps.map(envelopeOf).filter((envelope) => envelope?.msg_type === 'hello');
  return hellos.map((envelope) => envelope!.payload.node_id);
}

/** Whether the hub of the latest HELLO is known, and that of an earlier one is not. */
function isOfLatest({ steps, step }: Point): boolean {
  const nodeIds = nodeIdsIn(steps.slice(0, step + 1)).map(String);
  const known = knownHubs(steps[0]!);
  return known.includes(nodeIds.at(-1)!) && nodeIds.some((nodeId) => !known.includes(nodeId));
}

/** What an event for the caller is about that is missing, or comes where it is not due: more than its type alone says. */
export function mistakesInTelling(point: Point, type: string, expected: Events): Causes {
  const isDue = has(expected, type);
  const isKk = eventsOf(point.steps.slice(0, point.step)).some(
    (event) => patternIn(event?.text) === 'KKpsk0',
  );
  if (type === 'psk-suspect' && !isDue) return isKk ? [PSK_DOUBTED] : [PSK_DOUBTED_EARLY];
  if (type === 'pin-suspect' && isDue) {
    const error = closeOf(expected);
    return !isKk ? [] : isUnread(error) ? [undoubted(error), UNOPENED_ALONE] : [undoubted(error)];
  }
  if (type === 'pin' && isDue && isSuspect(point))
    return expected.some((event) => event?.type === 'pin' && event.replaces !== undefined)
      ? [NOT_REPLACED]
      : [NOT_CONFIRMED];
  const { pins, clientKey, staticKeyIsFresh } = point.steps[0]!;
  const isPinned = hubsIn(pins).includes(String(nodeIdOf(point)));
  if (isDue && type === 'psk') return [NEVER_TOLD, untoldUnder(isKk ? 'KKpsk0' : 'XXpsk2')];
  if (isDue) return UNTOLD[type] === undefined ? [] : [`${type}: ${UNTOLD[type]}`];
  if (type === 'pin' && point.isHub) return clientKey === undefined ? [] : [CLIENT_AGAIN];
  if (type === 'pin') return isKk ? [KK_PINS] : isPinned ? [PINNED_AGAIN] : [];
  if (type === 'new-hub') return [isPinned ? NEW_THOUGH_PINNED : NEW_WITHOUT_PINS];
  if (type === 'static-key-fresh')
    return staticKeyIsFresh !== true ? [FRESH_THOUGH_ACCEPTED] : isPinned ? [] : [FRESH_WITHOUT_PIN];
  if (type !== 'psk') return [];
  return point.steps.slice(0, point.step + 1).some((step) => step.do === 'psk')
    ? [UNPROVED_TOLD]
    : [STORED_TOLD];
}

const NEVER_TOLD =
  'psk: it does not come for a provided PSK that has opened message 2, so that PSK is never stored';
const untoldUnder = (pattern: string): string =>
  `psk: it does not come under ${pattern} for a provided PSK that has opened message 2; it does under both patterns`;

/** Events that do not come where they are due. */
const UNTOLD: { readonly [type: string]: string } = {
  pin: 'it does not come at a first contact, so the other side is never pinned',
  'psk-suspect': 'it does not come where the payload of message 2 of XXpsk2 does not open',
  'new-hub': 'it does not come where the client has pins, but none for this hub',
  'static-key-fresh':
    'it does not come where a pinned hub is about to see a static key that no hub has accepted yet',
};
const PSK_DOUBTED_EARLY =
  'psk-suspect: it comes where message 2 fails before its payload; only a payload that does not open speaks against the PSK';
const CLIENT_AGAIN =
  'pin: a hub tells it for a client that it has pinned already; a key that matches is not told';
const KK_PINS =
  'pin: it comes after KKpsk0, which succeeds with the pinned key alone; only XXpsk2 shows a key';
const PINNED_AGAIN =
  'pin: it comes for a hub that is pinned, and that has shown the pinned key; a key that matches is not pinned again';
const NEW_THOUGH_PINNED = 'new-hub: it comes for a hub that is pinned';
const NEW_WITHOUT_PINS =
  'new-hub: it comes where the client has no pins at all; it warns a client that has pinned other hubs';
const FRESH_THOUGH_ACCEPTED = 'static-key-fresh: it comes although a hub has accepted the static key';
const FRESH_WITHOUT_PIN =
  'static-key-fresh: it comes for a hub that is not pinned, and that can have pinned no other key';
const UNPROVED_TOLD =
  'psk: a provided PSK is told before it has opened message 2; until then it may be wrong';
const STORED_TOLD =
  'psk: a stored PSK is told as if it were new; only one that was provided is told, once it has opened message 2';

const PSK_DOUBTED =
  'psk-suspect: it comes after a KKpsk0 that failed, which says nothing about the PSK; only XXpsk2 does';
const NOT_CONFIRMED =
  'pin: it does not come where XXpsk2 has shown that a suspect pin is right, so the pin stays suspect';
const NOT_REPLACED = 'pin: it does not come where XXpsk2 has shown another key than the suspect pin';
const undoubted = (error: unknown): string =>
  `pin-suspect: it does not come where KKpsk0 ends with ${error ?? 'its connection'}; any failure of KKpsk0 makes the pin suspect`;

const UNOPENED_ALONE =
  'pin-suspect: it comes only where message 2 of KKpsk0 does not open; also one that is not hexadecimal, too short, too long or of low order makes the pin suspect';

/** Whether message 2 fails before it is opened. */
const isUnread = (error: unknown): boolean => error !== undefined && error !== 'kk-failed';

/** Whether the pin becomes suspect in these steps for such a message. */
const doubtsUnread = (steps: readonly Fields[]): boolean =>
  steps.some(({ events = [] }) => {
    const all = events as Events;
    return has(all, 'pin-suspect') && isUnread(closeOf(all));
  });

/** The fields of an announcement that tell of nobody. */
const OF_NOBODY = ['pubkey', 'site_id'];

/** The announcement of a client over MQTT that says too much. */
function inAnnouncement(right: unknown, got: unknown): Causes {
  const [a, b] = [right, got].map((text) => envelopeOf(received(text)));
  if (a?.msg_type !== 'hello' || b?.msg_type !== 'hello') return [];
  const isOwn = (name: string): boolean => a.payload[name] === undefined || OF_NOBODY.includes(name);
  const isOther = (name: string): boolean =>
    JSON.stringify(a.payload[name]) !== JSON.stringify(b.payload[name]);
  const wrong = Object.keys(b.payload).filter((name) => isOwn(name) && isOther(name));
  const said = wrong.map((name) => `its ${name} is ${JSON.stringify(b.payload[name])}`);
  return said.length === 0
    ? []
    : [
        `announcement: ${said.join(', ')}; it says no more than that a client is there (pubkey null, site_id empty)`,
      ];
}

const KK_OFFERED =
  'offer: a hub offers KKpsk0 to a client that it has not pinned; without the client’s key it cannot answer it';

/** A hub that offers what it cannot answer. */
function inOwnOffer(right: unknown, got: unknown): Causes {
  const [due, is] = [right, got].map((text) => fieldsOf(envelopeOf(received(text))?.payload.noise)?.patterns);
  const has = (list: unknown): boolean => Array.isArray(list) && list.includes('KKpsk0');
  return has(is) && Array.isArray(due) && !has(due) ? [KK_OFFERED] : [];
}

/** Whether the pin of the hub is suspect. */
export function isSuspect(point: Point): boolean {
  const { suspects } = point.steps[0]!;
  return Array.isArray(suspects) && suspects.includes(nodeIdOf(point));
}

/** The pattern that a message names. */
function patternIn(text: unknown): unknown {
  return fieldsOf(envelopeOf(received(text))?.payload.noise)?.pattern;
}

/** Message 1 of KKpsk0, though its pin is suspect; or of XXpsk2, though there is one. */
function inPattern(point: Point, right: unknown, got: unknown): Causes {
  const [wanted, taken] = [right, got].map(patternIn);
  if (wanted === 'XXpsk2' && taken === 'KKpsk0') return isSuspect(point) ? [SUSPECT] : [];
  const nodeId = nodeIdOf(point);
  if (wanted !== 'KKpsk0' || taken !== 'XXpsk2' || nodeId === undefined) return [];
  return changesOf(hubsIn(point.steps[0]!.pins), nodeId, true, lookupCause);
}

/** The cause of a suspect pin that is replaced, beside the one of a pin that is ignored; none for another pin. */
export function mistakesInKeeping({ steps }: Point): Causes {
  const [open] = steps as [Fields];
  const isKept = open.onKkFailure === 'keep-pin' || open.trust === 'pinned-only';
  return isKept && Array.isArray(open.suspects) && open.suspects.length > 0 ? [KEPT] : [];
}

/** Whether passing a test in which all of these steps are as they should be rules out the mistake. */
export function refutesReading({ steps, flags, otherErrors }: Vector, cause: string): boolean {
  if (cause === UNREAD || cause === PIN_FIRST) {
    const isRefused = eventsOf(steps).some((event) => OF_BAD_PAYLOAD.includes(String(event?.error)));
    return isRefused && flags.includes(cause === UNREAD ? 'Message2Noise' : 'PayloadFirst');
  }
  if (cause === NO_STRING_MSG) return refusesMsg(steps);
  if (cause === UNOPENED_ALONE) return doubtsUnread(steps);
  if (cause === NEVER_TOLD) return has(eventsOf(steps), 'psk');
  if (cause.startsWith('limit: ')) return refutesLimit(steps, cause);
  if (cause.startsWith('offer: ')) return otherErrors === undefined && refutesOffer(steps, cause);
  if (cause === HUB_PROLOGUE) return isAnswered(steps) && bindsMore(steps);
  if (cause === OF_OTHER_HUB) return hubsIn(steps[0].psks).length > 0 && has(eventsOf(steps), 'psk-needed');
  if (cause === FIRST_HELLO) return flags.includes('LatestHello');
  if (refutesParts(steps, cause)) return true;
  const change = changeOf(cause);
  if (change !== undefined) return isShown(steps, change, cause);
  return (steps as Fields[]).some((step) => {
    const envelope = closeOf((step.events as Events | undefined) ?? []) === undefined && envelopeOf(step);
    return envelope && unreadCauses(envelope).includes(cause);
  });
}

/** Whether a test fails that this mistake leaves as it is, so that another one was made. */
export function isUnlike(
  { steps, flags }: Vector,
  { refuses }: { readonly refuses?: boolean },
  cause: string,
): boolean {
  if (cause === UNREADABLE) return flags.includes('TextAfterReady');
  if (cause === EMPTY_REFUSED) return opensFull2(steps);
  const change = changeOf(cause);
  if (change !== undefined) return !isShown(steps, change, cause) && !isTold(steps, change);
  const isOfHub = cause === HUB_PROLOGUE && steps[0].role === 'hub' && refuses === true;
  return isOfHub && !bindsMore(steps);
}

/** Whether a hub in these steps answers message 1. */
function isAnswered(steps: readonly Fields[]): boolean {
  return eventsOf(steps.filter((step) => step.do === 'receive')).some((event) => event?.text !== undefined);
}

/** The events that a vector expects. */
function eventsOf(steps: readonly Fields[]): Events {
  return steps.flatMap(({ events }) => (Array.isArray(events) ? (events as Events) : []));
}

/** Whether a client in these steps tells a node id that the change makes another one. */
function isTold(steps: readonly Fields[], change: (nodeId: string) => string): boolean {
  return eventsOf(steps).some(
    (event) => typeof event?.nodeId === 'string' && change(event.nodeId) !== event.nodeId,
  );
}

/** Whether the mistake of this cause shows in these steps. */
function isShown(steps: readonly Fields[], change: (nodeId: string) => string, cause: string): boolean {
  const isPinFound = isFound(steps, change, 'pins', 'unknown-hub');
  const isPskFound = isFound(steps, change, 'psks', 'psk-needed');
  if (cause.startsWith('psk')) return isPskFound;
  return isPinFound || (cause.startsWith('node id') && (isPskFound || isTold(steps, change)));
}

/**
 * Whether a client in these steps looks up what it would not find, or find, after the change.
 * @param otherwise - the event or error, beside a message of the client, that shows what it has found
 */
function isFound(
  steps: readonly Fields[],
  change: (nodeId: string) => string,
  where: 'pins' | 'psks',
  otherwise: string,
): boolean {
  const known = hubsIn(steps[0]![where]);
  const isOn = eventsOf(steps).some((event) =>
    [event?.type, event?.error].some((name) => name === 'transmit' || name === otherwise),
  );
  const isOther = (nodeId: unknown): boolean =>
    typeof nodeId === 'string' && known.includes(nodeId) !== known.includes(change(nodeId));
  return isOn && nodeIdsIn(steps).some(isOther);
}

function typesOf(events: Events): string {
  return events.map((event) => event?.type).join();
}

function has(events: Events, type: string): boolean {
  return events.some((event) => event?.type === type);
}

function closeOf(events: Events): unknown {
  return events.find((event) => event?.type === 'close')?.error;
}

function textsOf(events: unknown): unknown[] {
  return Array.isArray(events) ? (events as Events).map((event) => event?.text) : [];
}

type Envelope = Fields & { readonly payload: Fields };

const received = (text: unknown): Fields => ({ do: 'receive', text });

export function envelopeOf({ do: what, text }: Fields): Envelope | undefined {
  if (what !== 'receive' || typeof text !== 'string') return undefined;
  try {
    const value = fieldsOf(JSON.parse(text));
    const payload = fieldsOf(value?.payload);
    return payload && typeof value?.msg_type === 'string' ? { ...value, payload } : undefined;
  } catch {
    return undefined;
  }
}

export function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** What a reader refuses in an envelope that reads more of it than its type and payload. */
function unreadCauses(envelope: Envelope): string[] {
  const lacking = UNREAD_FIELDS.filter((field) => envelope[field] === undefined);
  const odd = UNREAD_FIELDS.filter(
    (field) => envelope[field] !== undefined && !isUsual(field, envelope[field]),
  );
  return [...lacking.map(unreadCause), ...odd.map(oddCause)];
}

const isUsual = (field: string, value: unknown): boolean =>
  field === 'route' ? Array.isArray(value) : fieldsOf(value) !== undefined;

function isOdd(msg: unknown): boolean {
  return typeof msg === 'string' && /^[\da-f]+$/i.test(msg) && msg.length % 2 === 1;
}
