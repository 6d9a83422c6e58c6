/** Whole sessions, step by step: the implementation's inputs, and the events it must return. */
import type { Fields } from '../adapter.ts';
import { show } from '../difference.ts';
import { saidOfEvents } from '../mistakes/events.ts';
import { mistakesInMessage1 } from '../mistakes/message-1.ts';
import { publicKeyOf } from '../mistakes/noise-with-mistake.ts';
import { contradictsParts, excessOf, mistakesInEphemeralKey, mistakesInHello } from '../mistakes/payload.ts';
import {
  AFTER_READING,
  BYTES_EARLY,
  isEarly,
  isSuspect,
  isUnlike,
  MESSAGE_2_SHORT,
  mistakesInField,
  mistakesInKeeping,
  mistakesInReading,
  mistakesInTelling,
  refutesReading,
  withFirstHello,
} from '../mistakes/reading.ts';
import {
  bytesToUtf8,
  canonicalJson,
  cipherNameOf,
  equalBytes,
  hexToBytes,
  nodeCrypto,
  parseJson,
  type Suite,
} from '../protocol.ts';
import type { Vector } from '../vectors.ts';
import {
  type Ask,
  type Causes,
  checkFields,
  checkRefusal,
  checkValue,
  codeOf,
  Failure,
  MISSING,
  refuses,
  UNDUE,
  type Verdict,
} from '../verdict.ts';
import { KINDS_SWAPPED } from './framing.ts';

export async function checkSession(test: Vector, ask: Ask): Promise<void> {
  const opener = new Opener(test);
  let isOver = false; // whether the session has closed as it must
  for (const [index, { events, messages, error, ...request }] of test.steps.entries()) {
    const where = `step ${index + 1}, ${request.do}`;
    const response = await ask({ op: 'session', ...request });
    if (error !== undefined) {
      const isTaken = response.error === undefined;
      checkRefusal(error, response, where, () => (isTaken ? mistakesInCall(request, error, test) : []));
    } else if (messages !== undefined) {
      checkFields({ error: response.error, [where]: response.messages }, { [where]: messages }, () =>
        mistakesInSending(messages, response.messages, opener),
      );
      opener.count += messages.length;
    } else {
      opener.step = index;
      if (isOver && request.do === 'receive') checkSilence(where, response);
      else if (request.do === 'closed') checkEnd(where, events ?? [], response, request, opener);
      checkEvents(where, events ?? [], response, opener);
      isOver ||= has(events ?? [], 'close');
    }
  }
}

/** Unless the parser accepts it, too. */
export const NOT_JSON = 'send: a text that is not JSON is sent as JSON; it is refused';

/** What a call that must be refused does, if it is not. */
function mistakesInCall({ do: what, kind }: Fields, error: string, { steps }: Vector): Causes {
  const who = steps[0].role === 'hub' ? 'a hub' : 'a client';
  if (error === 'not-json') return [NOT_JSON];
  if (what === 'start') return [`start: ${who} takes a second one, or a late one; it is refused`];
  if (what === 'send' && kind !== undefined)
    return error === 'session-over'
      ? [`send: ${who} seals a message after its session has ended; the call is refused`]
      : [`send: ${who} seals a message before it is ready; the call is refused`];
  if (what !== 'psk') return [];
  return error === 'bad-length'
    ? ['psk: one that does not have 32 bytes is taken; the call is refused, and has no effect']
    : ['psk: one that was not asked for is taken; before psk-needed the call is refused'];
}

const SENT_ANEW =
  'messages: JSON is written anew before it is sealed, so that white space, escapes or numbers change; it is sent as it was given';

/** The mistakes in messages that are sealed. */
function mistakesInSending(expected: readonly string[], got: unknown, opener: Opener): Causes {
  if (!Array.isArray(got) || got.length !== expected.length) return [];
  const pairs = expected.map((message, at) =>
    [message, got[at]].map((sealed) => opener.textOf(String(sealed), at)),
  );
  const isAnew = ([right, wrong]: (string | undefined)[]): boolean =>
    right !== undefined && wrong !== undefined && right !== wrong && isSameValue(right, wrong);
  return pairs.some(isAnew) ? [SENT_ANEW] : [];
}

/** Whether both texts are JSON of one value, with numbers compared as tokens or as numbers. */
function isSameValue(a: string, b: string): boolean {
  const [right, wrong] = parsed(a, b);
  return isSameJson(a, b) || (right !== a && JSON.stringify(right) === JSON.stringify(wrong));
}

const GOES_ON =
  'a failure is final: after a failure the session still says something; nothing is read any more';

/** After a failure nothing may follow. */
function checkSilence(where: string, response: Fields): void {
  const got = Array.isArray(response.events) ? (response.events as (Fields | null)[]) : [];
  if (got.length === 0 && response.error === undefined) return;
  const said = response.error === undefined ? typesOf(got) : show({ ...response, id: undefined });
  throw new Failure({ where, expected: 'events: none', got: said }, [GOES_ON]);
}

