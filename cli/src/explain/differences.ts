/**
 * The difference between the hub's payloads and the client's view: the first byte of the prologue, and the place in the
 * JSON.
 */
import {
  canonicalJson,
  equalBytes,
  isJsonObject,
  type Json,
  JsonNumber,
  type JsonObject,
  ownField,
  stringifyJson,
} from 'hub-protocol-judge/internals';
import { shown, shownList } from '../shown.ts';

export interface PayloadDifference {
  readonly payload: 'HELLO' | 'HANDSHAKE';
  /** The first byte that differs, counted in the canonical JSON of the payload from 0. */
  readonly offset: number;
  /** The place in the payload, such as `noise.suites[0]`. */
  readonly path: string;
  readonly name:
    | 'hello-changed'
    | 'offer-changed'
    | 'patterns-stripped'
    | 'suites-stripped'
    | 'number-rewritten';
  readonly text: string;
}

/** @returns the first difference that the prologue binds, if there is one */
export function payloadDifference(
  payload: 'HELLO' | 'HANDSHAKE',
  hub: JsonObject,
  client: JsonObject,
): PayloadDifference | undefined {
  const [ours, theirs] = [canonicalJson(hub), canonicalJson(client)];
  if (equalBytes(ours, theirs)) return undefined;
  const offset = ours.findIndex((byte, at) => byte !== theirs[at]); // neither is the beginning of the other
  const { path, hub: sent, client: seen } = firstDifference('', hub, client)!;
  const place = `${path} of ${payload}`;
  const say = (value: Json | undefined): string =>
    value === undefined ? 'nothing' : typeof value === 'string' ? shown(value) : shownJson(value);
  const common = { payload, offset, path };
  const stripped = strippedFrom(hub, client);
  if (payload === 'HANDSHAKE' && stripped !== undefined) {
    return {
      ...common,
      name: `${stripped.list}-stripped`,
      text: `the hub offered ${shownList(stripped.removed)} in noise.${stripped.list}, and the client did not see it: somebody removed it on the way`,
    };
  }
  if (isRewritten(sent, seen)) {
    return {
      ...common,
      name: 'number-rewritten',
      text: `a number was rewritten: in ${place} the hub sent ${say(sent)}, and the client saw ${say(seen)}. Something on the way parses JSON and writes it again; it has to keep each number as it came`,
    };
  }
  return {
    ...common,
    name: payload === 'HELLO' ? 'hello-changed' : 'offer-changed',
    text: `in ${place} the hub sent ${say(sent)}, and the client saw ${say(seen)}: somebody changed it on the way, or the two do not belong to the same connection`,
  };
}

interface Place {
  readonly path: string;
  readonly hub: Json | undefined;
  readonly client: Json | undefined;
}

function firstDifference(path: string, hub: Json | undefined, client: Json | undefined): Place | undefined {
  if (Array.isArray(hub) && Array.isArray(client)) {
    for (let i = 0; i < Math.max(hub.length, client.length); i++) {
      const found = firstDifference(`${path}[${i}]`, hub[i], client[i]);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (isJsonObject(hub) && isJsonObject(client)) {
    const names = [...new Set([...Object.keys(hub), ...Object.keys(client)])];
    names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))); // as in canonical JSON
    for (const name of names) {
      const field = /^[\w-]{1,60}$/.test(name)
        ? path === ''
          ? name
          : `${path}.${name}`
        : `${path}[${shown(name)}]`;
      const found = firstDifference(field, ownField(hub, name), ownField(client, name));
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (hub !== undefined && client !== undefined && equalBytes(canonicalJson(hub), canonicalJson(client))) {
    return undefined;
  }
  return { path, hub, client };
}

function shownJson(value: Json): string {
  const json = stringifyJson(value);
  return json.length > 60 ? `${json.slice(0, 59)}…` : json;
}

function isNumber(value: Json | undefined): value is number | JsonNumber {
  return typeof value === 'number' || value instanceof JsonNumber;
}

function isRewritten(hub: Json | undefined, client: Json | undefined): boolean {
  return isNumber(hub) && isNumber(client) && Number(hub) === Number(client);
}

/** The list of the offer that lacks entries at the client, with all others in order. */
function strippedFrom(
  hub: JsonObject,
  client: JsonObject,
): { list: 'patterns' | 'suites'; removed: string[] } | undefined {
  for (const list of ['patterns', 'suites'] as const) {
    const [offered, seen] = [hub, client].map((offer) => namesIn(ownField(offer, 'noise'), list)) as [
      string[],
      string[],
    ];
    const removed = offered.filter((name) => !seen.includes(name));
    const kept = offered.filter((name) => seen.includes(name));
    if (removed.length > 0 && kept.join() === seen.join()) return { list, removed };
  }
  return undefined;
}

/** The names in a list of an object, if it is one. An entry that is not a string is shown as JSON. */
export function namesIn(object: Json | undefined, list: string): string[] {
  const names = isJsonObject(object) ? ownField(object, list) : undefined;
  return Array.isArray(names) ? names.map(nameOf) : [];
}

function nameOf(value: Json): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Fields after these are not tried: each takes time linear in the size of the payload. */
const MOST_FIELDS = 64;

/** Offers and HELLOs with a part removed on the way, to try. */
export function* strippedPayloads(
  hello: JsonObject,
  offer: JsonObject,
): Generator<{ text: string; name: PayloadDifference['name']; hello: JsonObject; offer: JsonObject }> {
  const noise = ownField(offer, 'noise');
  for (const list of ['patterns', 'suites'] as const) {
    const names = isJsonObject(noise) ? ownField(noise, list) : undefined;
    if (!isJsonObject(noise) || !Array.isArray(names) || names.length > 8) continue;
    for (let kept = 0; kept < 2 ** names.length - 1; kept++) {
      const left = names.filter((_, index) => (kept >> index) % 2 === 1);
      const removed = names.filter((_, index) => (kept >> index) % 2 === 0).map(nameOf);
      yield {
        name: `${list}-stripped`,
        text: `the client did not see ${shownList(removed)} in noise.${list}, which the hub offered: somebody removed it on the way`,
        hello,
        offer: { ...offer, noise: { ...noise, [list]: left } },
      };
    }
  }
  for (const name of Object.keys(hello).slice(0, MOST_FIELDS)) {
    const { [name]: _, ...rest } = hello;
    const text = `the client did not see the field ${shown(name)} of HELLO: somebody removed it on the way`;
    yield { name: 'hello-changed', text, hello: rest, offer };
  }
  for (const name of Object.keys(offer).slice(0, MOST_FIELDS)) {
    const { [name]: _, ...rest } = offer;
    const text = `the client did not see the field ${shown(name)} of HANDSHAKE: somebody removed it on the way`;
    yield { name: 'offer-changed', text, hello, offer: rest };
  }
}
