/**
 * A client's identity as it was issued: what names it to a hub, what proves it, and where the hub is. Fields are read
 * under every name they were ever issued with. Spec, "Client identity".
 */
import { bytesToUtf8, isBytes, kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
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

/** The broker, the credentials for it, and the scope of topics in it. */
export interface Mqtt {
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly tls: boolean;
  readonly qos: 0 | 1 | 2;
  readonly topicPrefix?: string;
  readonly hubId?: string;
  readonly c2sTopic?: string;
  readonly s2cTopic?: string;
  readonly statusTopic?: string;
  readonly hashTopics: boolean;
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
  readonly dataPlaneEndpoints: Endpoints;
  readonly protocols: Protocols;
  readonly mqtt?: Mqtt;
  /** The text to show at first contact: English, or one for each language. */
  readonly aiDisclosure?: string | { readonly [language: string]: string };
}

type Fields = { readonly [name: string]: unknown };

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
  const accessKey = pick(fields, ['access_key', 'accessKey', 'api_key', 'key']);
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
      dataPlaneEndpoints: endpoints(
        group(fields, ['data_plane_endpoints', 'dataPlaneEndpoints', 'endpoints']),
      ),
      protocols: protocols(group(fields, ['protocols'])),
      mqtt: mqtt(group(fields, ['mqtt'])),
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new LocalError('identity-not-an-object', `the identity is not an object but ${kindOf(value)}`);
  }
  return value as Fields;
}

/** The first of these fields that is there. */
function pick(fields: Fields, names: string[]): NonNullable<unknown> | undefined {
  for (let i = 0; i < names.length; i++) {
    const name = names[i]!;
    if (!Object.prototype.hasOwnProperty.call(fields, name)) continue;
    const value = fields[name];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function text(fields: Fields, names: string[]): string | undefined {
  const value = pick(fields, names);
  if (value !== undefined && typeof value !== 'string') throw badField(names[0]!, 'a text');
  return value;
}

function group(fields: Fields, names: string[]): Fields {
  const value = pick(fields, names);
  if (value === undefined) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw badField(names[0]!, 'an object');
  return value as Fields;
}

const TRUE = ['1', 'true', 'yes', 'on'];
const FALSE = ['0', 'false', 'no', 'off'];

function flag(fields: Fields, names: string[], byDefault: boolean): boolean {
  const value = pick(fields, names);
  if (value === undefined) return byDefault;
  const word = typeof value === 'object' ? '' : String(value).toLowerCase();
  if (TRUE.indexOf(word) >= 0) return true;
  if (FALSE.indexOf(word) >= 0) return false;
  throw badField(names[0]!, 'a boolean');
}

/** A protocol is a flag, or an object with the flag `enabled`. */
function protocol(fields: Fields, names: string[], byDefault: boolean): boolean {
  const value = pick(fields, names);
  if (typeof value !== 'object' || Array.isArray(value)) return flag(fields, names, byDefault);
  return flag(value as Fields, ['enabled'], byDefault);
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
function mqtt(fields: Fields): Mqtt | undefined {
  const endpoint = text(fields, ['endpoint', 'broker_url', 'brokerUrl']);
  const username = text(fields, ['username', 'broker_username', 'brokerUsername']);
  const password = text(fields, ['password', 'broker_password', 'brokerPassword']);
  if (!endpoint || !username || !password) return undefined;
  const qos = pick(fields, ['qos']) ?? 1;
  if (qos !== 0 && qos !== 1 && qos !== 2) throw badField('qos', '0, 1 or 2');
  return record<Mqtt>(
    {
      endpoint,
      username,
      password,
      tls: flag(fields, ['tls'], endpoint.toLowerCase().indexOf('mqtts:') === 0),
      qos,
      topicPrefix: text(fields, ['topic_prefix', 'topicPrefix']),
      hubId: text(fields, ['hub_id', 'hubId']),
      c2sTopic: text(fields, ['c2s_topic', 'c2sTopic']),
      s2cTopic: text(fields, ['s2c_topic', 's2cTopic']),
      statusTopic: text(fields, ['status_topic', 'statusTopic']),
      hashTopics: flag(fields, ['hash_topics', 'hashTopics'], false),
    },
    redactMqtt,
  );
}

function disclosure(fields: Fields): Identity['aiDisclosure'] {
  const value = pick(fields, ['ai_disclosure', 'aiDisclosure']);
  if (value === undefined || typeof value === 'string') return value;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw badField('ai_disclosure', 'a text, or one for each language');
  }
  const languages = Object.keys(value);
  const texts: { [language: string]: string } = {};
  for (let i = 0; i < languages.length; i++) {
    const language = languages[i]!;
    const inThatLanguage = text(value as Fields, [language]);
    if (inThatLanguage !== undefined) texts[language] = inThatLanguage;
  }
  return texts;
}

function badField(name: string, expected: string): LocalError {
  return new LocalError('identity-field', `the identity’s field ${name} is not ${expected}`);
}