/** What the errors of ends mean: each kind of closing, in the words of sessions.md. */
const KINDS: { readonly [error: string]: string } = {
  ...{ dropped: 'a loss', timeout: 'a timeout', unavailable: 'a hub without room' },
  ...{ refused: 'a refusal', 'access-refused': 'a refusal', 'negotiation-refused': 'a refusal' },
  ...{
    'not-a-hub': 'an answer of something else than a hub',
    'not-reachable': 'a hub that is not reachable',
  },
  ...{ 'certificate-refused': 'a refused certificate', 'broker-refused': 'a refusal by the broker' },
  ...{ 'client-key-refused': 'a refusal', 'kk-refused': 'a refusal', unauthorized: 'a refusal' },
};

const NO_CAUSE =
  'endings: the cause for which there is no connection is ignored; it counts before close code and status';
const READY_HEARD =
  'endings: a session that is ready counts as one in which the hub was heard; that is so once a transport message of the hub has opened';
const FIRST_LOST =
  'endings: after a failure the end tells how the transport closed; the first error of the session counts, whatever comes after it';
const HEARD_LATE =
  'endings: the hub counts as heard only once a whole message has arrived; the first transport message that opens is enough';
const CONNECTION_LIMIT = 'connection_limit';
const CODE_FIRST =
  'endings: close code 1008 counts before the reason "connection_limit"; the first kind of the table that fits counts, a hub without room';

/** Whether a transport message is received: bytes that are no envelope, after which the session goes on. */
function isSealed({ do: what, bytes, events }: Fields): boolean {
  return (
    what === 'receive' &&
    typeof bytes === 'string' &&
    !bytes.startsWith('7b') &&
    !has((events as Fields[]) ?? [], 'close')
  );
}

/** The end of a connection: what the session tells must follow from how it closed. */
function checkEnd(
  where: string,
  expected: readonly Fields[],
  response: Fields,
  closing: Fields,
  { received, steps, step, otherErrors }: Opener,
): void {
  const isReady = steps.some(({ events }) => has((events as Fields[] | undefined) ?? [], 'ready'));
  const got = Array.isArray(response.events) ? (response.events as (Fields | null)[]) : [];
  const [right, wrong] = [expected, got].map((events) => events.find((event) => event?.type === 'ended'));
  if (right?.error === undefined || wrong?.error === undefined) return;
  const first = steps
    .slice(0, step)
    .flatMap(({ events }) => (Array.isArray(events) ? (events as Fields[]) : []));
  const failure = first.find(({ type }) => type === 'close')?.error;
  const isAsGood = ['refused', failure, ...otherErrors].includes(wrong.error as string);
  if (failure !== undefined && right.error === failure && !isAsGood)
    throw new Failure(
      { where: `${where}, ended.error`, expected: show(right.error), got: show(wrong.error) },
      [FIRST_LOST],
    );
  const [kind, other] = [KINDS[String(right.error)], KINDS[String(wrong.error)]];
  if (kind === undefined || other === undefined || kind === other) return;
  const ended = { where: `${where}, ended.error`, expected: show(right.error), got: show(wrong.error) };
  const { code, status, reason, cause } = closing;
  if (cause !== undefined && KINDS[String(cause)] === kind) throw new Failure(ended, [NO_CAUSE]);
  const how =
    code === 'timeout'
      ? 'a timeout'
      : status !== undefined
        ? `status ${status}`
        : reason === CONNECTION_LIMIT
          ? `the reason ${show(reason)}`
          : `close code ${code}`;
  const heard = received.some(({ bytes }) => bytes !== undefined) ? ' once the hub was heard' : '';
  const isUnheard = heard === '' && kind === 'a refusal' && other === 'a loss' && isReady;
  const plain = `endings: ${how} is taken for ${other}${heard}; it is ${kind}`;
  const isInPart =
    kind === 'a loss' &&
    steps.slice(0, step).some(isSealed) &&
    !first.some(({ type }) => type === 'message' || type === 'dropped');
  const isByCode = reason === CONNECTION_LIMIT && code === 1008;
  throw new Failure(ended, [
    plain,
    ...(isByCode ? [CODE_FIRST] : []),
    ...(isUnheard ? [READY_HEARD] : []),
    ...(isInPart ? [HEARD_LATE] : []),
  ]);
}

