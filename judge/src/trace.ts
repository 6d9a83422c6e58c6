/**
 * The values of a handshake, token by token, and the first of an implementation's that differs: an adapter may add to its
 * responses what its Noise has computed, as `trace`. vectors/README.md describes it.
 */
import type { Fields } from './adapter.ts';
import { type Difference, firstDifference } from './difference.ts';
import {
  buildPrologue,
  bytesToHex,
  bytesToUtf8,
  cipherNameOf,
  hexToBytes,
  type JsonObject,
  PATTERNS,
  type Pattern,
  parseJson,
  protocolName,
  type Suite,
  type Token,
} from './protocol.ts';
import { publicKeyOf, type Side, SymmetricState, sharedSecretOf } from './symmetric-state.ts';
import type { Vector } from './vectors.ts';

/** A handshake as one side sees it. All bytes are in hexadecimal. */
export interface Seen {
  readonly side: Side;
  readonly pattern: Pattern;
  readonly suite: Suite;
  readonly prologue: string;
  readonly psk?: string | undefined;
  /** Its private keys, and the other side's public static key in KKpsk0. */
  readonly staticKey?: string | undefined;
  readonly ephemeralKey?: string | undefined;
  readonly remoteStaticKey?: string | undefined;
  /** What stands in for its private keys: its public static key, and the other side's private keys. */
  readonly publicKey?: string | undefined;
  readonly remote?: { readonly s?: string | undefined; readonly e?: string | undefined };
  readonly messages: readonly string[];
  /** How many messages it seals and then opens afterwards. */
  readonly sealed?: number;
  readonly opened?: number;
}

/** One step of a handshake: a call of the AEAD, or values that are computed. */
export interface Step {
  readonly where: string;
  /** What the values that are computed are made of. */
  readonly made: string;
  readonly isCall: boolean;
  readonly fields: { readonly [field: string]: string };
  /** What was opened before. */
  readonly plaintext?: Uint8Array;
}

const TAG = 16;
const KEY = 32;
const START = 'start';
const OWNERS = { init: 'client', resp: 'hub' } as const;
const KINDS = { s: 'static', e: 'ephemeral' } as const;
const CALL = ['k', 'nonce', 'ad'];
/** Values that are long enough to know another one by. */
const NAMED = ['h', 'ck', 'k'];
const PROLOGUE = 'the first input of MixHash: in a session, both canonical payloads and the protocol name';
const COMPUTED = ['prologue', 'h', 'ck', 'k', 'n', 'send', 'receive'];

const NO_BYTES = new Uint8Array(0);

const bytes = (hex: string): Uint8Array => hexToBytes(hex)!;
const keyOf = (hex: string | undefined): Uint8Array | undefined =>
  hex === undefined ? undefined : bytes(hex);

/** Why a handshake is not followed to its end. */
export type Stop = 'does not open' | 'lacks the PSK' | 'lacks a key';

type Keys = { s?: Uint8Array | undefined; e?: Uint8Array | undefined };

/**
 * Goes through a handshake as one side. Of each Diffie-Hellman pair it needs one private key, so that its own messages open as well.
 * Where it has to stop, it goes on with other values: the steps are right, and their values are not known.
 */
class Walk {
  readonly steps: Step[] = [];
  stop: Stop | undefined;
  /** How many steps have their right values. */
  known: number = Number.POSITIVE_INFINITY;
  readonly #seen: Seen;
  readonly #noise: SymmetricState;
  readonly #own: Keys;
  readonly #ownPublic: Keys;
  readonly #remote: Keys;
  readonly #remotePublic: Keys;

