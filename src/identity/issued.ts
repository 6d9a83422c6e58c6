/**
 * Identities as they were issued: the names that each field has had, and all that an identity was read from, kept so
 * that it can be written back whole. Spec, "Client identity".
 */
import { ACCESS_KEY, type Fields, type Names, nameOf, namesOf } from '../issued/fields.ts';
import { MQTT_NAMES } from '../mqtt-topics/mqtt.ts';
import { opaque } from '../opaque.ts';
import { type Json, type JsonObject, ownField, setField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { stringifyJson } from '../wire/write-json.ts';
import type { Endpoints, Identity, Protocols } from './identity.ts';

type NamesOf<T> = { readonly [Field in keyof T]-?: Names };

export const IDENTITY: NamesOf<Identity> = {
  accessKey: ACCESS_KEY,
  password: 'password',
  siteId: 'site_id|siteId|site',
  cryptoKey: 'crypto_key|cryptoKey',
  publicKey: 'public_key|publicKey',
  defaultMaster: 'default_master|defaultMaster|hub_http_host|host|master',
  defaultPort: 'default_port|defaultPort|hub_http_port|port',
  defaultPath: 'default_path|defaultPath|hub_http_path|path|uri_path',
  dataPlaneEndpoints: 'data_plane_endpoints|dataPlaneEndpoints|endpoints',
  protocols: 'protocols',
  mqtt: 'mqtt',
  aiDisclosure: 'ai_disclosure|aiDisclosure',
};

export const ENDPOINTS: NamesOf<Endpoints> = {
  wss: 'wss|ws',
  https: 'https|http',
  mqtt: 'mqtt|mqtts',
};

export const PROTOCOLS: NamesOf<Protocols> = {
  wss: 'wss|websocket',
  https: 'https|http',
  mqtt: 'mqtt',
};

type AnyNames = { readonly [field: string]: Names };

/** The fields that hold fields of their own, by the names that they are written under. */
const GROUPS: { readonly [name: string]: AnyNames } = {
  data_plane_endpoints: ENDPOINTS,
  protocols: PROTOCOLS,
  mqtt: MQTT_NAMES,
};

/** What an identity was read from: the same fields and values, those that nobody knows included, under today's names. */
class Issued {
  readonly fields: JsonObject;

  constructor(fields: JsonObject) {
    this.fields = fields;
  }
}
opaque(Issued.prototype, 'Issued');

/** Keeps what an identity was read from, where no loop over its fields and no copy of them sees it. */
export function keepIssued(identity: Identity, fields: Fields): void {
  Object.defineProperty(identity, 'issued', {
    value: new Issued(underTodaysNames(fields, IDENTITY, GROUPS)),
  });
}

/** What an identity was read from; `undefined` where that was not kept, as of a copy. */
export function issuedOf(identity: object): JsonObject | undefined {
  const { issued } = identity as { issued?: unknown };
  return issued instanceof Issued ? issued.fields : undefined;
}

/** The names of the fields that nobody knows, `mqtt.` and the like before those in a group. */
export function unknownNames(issued: JsonObject): string[] {
  let unknown = namesBeyond(issued, IDENTITY, '');
  const groups = Object.keys(GROUPS);
  for (let i = 0; i < groups.length; i++) {
    const group = groups[i]!;
    const fields = (ownField(issued, group) ?? {}) as JsonObject;
    unknown = unknown.concat(namesBeyond(fields, GROUPS[group]!, `${group}.`));
  }
  return unknown;
}

function namesBeyond(fields: Fields, known: AnyNames, prefix: string): string[] {
  return Object.keys(fields)
    .filter((name) => namesLike(name, known) === undefined)
    .map((name) => prefix + name);
}

/** The names of the field that has this one among them. */
function namesLike(name: string, known: AnyNames): Names | undefined {
  const fields = Object.keys(known);
  for (let i = 0; i < fields.length; i++) {
    const names = known[fields[i]!]!;
    if (namesOf(names).indexOf(name) >= 0) return names;
  }
  return undefined;
}

/** Of several names of one field, the one is kept that counts when it is read. */
function underTodaysNames(fields: Fields, known: AnyNames, groups: typeof GROUPS): JsonObject {
  const kept: JsonObject = {};
  const keys = Object.keys(fields);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = fields[key];
    const names = namesLike(key, known);
    if (value === undefined || (names !== undefined && key !== nameOf(fields, names))) continue;
    const name = names === undefined ? key : namesOf(names)[0]!;
    const group = names === undefined ? undefined : groups[name];
    setField(kept, name, group ? underTodaysNames(value as Fields, group, {}) : copyOf(value));
  }
  return kept;
}

/** What JSON has no form for stays as it is: serializeIdentity() will say so. */
function copyOf(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  try {
    return parseJson(stringifyJson(value as Json));
  } catch {
    return value as Json;
  }
}