function checkEvents(where: string, expected: readonly Fields[], response: Fields, opener: Opener): void {
  if (response.error !== undefined || !Array.isArray(response.events)) {
    const got = show({ ...response, id: undefined });
    const causes = opener.isLatePsk ? [LATE_PSK] : [];
    const isRefusal = refuses(response.error);
    const refused = { where, expected: `events: ${typesOf(expected)}`, got, ...codeOf(response.error) };
    throw new Failure(refused, causes, false, isRefusal);
  }
  const got = response.events as (Fields | null)[];
  const closing = codeOf(got.find((event) => event?.type === 'close')?.error);
  const said = saidOfEvents(opener, expected, got);
  const difference = {
    where,
    expected: `events: ${typesOf(expected)}`,
    got: typesOf(got),
    ...closing,
    ...said,
  };
  const accepts = has(expected, 'close') && !has(got, 'close');
  const rejects = !has(expected, 'close') && has(got, 'close');
  const inReading = mistakesInReading(opener, expected, got);
  const inEvents =
    inReading.length > 0
      ? inReading
      : [...mistakesInEvents(expected, got, opener), ...mistakesInOrder(expected, got)];
  if (inEvents.length > 0) throw new Failure(difference, inEvents, accepts, rejects);
  for (const [index, event] of expected.entries()) {
    const other = got[index] ?? {};
    if (event.type !== other.type) {
      const goesOn = got.some((event) => event?.type === 'transmit' || event?.type === 'ready');
      const isOfClient = event.error === 'client-key-changed';
      const isIgnored = (isOfClient || event.error === 'hub-key-changed') && goesOn;
      const ignored = isOfClient ? CLIENT_PIN_IGNORED : has(got, 'close') ? PIN_LATE : PIN_IGNORED;
      const causes = isIgnored
        ? [...mistakesInKeeping(opener), ignored, ...mistakesInComparing(opener)]
        : mistakesInPinning(expected, got, opener.isHub);
      throw new Failure(difference, causes, accepts, rejects);
    }
    const { type, error, ...fields } = event;
    for (const [name, value] of Object.entries(fields)) {
      const isVerbatim = type === 'message' && !opener.comparesJson;
      if (!isVerbatim && isEquivalent(name, value, other[name], opener)) continue;
      if (type === 'close' && name === 'code' && other[name] === undefined) continue; // adapters may omit it
      if (name === 'bytes') checkSealed(where, String(value), String(other[name]), opener);
      if (isVerbatim)
        checkValue(`${where}, message.${name}`, value, other[name], () =>
          mistakesInDelivery(value, other[name]),
        );
      const [right, wrong] = name === 'text' ? parsed(value, other[name]) : [value, other[name]];
      checkValue(`${where}, ${type}.${name}`, right, wrong, () => {
        const inField = mistakesInField(opener, event, name, other[name]);
        if (inField.length > 0) return inField;
        if (isWiped(value, other[name]))
          return [`${type}: its ${name} is zeros, as after it was wiped; tell it before, or a copy`];
        if (name === 'salt') return [SALT];
        if (KEYS_SHOWN.includes(name)) return [otherKey(type, name, other[name], opener)];
        if (type === 'close') return [`close code: it is ${wrong} where it is ${right}; ${CLOSE_CODES}`];
        return mistakesInText(value, other[name], opener);
      });
      // It has extra members.
      checkValue(`${where}, ${type}.${name}`, value, other[name], () =>
        mistakesInText(value, other[name], opener),
      );
    }
    if (error !== undefined && !opener.otherErrors.includes(String(other.error)))
      checkRefusal(String(error), other, `${where}, ${type}.error`);
    if (type === 'transmit' && fields.bytes !== undefined) opener.count++;
  }
  if (got.length > expected.length) {
    const isExtra = got.at(-1)?.type === 'ready' && got.length === expected.length + 1;
    const isReady = isExtra && !has(expected, 'ready');
    throw new Failure(difference, isReady && opener.isHub ? [READY_EARLY] : [], accepts, rejects);
  }
}

/** Fields of events that are the static key of the other side. */
const KEYS_SHOWN: readonly string[] = ['hubKey', 'clientKey'];

/** The sentence for another key than the one that the other side has shown. */
function otherKey(type: unknown, name: string, got: unknown, { steps }: Opener): string {
  const own = hexToBytes(String(steps[0]!.staticKey));
  const key = hexToBytes(String(got));
  const is = (other: Uint8Array | undefined): boolean =>
    own?.length === 32 && key !== undefined && other !== undefined && equalBytes(key, other);
  const what = is(own)
    ? 'the own private key, which nobody may see'
    : is(own?.length === 32 ? publicKeyOf(own) : undefined)
      ? 'the own public key'
      : 'another key';
  return `${type}: its ${name} is ${what}; it is the static public key of the other side`;
}

/** Whether a key is zeros. */
function isWiped(right: unknown, got: unknown): boolean {
  return typeof right === 'string' && typeof got === 'string' && /^(?:00){32}$/.test(got) && right !== got;
}

const REWRITTEN =
  'messages: JSON is parsed and written again before it is delivered; deliver the text as it came';
const MARK_STRIPPED =
  'messages: a byte order mark at the start is stripped; decode UTF-8 without that (TextDecoder with ignoreBOM)';

/** The mistakes in the text of a message that is delivered. */
function mistakesInDelivery(right: unknown, got: unknown): Causes {
  if (typeof right !== 'string' || typeof got !== 'string') return [];
  if (right === `\ufeff${got}`) return [MARK_STRIPPED];
  const [a, b] = parsed(right, got);
  return a !== right && JSON.stringify(a) === JSON.stringify(b) ? [REWRITTEN] : [];
}

