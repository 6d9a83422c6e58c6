/**
 * A client's identity as it was issued: what names it to a hub, what proves it, and where the hub is. Fields are read
 * under every name they were ever issued with. Spec, "Client identity".
 */
import { isBytes, kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import {
  asText,
  badField,
  type Fields,
  flag,
  group,
  integer,
  isGroup,
  type Names,
  pick,
  text,
} from '../issued/fields.ts';
import { type Mqtt, readMqtt } from '../mqtt-topics/mqtt.ts';
import { opaque } from '../opaque.ts';
import { JsonNumber, type JsonObject, setField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import { ENDPOINTS, IDENTITY, issuedOf, keepIssued, PROTOCOLS } from './issued.ts';
import { redactIdentity } from './redact.ts';

/** Explicit addresses of the hub; they may hold credentials. */
export interface Endpoints {
  readonly wss?: string;
  readonly https?: string;
  readonly mqtt?: string;
}

/** What the hub serves. */
export interface Protocols {
  readonly wss: boolean;
  readonly https: boolean;
  readonly mqtt: boolean;
}

export interface Identity {
  /** What the hub knows the client by. */
  readonly accessKey: string;
  /** What the PSK is derived from. */
  readonly password: string;
  /** The label of the client, service, device or runtime; empty where none was issued. */
  readonly siteId: string;
  /** Kept as issued; protocol 3 does not use it. */
  readonly cryptoKey?: string;
  /** Kept as issued; protocol 3 does not use it. */
  readonly publicKey?: string;
  /** The hub's host, or a URL, for what `dataPlaneEndpoints` has no address for. It may hold credentials. */
  readonly defaultMaster?: string;
  /** For a `defaultMaster` without a port of its own. */
  readonly defaultPort: number;
  readonly defaultPath: string;
  readonly dataPlaneEndpoints: Endpoints;
  readonly protocols: Protocols;
  readonly mqtt?: Mqtt;
  /** The text to show at first contact: English, or one for each language. */
  readonly aiDisclosure?: string | { readonly [language: string]: string };
}

/**
 * Reads an identity. Unknown fields are ignored and optional ones have defaults; `null` counts as absent. What it
 * answers shows no secret in JSON.stringify and in inspection: read its fields. All that it was read from, unknown
 * fields included, is kept for `serializeIdentity`; a copy made field by field has neither of this.
 * @param input - JSON as text or UTF-8 bytes, or the object itself
 * @throws LocalError `identity-not-json` (so is a key twice in one object), `identity-not-an-object`;
 *   `identity-access-key`, `identity-password` where that is missing or no text; `identity-field`, naming the field,
 *   for another of a type that cannot be read. No error shows a value.
 */
export function parseIdentity(input: string | Uint8Array | object): Identity {
  const fields = objectOf(typeof input === 'string' || isBytes(input) ? parse(input) : input);
  const accessKey = pick(fields, IDENTITY.accessKey);
  if (!isText(accessKey)) {
    throw new LocalError(
      'identity-access-key',
      'the identity has no access_key, or not as a text: issue it again',
    );
  }
  const password = pick(fields, IDENTITY.password);
  if (!isText(password)) {
    throw new LocalError(
      'identity-password',
      'the identity has no password, or not as a text: issue it again',
    );
  }
  const identity = present<Identity>({
    accessKey,
    password,
    siteId: text(fields, IDENTITY.siteId) ?? '',
    cryptoKey: text(fields, IDENTITY.cryptoKey),
    publicKey: text(fields, IDENTITY.publicKey),
    defaultMaster: text(fields, IDENTITY.defaultMaster),
    defaultPort: integer(fields, IDENTITY.defaultPort, { least: 1, most: 65535, byDefault: 5679 }),
    defaultPath: text(fields, IDENTITY.defaultPath) ?? '',
    dataPlaneEndpoints: endpoints(group(fields, IDENTITY.dataPlaneEndpoints)),
    protocols: protocols(group(fields, IDENTITY.protocols)),
    mqtt: mqtt(group(fields, IDENTITY.mqtt), accessKey),
    aiDisclosure: disclosure(fields),
  });
  keepIssued(identity, fields);
  opaque(identity, redactIdentity);
  opaque(identity.dataPlaneEndpoints, () => redactIdentity(identity).dataPlaneEndpoints);
  if (identity.mqtt !== undefined) opaque(identity.mqtt, () => redactIdentity(identity).mqtt);
  return identity;
}

function parse(input: string | Uint8Array): unknown {
  try {
    const value = parseJson(input);
    return value instanceof JsonNumber ? value.valueOf() : value;
  } catch {
    throw new LocalError(
      'identity-not-json',
      'the identity is not JSON in UTF-8, or has a key twice: is the file complete?',
    );
  }
}

/** The fields of an object; of an identity that was read before, all that it was read from. */
function objectOf(value: unknown): Fields {
  if (isGroup(value)) return issuedOf(value) ?? value;
  throw new LocalError('identity-not-an-object', `the identity is not an object but ${kindOf(value)}`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** An object of those fields that are there. */
function present<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  const present = {} as T;
  const names = Object.keys(fields) as (keyof T)[];
  for (let i = 0; i < names.length; i++) {
    const value = fields[names[i]!];
    if (value !== undefined) present[names[i]!] = value;
  }
  return present;
}

/** A protocol is a flag, or an object with the flag `enabled`. */
function protocol(fields: Fields, names: Names, byDefault: boolean): boolean {
  const value = pick(fields, names);
  return isGroup(value) ? flag(value, 'enabled', byDefault) : flag(fields, names, byDefault);
}

function protocols(fields: Fields): Protocols {
  return {
    wss: protocol(fields, PROTOCOLS.wss, true),
    https: protocol(fields, PROTOCOLS.https, false),
    mqtt: protocol(fields, PROTOCOLS.mqtt, false),
  };
}

function endpoints(fields: Fields): Endpoints {
  return present<Endpoints>({
    wss: text(fields, ENDPOINTS.wss),
    https: text(fields, ENDPOINTS.https),
    mqtt: text(fields, ENDPOINTS.mqtt),
  });
}

/** Without endpoint, username and password there is no broker to speak of. */
function mqtt(fields: Fields, accessKey: string): Mqtt | undefined {
  const issued = readMqtt(fields, accessKey);
  return issued.endpoint && issued.username && issued.password ? present<Mqtt>(issued) : undefined;
}

function disclosure(fields: Fields): Identity['aiDisclosure'] {
  const value = pick(fields, IDENTITY.aiDisclosure);
  if (value === undefined || typeof value === 'string') return value;
  if (!isGroup(value)) throw badField('ai_disclosure', 'a text, or one for each language');
  const languages = Object.keys(value);
  const texts: JsonObject = {};
  for (let i = 0; i < languages.length; i++) {
    const language = languages[i]!;
    const inThatLanguage = asText(value[language] ?? undefined, IDENTITY.aiDisclosure);
    if (inThatLanguage !== undefined) setField(texts, language, inThatLanguage);
  }
  return texts as { [language: string]: string };
}