  constructor(seen: Seen) {
    const { side, pattern, suite, prologue, staticKey, ephemeralKey, publicKey, remoteStaticKey } = seen;
    this.#seen = seen;
    this.#own = { s: keyOf(staticKey), e: keyOf(ephemeralKey) };
    this.#remote = { s: keyOf(seen.remote?.s), e: keyOf(seen.remote?.e) };
    this.#ownPublic = { s: this.#own.s ? publicKeyOf(this.#own.s) : keyOf(publicKey) };
    this.#remotePublic = { s: keyOf(remoteStaticKey) };
    this.#noise = new SymmetricState(pattern, suite);
    this.#compute(START, 'the protocol name: padded with zeros to 32 bytes, or hashed if it is longer');
    this.#noise.mixHash(bytes(prologue));
    this.#compute(START, 'MixHash(prologue)', { prologue });
    for (const owner of PATTERNS[pattern].staticKeysKnown ? (['init', 'resp'] as const) : []) {
      const key = owner === side ? this.#ownPublic.s : this.#remotePublic.s;
      if (key === undefined) this.#stopAt('lacks a key');
      this.#noise.mixHash(key ?? NO_BYTES);
      this.#compute(START, `MixHash(the ${OWNERS[owner]}’s static key), a pre-message of KK`);
    }
  }

  /** Goes on with a message. */
  pass(message: Uint8Array, index: number): void {
    const { side, pattern, psk } = this.#seen;
    const publics = (index % 2 === 0) === (side === 'init') ? this.#ownPublic : this.#remotePublic;
    let rest = message;
    const take = (length: number): Uint8Array => {
      const part = rest.slice(0, length);
      rest = rest.slice(length);
      return part;
    };
    for (const token of PATTERNS[pattern].messages[index]!) {
      const where = `message ${index + 1}, ${token}`;
      if (token === 'e') {
        publics.e = take(KEY);
        this.#noise.mixEphemeral(publics.e);
        this.#compute(where, 'MixHash(e) and then MixKey(e), as in every pattern with a psk');
      } else if (token === 's') {
        publics.s = this.#open(where, take(KEY + TAG));
      } else if (token === 'psk') {
        if (psk === undefined) this.#stopAt('lacks the PSK');
        this.#noise.mixKeyAndHash(bytes(psk ?? ''));
        this.#compute(where, 'MixKeyAndHash(psk)');
      } else this.#mixShared(where, token);
    }
    this.#open(`message ${index + 1}, payload`, rest);
  }