const pinEarly = (isHub: boolean): string =>
  `pin: it is reported before all of message ${isHub ? 3 : 2} has decrypted; any static key would be pinned`;

function has(events: readonly (Fields | null)[], type: string): boolean {
  return events.some((event) => event?.type === type);
}

/** A pin that is reported although the handshake fails. */
function mistakesInPinning(
  expected: readonly Fields[],
  got: readonly (Fields | null)[],
  isHub: boolean,
): Causes {
  const fails = has(expected, 'close') && has(got, 'close') && !has(expected, 'pin');
  return fails && has(got, 'pin') && !has(got, 'transmit') ? [pinEarly(isHub)] : [];
}

/** A key that counts as the pinned one since only a part is compared. */
function mistakesInComparing({ comment }: Opener): Causes {
  if (/(?:17th|last) byte alone/.test(comment)) return [PIN_PARTLY];
  return /both begin with a zero/.test(comment) ? [PIN_AS_TEXT] : [];
}

const PIN_PARTLY =
  'pin: only the first bytes of the key are compared (in C, sizeof of a pointer is 4 or 8); all 32 are';
const PIN_AS_TEXT = 'pin: keys are compared up to a zero byte (strcmp of C); all 32 bytes are';
const PIN_IGNORED =
  'pin: a hub whose key is not the pinned one is accepted; compare the pin before you send message 3';
const CLIENT_PIN_IGNORED =
  'pin: a client whose key is not the pinned one is accepted; a hub compares the key of message 3 with its pin';
const PIN_LATE =
  'pin: it is compared after message 3 has been sent, which shows the client’s key; compare it before';
const READY_EARLY =
  'ready: a hub is ready under KKpsk0 before the client’s first transport message has decrypted; message 1 may be a replay';
const CLOSE_CODES = '1008 ends a handshake, and 1002 a session';
const SALT = 'psk: the salt is the SHA-256 of the hub’s node id as it came, in UTF-8, and nothing else';

const NO_HELLO = 'HELLO: there is no sealed HELLO; the first sealed message of a client must be one';
const HELLO_IN_CLEAR =
  'HELLO: it is sent in the clear once more; the first sealed message of a client is its HELLO';
const LOW_ORDER =
  'low-order key: it is accepted; a shared secret of 32 zeros ends the handshake (RFC 7748, section 6.1), whichever key led to it';
const ASKED_AGAIN =
  'psk: it is requested anew where the pin is suspect; a KKpsk0 that failed says nothing about the PSK, so use the stored one';
const ASKED = 'psk: it is requested although it is stored; use the stored one';
const REPEATED = 'repeats: a part of the handshake that is repeated is not ignored; it changes nothing';
const BEGUN_AGAIN =
  'repeats: a later HANDSHAKE is answered with another message 1; the first one counts, and a repeat changes nothing';
const ANSWERED_AGAIN =
  'repeats: a repeated message 1 is answered with another message 2; the first one counts, and a repeat changes nothing';

const LATEST = 'HELLO: another one before the HANDSHAKE is refused; it takes the place of the earlier one';

const HANDSHAKE_TYPE = 'msg_type: `handshake` is not accepted in place of `shake`';
const BYTES_LATE =
  'envelopes: a repeat that arrives as bytes on an encrypted session is not ignored; over MQTT all of them do';
const LATE_PSK = 'psk: one that is provided late or twice is refused; it has no effect';

/** The mistakes in reading an envelope of another form, if the usual form was read before. */
function mistakesInForms(count: number, got: readonly (Fields | null)[], opener: Opener): Causes {
  const { steps, step, flags } = opener;
  const { text, bytes } = steps[step]!;
  if (count === 0 && !flags.includes('Repeat')) return [];
  if (!has(got, 'close') && count === 0) return [];
  const earlier = steps.slice(0, step).map((step) => step.text);
  if (typeof text === 'string' && text.includes('"handshake"')) {
    const isRead = count > 0 || earlier.some((other) => isSameOffer(other, text));
    return isRead && has(got, 'close') ? [HANDSHAKE_TYPE] : [];
  }
  const decoded = typeof bytes === 'string' ? textOf(bytes) : undefined;
  if (decoded === undefined || !decoded.startsWith('{')) return [];
  const isOn = steps.slice(0, step).some(({ events }) => has((events as Fields[]) ?? [], 'ready'));
  const isUnread = got.length === 0 || has(got, 'close');
  const isRead = got.some((event) => AFTER_READING.includes(String(event?.error)));
  if (count > 0) return flags.includes('BytesBeforeSession') && isUnread && !isRead ? [BYTES_EARLY] : [];
  return earlier.includes(decoded) ? [isOn ? BYTES_LATE : BYTES_EARLY] : [];
}

/** Whether both texts have the same payload, the first of them in a `shake`. */
function isSameOffer(a: unknown, b: string): boolean {
  try {
    const [first, second] = [JSON.parse(String(a)), JSON.parse(b)];
    return first.msg_type === 'shake' && JSON.stringify(first.payload) === JSON.stringify(second.payload);
  } catch {
    return false;
  }
}

