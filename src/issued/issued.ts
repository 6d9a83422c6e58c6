/**
 * Keeps with an object the source that it was read from: all fields as issued, including unknown ones, to write an
 * identity back completely, and the names of the fields that could not be read.
 */
import { descriptor } from '../hide-fields.ts';
import { assertNotFull } from '../memory.ts';
import { opaque } from '../opaque.ts';
import { type Json, type JsonObject, setField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { jsonToBytes } from '../wire/write-json.ts';
import { DATA_PLANE_ENDPOINTS, IDENTITY, MQTT, PROTOCOLS } from './aliases.ts';
import { currentName, type Fields, isObject, type Names, nameIn, namesOf } from './fields.ts';

type Aliases = { readonly [field: string]: Names };

/** The fields of an identity that are objects, by their current names, and the names of the fields in them. */
const OBJECTS: { readonly [name: string]: Aliases } = {
  data_plane_endpoints: DATA_PLANE_ENDPOINTS,
  protocols: PROTOCOLS,
  mqtt: MQTT,
};

/** The source that an object was read from. */
export class Issued {
  /** Every field with its value; known fields are under their current names. */
  readonly fields: JsonObject;
  /** The names of the unknown fields. Here and below, a field of a nested object has the form `object.field`. */
  readonly unknown: readonly string[];
  /** The current names of the fields whose values could not be read. */
  readonly unreadable: readonly string[];

  constructor(fields: JsonObject, unknown: readonly string[], unreadable: readonly string[]) {
    this.fields = fields;
    this.unknown = unknown;
    this.unreadable = unreadable;
  }
}
opaque(Issued.prototype, 'Issued');

/** Keeps with an object its source, in a field that does not enumerate and that copies lack. */
export function keepIssued(object: object, issued: Issued): void {
  Object.defineProperty(object, 'issued', descriptor(issued, false));
}

/** The source of an object; `undefined` if none was kept, as for an object that the caller made. */
export function issuedOf(object: object): Issued | undefined {
  const { issued } = object as { issued?: unknown };
  return issued instanceof Issued ? issued : undefined;
}

/** The source of an identity: a copy, since the caller of parseIdentity() might change the values. */
export function issuedFrom(fields: Fields, unreadable: readonly string[]): Issued {
  const unknown: string[] = [];
  return new Issued(renamed(fields, IDENTITY, '', unknown), unknown, unreadable);
}

/** Fields under their current names. If a field has several names, only the value that counts is kept. */
function renamed(fields: Fields, known: Aliases, path: string, unknown: string[]): JsonObject {
  const kept: JsonObject = {};
  const keys = Object.keys(fields);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = fields[key];
    const names = namesLike(key, known);
    if (value === undefined || (names !== undefined && key !== nameIn(fields, names))) continue;
    if (names === undefined) unknown.push(path + key);
    const name = names === undefined ? key : currentName(names);
    if (known === IDENTITY && OBJECTS.hasOwnProperty(name) && isObject(value)) {
      setField(kept, name, renamed(value, OBJECTS[name]!, `${name}.`, unknown));
    } else {
      setField(kept, name, copyOf(value));
    }
  }
  return kept;
}

/** All names of the field that has this name; `undefined` if the field is unknown. */
function namesLike(name: string, known: Aliases): Names | undefined {
  const fields = Object.keys(known);
  for (let i = 0; i < fields.length; i++) {
    const names = known[fields[i]!]!;
    if (namesOf(names).indexOf(name) >= 0) return names;
  }
  return undefined;
}

/** A deep copy. A value that JSON cannot represent is returned as it is: serializeIdentity() refuses it. */
function copyOf(value: unknown): Json {
  if (typeof value !== 'object') return value as Json;
  try {
    return parseJson(jsonToBytes(value as Json));
  } catch (error) {
    assertNotFull(error);
    return value as Json;
  }
}