  #stopAt(stop: Stop): void {
    this.stop ??= stop;
    this.known = Math.min(this.known, this.steps.length);
  }

  /** Split, and the messages after it. */
  end(): void {
    const { side, sealed = 0, opened = 0 } = this.#seen;
    const { sendKey, receiveKey } = this.#noise.split(side);
    const [send, receive] = [bytesToHex(sendKey), bytesToHex(receiveKey)];
    const made = 'HKDF(ck, no input): the client sends with the first key, and the hub with the second';
    this.steps.push({ where: 'split', made, isCall: false, fields: { send, receive } });
    for (let i = 0; i < sealed; i++) this.#call(`sealed message ${i + 1}`, send, `${i}`, '');
    for (let i = 0; i < opened; i++) this.#call(`opened message ${i + 1}`, receive, `${i}`, '');
  }

  #compute(where: string, made: string, more: { [field: string]: string } = {}): void {
    this.steps.push({ where, made, isCall: false, fields: { ...more, ...this.#noise.state } });
  }

  #call(where: string, k: string, nonce: string, ad: string): void {
    this.steps.push({ where, made: '', isCall: true, fields: { k, nonce, ad } });
  }

  /** DecryptAndHash, which gives the values of EncryptAndHash as well. */
  #open(where: string, sealed: Uint8Array): Uint8Array | undefined {
    const { h, k, n } = this.#noise.state;
    this.#call(where, k!, n!, h!);
    const plaintext = this.#noise.decryptAndHash(sealed);
    if (plaintext === undefined) {
      this.#stopAt('does not open');
      this.#noise.encryptAndHash(sealed);
    }
    const made = 'MixHash(the ciphertext with its tag)';
    this.steps.push({
      ...{ where, made, isCall: false, fields: this.#noise.state },
      ...(plaintext && { plaintext }),
    });
    return plaintext;
  }

  #mixShared(where: string, token: Exclude<Token, 'e' | 's' | 'psk'>): void {
    const [init, resp] = [...token] as ['s' | 'e', 's' | 'e'];
    const [mine, other] = this.#seen.side === 'init' ? [init, resp] : [resp, init];
    const secret =
      shared(this.#own[mine], this.#remotePublic[other]) ??
      shared(this.#remote[other], this.#ownPublic[mine]);
    if (secret === undefined) this.#stopAt('lacks a key');
    this.#noise.mixKey(secret ?? NO_BYTES);
    this.#compute(where, `MixKey(X25519(the client’s ${KINDS[init]} key, the hub’s ${KINDS[resp]} key))`);
  }
}

/** The result of X25519; `undefined` without a key, or with one of low order. */
function shared(own: Uint8Array | undefined, other: Uint8Array | undefined): Uint8Array | undefined {
  try {
    return own && other && sharedSecretOf(own, other);
  } catch {
    return undefined;
  }
}

/** The steps of a handshake with their values, why they are not known to its end, if they are not, and all of its steps. */
export function follow(seen: Seen): {
  readonly steps: readonly Step[];
  readonly stop: Stop | undefined;
  readonly all: readonly Step[];
} {
  const walk = new Walk(seen);
  const due = PATTERNS[seen.pattern].messages.length;
  for (const [index, message] of seen.messages.slice(0, due).entries()) walk.pass(bytes(message), index);
  if (seen.messages.length >= due) walk.end();
  return { steps: walk.steps.slice(0, walk.known), stop: walk.stop, all: walk.steps };
}

/** Every step of a handshake, as far as its messages open. */
export const stepsOf = (seen: Seen): readonly Step[] => follow(seen).steps;

/** The handshake of a vector that this request, `start` or `open`, begins; `undefined` if it has none. */
export function seenIn(test: Vector, request: Fields): Seen | undefined {
  if (request.op === 'session') return seenInSession(test.steps as Fields[]);
  const side = request.role === 'initiator' ? 'init' : 'resp';
  const messages = ((test.messages ?? test.steps) as Fields[]).map(({ message }) => message);
  const transport = (test.transport ?? []) as Fields[];
  const sealed = transport.filter(({ from }) => from === side).length;
  const all = messages.filter((message) => typeof message === 'string');
  return { ...(request as unknown as Seen), side, messages: all, sealed, opened: transport.length - sealed };
}

/** The handshake of a session, from the envelopes that it gets and those that it has to write. */
function seenInSession([open, ...steps]: readonly Fields[]): Seen | undefined {
  const isHub = open!.role === 'hub';
  const envelopes = steps.flatMap(({ text, bytes: hex, events = [] }) => [
    { isHubs: !isHub, ...envelopeIn(text ?? bytesToUtf8(hexToBytes(`${hex}`) ?? NO_BYTES)) },
    ...(events as Fields[]).map((event) => ({ isHubs: isHub, ...envelopeIn(event.text) })),
  ]);
  let [hello, offer, chosen]: (JsonObject | undefined)[] = [];
  const messages: string[] = [];
  for (const { isHubs, type, payload, noise } of envelopes) {
    if (isHubs && type === 'hello' && offer === undefined) hello = payload;
    if (isHubs && type === 'shake' && noise?.patterns !== undefined) offer ??= payload;
    const isDue = isHubs === (messages.length % 2 === 1);
    if (type !== 'shake' || typeof noise?.msg !== 'string' || !isDue || !hexToBytes(noise.msg)) continue;
    if (messages.length === 0) chosen = noise;
    messages.push(noise.msg);
  }
  if (hello === undefined || offer === undefined || chosen === undefined) return undefined;
  const { pattern, suite } = chosen as { pattern: Pattern; suite: Suite };
  const { staticKey, ephemeralKey, clientKey, pins, psks, psk: own } = open as { [field: string]: string };
  const of = (keys: unknown): string | undefined => Object(keys)[String(hello.node_id)];
  const psk = isHub
    ? own
    : (of(psks) ??
      (steps.find((step) => step.do === 'psk' && step.error === undefined)?.psk as string | undefined));
  const remote = pattern === 'XXpsk2' ? undefined : isHub ? clientKey : of(pins);
  if (PATTERNS[pattern] === undefined) return undefined;
  const keys = {
    psk: psk!,
    staticKey: staticKey!,
    ephemeralKey: ephemeralKey!,
    ...(remote && { remoteStaticKey: remote }),
  };
  if (!Object.values(keys).every(isKey) || (pattern === 'KKpsk0' && remote === undefined)) return undefined;
  const prologue = bytesToHex(buildPrologue(hello, offer, protocolName(pattern, suite)));
  return { side: isHub ? 'resp' : 'init', pattern, suite, prologue, ...keys, messages };
}

const isKey = (hex: unknown): boolean => typeof hex === 'string' && hexToBytes(hex)?.length === KEY;

interface Envelope {
  readonly type?: unknown;
  readonly payload?: JsonObject;
  readonly noise?: JsonObject | undefined;
}

function envelopeIn(text: unknown): Envelope {
  try {
    const { msg_type, payload } = parseJson(String(text)) as { [field: string]: JsonObject };
    const type = (msg_type as unknown) === 'handshake' ? 'shake' : msg_type;
    return { type, payload: payload!, noise: payload!.noise as JsonObject | undefined };
  } catch {
    return {};
  }
}

/** A value of an implementation that is not what it has to be. */
export interface WrongValue {
  readonly difference: Difference;
  /** Where it is, and what the right one is made of. */
  readonly says: string;
}

/** A value, if it is known, and the index of its step. */
interface Found {
  readonly value?: string | undefined;
  readonly at: number;
}

/** What is computed before a call of the AEAD, field by field, and the call. */
interface Part {
  readonly computed: { readonly [field: string]: readonly Found[] };
  readonly call?: { readonly fields: Step['fields']; readonly at: number } | undefined;
}

function partsOf(steps: readonly Step[]): Part[] {
  const last: { [field: string]: string } = {};
  const parts: Part[] = [];
  let computed: { [field: string]: Found[] } = {};
  for (const [at, { isCall, fields }] of steps.entries()) {
    if (isCall) {
      parts.push({ computed, call: { fields, at } });
      computed = {};
    } else {
      for (const [field, value] of Object.entries(fields)) {
        if (last[field] !== value) computed[field] = [...(computed[field] ?? []), { value, at }];
        last[field] = value;
      }
    }
  }
  return [...parts, { computed }];
}

/**
 * The first value of a trace that differs from what it has to be. A trace need not have every field, but of a field that it has,
 * every value.
 * @param passed - how many messages have been written or read, with all that belongs to them
 */
export function firstWrongValue(seen: Seen, trace: readonly Fields[], passed = 0): WrongValue | undefined {
  const { steps, all } = follow(seen);
  const got = trace.flatMap(stepsIn);
  const due = got.some(isCallOf) ? all : all.filter((step) => !isCallOf(step));
  const isKnown = ({ at }: Found): boolean => steps.includes(due[at]!);
  const right = partsOf(due).map(({ computed, call }) => ({
    computed: mapped(computed, (values) => values.map((one) => (isKnown(one) ? one : { at: one.at }))),
    call: call && isKnown(call) ? call : undefined,
  }));
  return firstOf(due, right, got, seen.suite, passed);
}

/**
 * The first value in which the traces of both sides of a handshake differ. No key is needed for that: of what one side sees, its
 * pattern, suite and messages count. The value due is the other's.
 */
export function firstUnequalValue(
  seen: Seen,
  trace: readonly Fields[],
  others: readonly Fields[],
): WrongValue | undefined {
  const turned = others.map(({ send, receive, ...rest }) => ({ ...rest, send: receive, receive: send }));
  const both = [trace, turned].map((entries) => entries.flatMap(stepsIn));
  const isWhole = both.every((steps) => steps.some(isCallOf));
  const [got, theirs, due] = [...both, follow(seen).all].map((steps) =>
    steps.filter((step) => isWhole || !isCallOf(step)),
  ) as [Step[], Step[], Step[]];
  const parts = partsOf(theirs);
  const right = partsOf(due).map(({ computed, call }, index) => {
    const part = parts[index];
    const valued = (all: readonly Found[], field: string): Found[] => {
      const values = part?.computed[field] ?? [];
      const missing = all.length - values.length;
      const left =
        index > 0 || missing <= 0 ? 0 : part?.call ? Math.min(missing, earlyIn(all, due)) : all.length;
      return all.map(({ at }, place) => ({ at, value: values[place - left]?.value }));
    };
    return {
      computed: mapped(computed, valued),
      call: call && part?.call && { at: call.at, fields: part.call.fields },
    };
  });
  return firstOf(due, right, got, seen.suite);
}

const isCallOf = ({ isCall }: Step): boolean => isCall;

const mapped = (
  computed: Part['computed'],
  map: (values: readonly Found[], field: string) => Found[],
): Part['computed'] =>
  Object.fromEntries(Object.entries(computed).map(([field, values]) => [field, map(values, field)]));

/** How many values are of the start, which a trace may leave out. */
const earlyIn = (values: readonly Found[], steps: readonly Step[]): number =>
  values.filter(({ at }) => steps[at]!.where === START).length;

function firstOf(
  steps: readonly Step[],
  right: readonly Part[],
  got: readonly Step[],
  suite: Suite,
  passed = 0,
): WrongValue | undefined {
  const isPassed = (at: number): boolean => Number(/^message (\d)/.exec(steps[at]!.where)?.[1]) <= passed;
  const fields = [...new Set(got.flatMap(({ isCall, fields }) => (isCall ? [] : Object.keys(fields))))];
  for (const [index, { computed, call }] of partsOf(got).entries()) {
    const due = right[index];
    if (due === undefined) return undefined;
    const wrong: Wrong[] = [];
    const isWhole = call !== undefined;
    for (const field of fields) {
      const all = due.computed[field] ?? [];
      const theirs = computed[field] ?? [];
      const [own, at] = aligned(all, theirs, earlyIn(all, steps), isWhole || field !== 'h');
      if (at >= 0 && (isWhole || at < theirs.length || isPassed(own[at]!.at)))
        wrong.push({ field, at: own[at]!.at, due: own[at]!.value!, got: theirs[at]?.value, isWhole });
    }
    for (const field of CALL) {
      const [value, theirs] = [due.call?.fields[field], call?.fields[field]];
      if (value !== undefined && theirs !== undefined && countOf(value, suite) !== countOf(theirs, suite))
        wrong.push({ field, at: due.call!.at, due: value, got: theirs, isWhole });
    }
    if (!isWhole && due.call !== undefined && isPassed(due.call.at) && got.some(isCallOf))
      wrong.push({ field: 'k', at: due.call.at, due: due.call.fields.k!, got: undefined, isWhole });
    const [first] = wrong.sort((a, b) => a.at - b.at);
    if (first !== undefined) return wrongValue(steps, first);
  }
  return undefined;
}

/**
 * The values that are due, without those of the start that a trace has left out, and the index of the first that differs. A value
 * that is not known differs from none.
 */
function aligned(
  all: readonly Found[],
  theirs: readonly Found[],
  early: number,
  isWhole: boolean,
): [own: readonly Found[], at: number] {
  const from = (skipped: number): [readonly Found[], number] => {
    const own = all.slice(skipped);
    const isOther = ({ value }: Found, index: number): boolean =>
      value !== undefined && value !== theirs[index]?.value;
    return [own, own.findIndex(isOther)];
  };
  // A value that came is none that was left out.
  const most = Math.min(early, Math.max(0, all.length - theirs.length));
  const ways = [isWhole ? most : 0, ...Array(most + 1).keys()].map(from);
  const reach = ([own, at]: [readonly Found[], number]): number =>
    at < 0 ? own.filter(({ value }) => value !== undefined).length : at;
  return ways.sort((a, b) => reach(b) - reach(a))[0]!;
}

/** An entry of a trace: a call of the AEAD, or what was computed, or first the one and then the other. */
function stepsIn(entry: Fields): Step[] {
  const isCall = entry?.nonce !== undefined || entry?.ad !== undefined;
  const pick = (names: readonly string[]): Step['fields'] =>
    Object.fromEntries(
      names.filter((name) => entry?.[name] !== undefined).map((name) => [name, `${entry[name]}`]),
    );
  const step = { where: '', made: '' };
  const computed = pick(COMPUTED.filter((name) => !(isCall && name === 'k')));
  return [
    ...(isCall ? [{ ...step, isCall, fields: pick(CALL) }] : []),
    { ...step, isCall: false, fields: computed },
  ];
}

/** A nonce as a number, which a trace may give as its 12 bytes. Other bytes than those of a number stay as they are. */
function countOf(value: string, suite: Suite): string {
  if (!/^0{8}[\da-f]{16}$/.test(value)) return value;
  const digits = bytes(value.slice(8));
  if (cipherNameOf(suite) === 'ChaChaPoly') digits.reverse();
  return BigInt(`0x${bytesToHex(digits)}`).toString();
}

interface Wrong {
  readonly field: string;
  readonly at: number;
  readonly due: string;
  readonly got: string | undefined;
  readonly isWhole: boolean;
}

function wrongValue(steps: readonly Step[], { field, at, due, got, isWhole }: Wrong): WrongValue {
  const { isCall, made } = steps[at]!;
  const where = named(steps[at]!, field);
  const same = steps.flatMap((step) =>
    Object.entries(step.fields).flatMap(([other, value]) =>
      NAMED.includes(other) && value === got ? [named(step, other)] : [],
    ),
  );
  // Without a call after it, the values that a trace leaves out at the start cannot be counted.
  const isOneOf = !isWhole && steps[at]!.where === START && field === 'h';
  const says = `${where}. It is ${isCall ? madeOf(steps, at, field) : isOneOf ? 'the protocol name, or MixHash of what follows it' : field === 'prologue' ? PROLOGUE : made}`;
  return {
    difference: { ...firstDifference(where, due, got)!, ...(!isCall && !got && { got: 'no new value' }) },
    says: same.length === 0 ? says : `${says}. What came instead is ${same[0]}`,
  };
}

/** What a value of a call is made of. */
function madeOf(steps: readonly Step[], call: number, field: string): string {
  if (field === 'nonce') return 'the number of calls with this key so far';
  const value = steps[call]!.fields[field];
  for (const step of steps.filter(({ isCall }) => !isCall)) {
    const name = (field === 'ad' ? ['h'] : ['k', 'send', 'receive']).find(
      (each) => step.fields[each] === value,
    );
    if (name !== undefined) return named(step, name);
  }
  return 'empty after Split';
}

const named = ({ where, isCall }: Step, field: string): string =>
  `${field} ${isCall ? 'of the AEAD in' : 'after'} ${where}`;

/** The values of the handshake of a vector, one a line, for comparing by eye or with diff; `undefined` if it has none. */
export function traceLines(test: Vector): string[] | undefined {
  const seen = seenIn(test, requestOf(test));
  if (seen === undefined) return undefined;
  const last: { [field: string]: string } = {};
  return stepsOf(seen).flatMap((step) =>
    Object.entries(step.fields).flatMap(([field, value]) => {
      if (!step.isCall && last[field] === value) return [];
      if (!step.isCall) last[field] = value;
      return [`${named(step, field)}: ${value}`];
    }),
  );
}

/** The request that begins the handshake of a vector, as the client if both sides have one. */
function requestOf(test: Vector): Fields {
  if (test.initStatic === undefined) return { ...test, op: test.psk === undefined ? 'session' : 'handshake' };
  const { initStatic: staticKey, initEphemeral: ephemeralKey, respStaticPublic } = test;
  const remoteStaticKey = test.pattern === 'KKpsk0' ? respStaticPublic : undefined;
  return { ...test, op: 'handshake', role: 'initiator', staticKey, ephemeralKey, remoteStaticKey };
}