function textOf(bytes: string): string | undefined {
  return bytesToUtf8(hexToBytes(bytes) ?? new Uint8Array(1).fill(0xff));
}

/** Tests whose failures do not speak against a cause about repeats or other forms of envelopes. */
const OF_FORMS: readonly string[] = [
  ...['Repeat', 'Ignored', 'Mqtt', 'LatePsk', 'LatestHello', 'MessageType', 'BytesBeforeSession'],
  ...['UnknownField', 'LostSession', 'TextAfterReady', 'EnvelopeForm'],
];
const FORMS: readonly string[] = [REPEATED, HANDSHAKE_TYPE, BYTES_EARLY, BYTES_LATE];

/** Whether a failure of this test rules out the cause: something is wrong that the mistake does not lead to. */
export function contradictsSession(
  test: Vector,
  failure: NonNullable<Verdict['failure']>,
  cause: string,
): boolean {
  if (cause === CODE_FIRST) return isLimitedOtherwise(test);
  if (failure.causes.length > 0) return false;
  if (contradictsParts(test.steps as Fields[], cause)) return true;
  if (cause === MESSAGE_2_SHORT) return isReady(test);
  if (cause === BYTES_EARLY) return !test.steps.some((_: Fields, step: number) => isEarly(test.steps, step));
  if (FORMS.includes(cause)) return !test.flags.some((flag: string) => OF_FORMS.includes(flag));
  return isUnlike(test, failure, cause);
}

/** Whether the reason `connection_limit` comes in these steps without close code 1008. */
const isLimitedOtherwise = ({ steps }: Vector): boolean =>
  steps.some(({ reason, code }: Fields) => reason === CONNECTION_LIMIT && code !== 1008);

/** Whether a client opens message 2 in these steps. */
function isReady({ steps }: Vector): boolean {
  const events = (steps as Fields[]).flatMap((step) => (step.events as Fields[] | undefined) ?? []);
  return steps[0].role === 'client' && events.some(({ type }) => type === 'ready');
}

/** Whether passing this test rules out the cause. */
export function refutesSession(test: Vector, cause: string): boolean {
  const isCompared = test.error === 'hub-key-changed' && test.steps[0].suspects === undefined;
  if (cause === ASKED) return isStoredUsed(test);
  if (cause === CLIENT_PIN_IGNORED) return test.error === 'client-key-changed';
  return cause === PIN_IGNORED ? isCompared : refutesReading(test, cause);
}

/** Whether a client in these steps uses a stored PSK, and has no suspect pin. */
function isStoredUsed({ steps }: Vector): boolean {
  const [{ role, psks, suspects }, ...rest] = steps as [Fields, ...Fields[]];
  const isSent = rest.some(
    ({ do: what, events }) =>
      what === 'receive' && (events as Fields[] | undefined)?.[0]?.type === 'transmit',
  );
  const isAsked = rest.some(({ do: what }) => what === 'psk');
  return (
    role === 'client' && Object.keys(psks ?? {}).length > 0 && suspects === undefined && isSent && !isAsked
  );
}

/** Events for the caller alone, and the name of each. */
const TOLD: readonly string[] = [
  ...['pin', 'pin-suspect', 'psk', 'psk-suspect', 'new-hub', 'static-key-fresh'],
];

const UNDOUBTED =
  'pin-suspect: it does not come where the hub closes with 1008 while message 2 of KKpsk0 is awaited';
const DOUBTED =
  'pin-suspect: it comes at an end that is no failure of KKpsk0; only 1008 while message 2 is awaited is one';

/** A pin that an end makes suspect, or does not, against its meaning. */
function mistakesInDoubt(types: readonly string[], others: readonly string[]): Causes {
  const type = 'pin-suspect';
  const without = (list: readonly string[]): string => list.filter((other) => other !== type).join();
  if (without(types) !== without(others)) return [];
  return types.includes(type) ? [`${type}: ${MISSING}`, UNDOUBTED] : [`${type}: ${UNDUE}`, DOUBTED];
}

