/**
 * A client's identity as it was issued: what names it to a hub, what proves it, and where the hub is. Fields are read
 * under every name they were ever issued with. Spec, "Client identity".
 */
import { bytesToUtf8, isBytes, kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { ACCESS_KEY, badField, type Fields, flag, group, integer, isGroup, pick, text } from '../fields.ts';
import { type Mqtt, readMqtt } from '../mqtt-topics/mqtt.ts';
import { opaque } from '../opaque.ts';
import { redactEndpoints, redactIdentity, redactMqtt } from './redact.ts';

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

/** An object of those fields that are there, which shows itself as what `redact` answers for it. */
function record<T extends object>(
  fields: { [Name in keyof T]: T[Name] | undefined },
  redact: (record: T) => object,
): T {
  const present = {} as T;
  const names = Object.keys(fields) as (keyof T)[];
  for (let i = 0; i < names.length; i++) {
    const value = fields[names[i]!];
    if (value !== undefined) present[names[i]!] = value;
  }
  opaque(present, redact);
  return present;
}

/**
 * Reads an identity. Unknown fields are ignored and optional ones have defaults; `null` counts as absent. What it
 * answers shows no secret in JSON.stringify and in inspection: read its fields.
 * @param input - JSON as text or UTF-8 bytes, or the object itself
 * @throws LocalError `identity-not-json`, `identity-not-an-object`; `identity-access-key`, `identity-password` where
 *   that is missing or no text; `identity-field`, naming the field, for another of a type that cannot be read. No
 *   error shows a value.
 */
export function parseIdentity(input: string | Uint8Array | object): Identity {
  const fields = objectOf(typeof input === 'string' || isBytes(input) ? parse(input) : input);
  const accessKey = pick(fields, ACCESS_KEY);
  if (!isText(accessKey)) {
    throw new LocalError(
      'identity-access-key',
      'the identity has no access_key, or not as a text: issue it again',
    );
  }
  const password = pick(fields, ['password']);
  if (!isText(password)) {
    throw new LocalError(
      'identity-password',
      'the identity has no password, or not as a text: issue it again',
    );
  }
  return record<Identity>(
    {
      accessKey,
      password,
      siteId: text(fields, ['site_id', 'siteId', 'site']) ?? '',
      cryptoKey: text(fields, ['crypto_key', 'cryptoKey']),
      publicKey: text(fields, ['public_key', 'publicKey']),
      defaultMaster: text(fields, ['default_master', 'defaultMaster', 'hub_http_host', 'host', 'master']),
      defaultPort: integer(fields, ['default_port', 'defaultPort', 'hub_http_port', 'port'], {
        least: 1,
        most: 65535,
        byDefault: 5679,
      }),
      defaultPath: text(fields, ['default_path', 'defaultPath', 'hub_http_path', 'path', 'uri_path']) ?? '',
      dataPlaneEndpoints: endpoints(
        group(fields, ['data_plane_endpoints', 'dataPlaneEndpoints', 'endpoints']),
      ),
      protocols: protocols(group(fields, ['protocols'])),
      mqtt: mqtt(group(fields, ['mqtt']), accessKey),
      aiDisclosure: disclosure(fields),
    },
    redactIdentity,
  );
}

function parse(input: string | Uint8Array): unknown {
  const json = typeof input === 'string' ? input : bytesToUtf8(input);
  try {
    return JSON.parse(json!);
  } catch {
    // The engine's error would quote the text, secrets and all.
    throw new LocalError('identity-not-json', 'the identity is not JSON in UTF-8: is the file complete?');
  }
}

function objectOf(value: unknown): Fields {
  if (isGroup(value)) return value;
  throw new LocalError('identity-not-an-object', `the identity is not an object but ${kindOf(value)}`);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** A protocol is a flag, or an object with the flag `enabled`. */
function protocol(fields: Fields, names: string[], byDefault: boolean): boolean {
  const value = pick(fields, names);
  return isGroup(value) ? flag(value, ['enabled'], byDefault) : flag(fields, names, byDefault);
}

function protocols(fields: Fields): Protocols {
  return {
    wss: protocol(fields, ['wss', 'websocket'], true),
    https: protocol(fields, ['https', 'http'], false),
    mqtt: protocol(fields, ['mqtt'], false),
  };
}

function endpoints(fields: Fields): Endpoints {
  return record<Endpoints>(
    {
      wss: text(fields, ['wss', 'ws']),
      https: text(fields, ['https', 'http']),
      mqtt: text(fields, ['mqtt', 'mqtts']),
    },
    redactEndpoints,
  );
}

/** Without endpoint, username and password there is no broker to speak of. */
function mqtt(fields: Fields, accessKey: string): Mqtt | undefined {
  const issued = readMqtt(fields, accessKey);
  if (!issued.endpoint || !issued.username || !issued.password) return undefined;
  return record<Mqtt>(issued, redactMqtt);
}

function disclosure(fields: Fields): Identity['aiDisclosure'] {
  const value = pick(fields, ['ai_disclosure', 'aiDisclosure']);
  if (value === undefined || typeof value === 'string') return value;
  if (!isGroup(value)) throw badField('ai_disclosure', 'a text, or one for each language');
  const languages = Object.keys(value);
  const texts: { [language: string]: string } = {};
  for (let i = 0; i < languages.length; i++) {
    const language = languages[i]!;
    const inThatLanguage = text(value, [language]);
    if (inThatLanguage !== undefined) texts[language] = inThatLanguage;
  }
  return texts;
}