/** The mistakes in the events as a whole. */
function mistakesInEvents(
  expected: readonly Fields[],
  got: readonly (Fields | null)[],
  opener: Opener,
): Causes {
  const { isHub, flags } = opener;
  const types = expected.map(typeOf);
  const others = got.map((event) => typeOf(event ?? {}));
  if (types.join() === others.join()) return [];
  const early = mistakesInPinning(expected, got, isHub);
  if (early.length > 0) return early;
  if (expected.some(({ error }) => error === 'low-order-key')) return has(got, 'close') ? [] : [LOW_ORDER];
  const form = mistakesInForms(types.length, got, opener);
  if (form.length > 0) return form;
  if (types.length === 0 && flags.includes('Repeat')) {
    const answer = got.map((event) => noiseOf(event?.text)).find((noise) => noise?.msg !== undefined);
    if (answer !== undefined) return [isHub ? ANSWERED_AGAIN : BEGUN_AGAIN];
    if (!flags.includes('LatestHello')) return [REPEATED];
    return has(got, 'close') ? [LATEST, REPEATED] : [];
  }
  const sealed = 'transmit of a sealed message';
  if (!isHub && has(expected, 'ready') && types.includes(sealed) && !others.includes(sealed)) {
    const rest = types.filter((type) => type !== sealed);
    if (rest.join() === others.join()) return [NO_HELLO];
    if (types.map((type) => (type === sealed ? 'transmit of an envelope' : type)).join() === others.join())
      return [HELLO_IN_CLEAR];
  }
  if (types.join() === 'transmit of an envelope' && others.join() === 'psk-needed')
    return isSuspect(opener) ? [ASKED, ASKED_AGAIN] : [ASKED];
  if (has(expected, 'ended')) return mistakesInDoubt(types, others); // the rest is about the meaning of the end
  const errorOf = (events: readonly (Fields | null)[]): unknown =>
    events.find((event) => event?.type === 'close')?.error;
  if (errorOf(expected) !== errorOf(got)) return []; // and the other events belong to a different failure
  for (const type of TOLD) {
    const without = (list: readonly string[]): string => list.filter((other) => other !== type).join();
    if (without(types) !== without(others) || types.includes(type) === others.includes(type)) continue;
    const plain = types.includes(type) ? `${type}: ${MISSING}` : `${type}: ${UNDUE}`;
    return [plain, ...mistakesInTelling(opener, type, expected)];
  }
  return [];
}

/** The order of events, if nothing else is wrong. Envelopes and sealed messages are both `transmit`. */
function mistakesInOrder(expected: readonly Fields[], got: readonly (Fields | null)[]): Causes {
  const types = expected.map(typeOf);
  const others = got.map((event) => typeOf(event ?? {}));
  if (types.join() === others.join() || [...types].sort().join() !== [...others].sort().join()) return [];
  return [`order: the events are ${others.join(', ')}; they are ${types.join(', ')}`];
}

function typeOf({ type, text }: Fields): string {
  if (type !== 'transmit') return String(type);
  return text === undefined ? 'transmit of a sealed message' : 'transmit of an envelope';
}

/** The session in a HELLO. */
function sessionOf(envelope: unknown): Fields | null | undefined {
  return (envelope as { payload?: { session?: Fields | null } } | undefined)?.payload?.session;
}

/** An id in a session that was given without one, and that is as it was given otherwise. */
function mistakesInAddedId(right: unknown, wrong: unknown): Causes {
  const [given, sent] = [sessionOf(right), sessionOf(wrong)];
  if (typeof given !== 'object' || given === null || given.session_id !== undefined) return [];
  const names = Object.keys(given);
  if (sent?.session_id === undefined || names.some((name) => show(given[name]) !== show(sent[name])))
    return [];
  return names.length > 0 ? [ID_ADDED] : [ID_ADDED, GIVEN];
}

const HELLO_AS_BYTES = 'HELLO: it is sealed as a binary message; it is JSON';

/** Compares the contents of two messages whose bytes differ, if both open. */
function checkSealed(where: string, expected: string, got: string, opener: Opener): void {
  const isHello = !opener.isHub && opener.count === 0;
  const [right, wrong] = [opener.read(expected), opener.read(got)];
  if (right === undefined) return;
  if (wrong === undefined) {
    const binary = isHello ? opener.read(got, 1) : undefined;
    if (binary === undefined) return;
    const marker = { where: `${where}, the sealed message`, expected: 'the marker 0', got: 'the marker 1' };
    throw new Failure(marker, [HELLO_AS_BYTES, KINDS_SWAPPED]);
  }
  const given = isHello ? mistakesInGiven(opener, right, wrong) : [];
  const added = isHello ? mistakesInAddedId(right, wrong) : [];
  if (added.length > 0) {
    const difference = { where: `${where}, the sealed message`, expected: show(right), got: show(wrong) };
    throw new Failure(difference, added);
  }
  if (given.length > 0) checkValue(`${where}, the sealed message`, right, wrong, () => given);
  const isNormal = mistakesInHello(right).length === 0; // some vectors have a HELLO that lacks fields on purpose
  const causes =
    isHello && isNormal
      ? [
          ...mistakesInHello(wrong),
          ...mistakesInPubkey(right, wrong, opener),
          ...mistakesInSessionId(right, wrong),
        ]
      : [];
  checkValue(`${where}, the sealed message`, right, wrong, () => causes);
  throw new Failure(
    { where: `${where}, the sealed message`, expected: show(right), got: show(wrong) },
    causes,
  );
}

const GIVEN =
  'HELLO: a field that the caller gives does not replace the one that it has by default, such as session';

/** Fields of HELLO that the caller gave, and that it does not have. */
function mistakesInGiven({ steps }: Opener, right: unknown, wrong: unknown): Causes {
  const [a, b] = [right, wrong].map((envelope) => (envelope as { payload?: Fields } | undefined)?.payload);
  const [given] = parsed(steps[0]!.hello, '{}');
  const names = typeof given === 'object' && given !== null ? Object.keys(given) : [];
  const isOther = (name: string): boolean => show(a?.[name]) !== show(b?.[name]);
  return names.some((name) => DEFAULTS.includes(name) && b?.[name] !== undefined && isOther(name))
    ? [GIVEN]
    : [];
}

/** The fields that HELLO has by default. */
const DEFAULTS = ['pubkey', 'site_id', 'session'];

const ID_ADDED =
  'HELLO: an id is added to a session that the caller gives without one; it is sent as it was given';
const SESSION_ID = 'by default it is the first 16 bytes of the handshake hash, in hex';

/** The id of a session that the caller did not name. */
function mistakesInSessionId(right: unknown, wrong: unknown): Causes {
  const [id, other] = [right, wrong].map((envelope) => sessionOf(envelope)?.session_id);
  if (typeof id !== 'string' || typeof other !== 'string' || id === other) return [];
  if (!/^[\da-f]{32}$/.test(id)) return [];
  if (other.toLowerCase() === id)
    return ['session id: its letters are capitals; hexadecimal digits are written in lower case'];
  if (other.startsWith(id))
    return [`session id: it has ${other.length / 2} bytes of the handshake hash; ${SESSION_ID}`];
  return [`session id: it is another one; ${SESSION_ID}`];
}

/** A client without an RSA key says `null`: hubs pin an empty string like a key. */
function mistakesInPubkey(right: unknown, wrong: unknown, { steps }: Opener): Causes {
  const [due, is] = [right, wrong].map(
    (envelope) => (envelope as { payload?: Fields } | undefined)?.payload?.pubkey,
  );
  if (due !== null) return [];
  if (is === '') return ['HELLO: its pubkey is an empty string; without a key it is null'];
  const key = typeof is === 'string' ? keyIn(is) : undefined;
  const own = hexToBytes(String(steps[0]!.staticKey));
  if (key === undefined || own?.length !== 32) return [];
  if (equalBytes(key, own))
    return [`HELLO: its pubkey is the private static key, which nobody may see; ${OF_RSA}`];
  return equalBytes(key, publicKeyOf(own)) ? [`HELLO: its pubkey is the static key of Noise; ${OF_RSA}`] : [];
}

const OF_RSA = 'it is an RSA key in PEM, and null without one';

/** The 32 bytes of a key in hexadecimal or base64. */
function keyIn(text: string): Uint8Array | undefined {
  const bytes = hexToBytes(text) ?? Buffer.from(text, 'base64');
  return bytes.length === 32 ? bytes : undefined;
}

/** Two envelopes as JSON, with fields in any order; or unchanged. */
function parsed(right: unknown, wrong: unknown): [unknown, unknown] {
  try {
    return [JSON.parse(String(right)), JSON.parse(String(wrong))];
  } catch {
    return [right, wrong];
  }
}

function mistakesInText(right: unknown, wrong: unknown, { isHub, steps, step }: Opener): Causes {
  const causes = mistakesInEnvelope(right, wrong, isHub);
  const before = steps.slice(0, step + 1);
  return causes.length > 0 ? causes : withFirstHello(before, mistakesInMessage1(before, wrong));
}

/**
 * Mistakes in the ephemeral key at the start of message 1 or 2, and in a message 3 with fields that only message 1 has.
 * @param isHub - whether the session under test, which wrote this, is a hub's
 */
function mistakesInEnvelope(expected: unknown, got: unknown, isHub: boolean): Causes {
  const [right, wrong] = [noiseOf(expected), noiseOf(got)];
  if (typeof right?.msg !== 'string') return [];
  if (wrong === undefined)
    return ['envelope: it has no `noise` in its payload, where a Noise message travels'];
  if (typeof wrong.msg !== 'string') return [];
  const form = mistakesInForm(right.msg, wrong.msg);
  const lacks = ['pattern', 'suite'].filter((name) => right[name] !== undefined && wrong[name] === undefined);
  if (form.length > 0) return form;
  if (lacks.length > 0) return [`message 1: it does not name ${lacks.join(' and ')}; it names both`];
  const isThird = !isHub && Object.keys(right).join() === 'msg';
  const excess = excessOf(right.msg, wrong.msg);
  const isNamed = right.pattern === undefined && (wrong.pattern !== undefined || wrong.suite !== undefined);
  if (isHub && isNamed) return [NAMED_IN_2];
  if (isThird && isNamed) return [NAMED_AGAIN];
  if (isThird && excess > 0) return [`message 3: its payload has ${excess} bytes; it is empty`];
  if (isHub && excess !== 0) {
    return [
      `message 2: its payload is ${Math.abs(excess)} bytes too ${excess > 0 ? 'long' : 'short'}; it is {}`,
    ];
  }
  return isThird ? [] : mistakesInEphemeralKey(right.msg, wrong.msg);
}

const NAMED_IN_2 = 'message 2: it names pattern or suite; only message 1 does';
const NAMED_AGAIN = 'message 3: it names pattern or suite; only message 1 does';

/** Where a message without payload or without a part of it ends: before and after a static key. In hexadecimal digits. */
const ENDS: readonly number[] = [0, 64, 160];
const TAG_DIGITS = 32;

/** Mistakes in the encoding of a Noise message. */
function mistakesInForm(right: string, got: string): Causes {
  if (got === right) return [];
  if (right.startsWith(got) && !ENDS.includes(got.length) && right.length - got.length !== TAG_DIGITS)
    return [`msg: only its first ${got.length} digits are written; write all of them`];
  if (got.toLowerCase() === right) return ['msg: its digits are in upper case; they are in lower case'];
  const isBase64 = ['base64', 'base64url'].some(
    (form) => Buffer.from(right, 'hex').toString(form as BufferEncoding) === got,
  );
  return isBase64 ? ['msg: it is base64; it is hexadecimal'] : [];
}

function noiseOf(envelope: unknown): Fields | undefined {
  try {
    return JSON.parse(String(envelope)).payload.noise;
  } catch {
    return undefined;
  }
}

function typesOf(events: readonly (Fields | null)[]): string {
  return events.length === 0 ? 'none' : events.map((event) => event?.type).join(', ');
}

/** Whether two different strings hold the same JSON, in clear or sealed. */
function isEquivalent(name: string, expected: unknown, got: unknown, opener: Opener): boolean {
  if (typeof expected !== 'string' || typeof got !== 'string') return false;
  if (name === 'text' || name === 'payload') return isSameJson(expected, got);
  return name === 'bytes' && opener.isSameJson(expected, got);
}

function isSameJson(a: string, b: string): boolean {
  try {
    const [right, wrong] = [parseJson(a), parseJson(b)].map((value) => canonicalJson(withNulls(value)));
    return equalBytes(right!, wrong!);
  } catch {
    return false; // strings that are not JSON are compared as strings
  }
}

/** A HANDSHAKE with the four fields that it may lack, since its reader reads none of them (P-22, P-24). */
export function withNulls<Value>(envelope: Value): Value {
  const isHandshake = (envelope as Fields | null)?.msg_type === 'shake';
  const nulls = { node: null, target_site_id: null, target_pubkey: null, source_peer: null };
  return isHandshake ? { ...nulls, ...envelope } : envelope;
}

/** Opens the implementation's sealed messages, to compare the JSON inside. */
class Opener {
  /** How many messages the implementation has sealed. */
  count = 0;
  readonly isHub: boolean;
  /** Codes that are as good as the vector's. */
  readonly otherErrors: readonly string[];
  readonly flags: readonly string[];
  readonly comment: string;
  /** Whether JSON may be delivered in another form than it came. */
  readonly comparesJson: boolean;
  /** All steps, and the index of the current one. */
  readonly steps: readonly Fields[];
  step = 0;
  /** The steps in which the session received something. */
  readonly received: readonly Fields[];
  readonly #key: Uint8Array | undefined;
  readonly #suite: Suite | undefined;

  constructor({ steps, keys, suite, flags, comment, comparesJson, otherErrors = [] }: Vector) {
    this.flags = flags;
    this.comment = comment;
    this.comparesJson = comparesJson === true;
    const key = keys?.[steps[0].role === 'client' ? 'clientToHub' : 'hubToClient'];
    this.#key = key && hexToBytes(key);
    this.#suite = suite;
    this.otherErrors = otherErrors;
    this.received = steps.filter((step: Fields) => step.do === 'receive');
    this.isHub = steps[0].role === 'hub';
    this.steps = steps;
  }

  /** Whether the current step provides a PSK that must have no effect. */
  get isLatePsk(): boolean {
    const { do: what, events } = this.steps[this.step]!;
    return what === 'psk' && Array.isArray(events) && events.length === 0;
  }

  /** The JSON text in one of the next sealed messages. */
  textOf(sealed: string, offset: number): string | undefined {
    return this.#open(sealed, 0, this.count + offset);
  }

  /** The JSON in a sealed message. */
  read(sealed: string, marker = 0): unknown {
    try {
      return JSON.parse(this.#open(sealed, marker) ?? '');
    } catch {
      return undefined;
    }
  }

  isSameJson(expected: string, got: string): boolean {
    const a = this.#open(expected);
    const b = this.#open(got);
    return a !== undefined && b !== undefined && isSameJson(a, b);
  }

  #open(sealed: string, marker = 0, count = this.count): string | undefined {
    const message = hexToBytes(sealed);
    if (message === undefined || this.#key === undefined || this.#suite === undefined) return undefined;
    const name = cipherNameOf(this.#suite);
    const nonce = new Uint8Array(12);
    new DataView(nonce.buffer).setBigUint64(4, BigInt(count), name === 'ChaChaPoly');
    try {
      const frame = nodeCrypto.ciphers[name]!(this.#key.slice()).open(nonce, new Uint8Array(0), message);
      return frame?.[0] === marker ? bytesToUtf8(frame.subarray(1)) : undefined;
    } catch {
      return undefined;
    }
  }
}
