/**
 * Shows identities without their secrets: access key, passwords, keys, credentials in URLs, and topics, which contain
 * the access key. Any other string that contains one of these, such as an address with the access key in its path, is
 * not shown either. Unknown fields are shown by name only. Spec, "Local configuration".
 */

import { readArgument } from '../arguments.ts';
import { bytesToBase64, bytesToHex, encodeUtf8, hexDigit } from '../bytes.ts';
import { DATA_PLANE_ENDPOINTS, IDENTITY, MQTT } from '../issued/aliases.ts';
import type { Fields } from '../issued/fields.ts';
import { issuedOf } from '../issued/issued.ts';
import { type Json, type JsonObject, setField } from '../wire/json.ts';
import type { Identity } from './identity.ts';
import { identityOf } from './read-identity.ts';

const REDACTED = '[redacted]';

/** The fields of an identity as they may be shown, and the names of the fields that were ignored. */
export type RedactedIdentity = {
  readonly [Field in keyof Identity | 'unknownFields' | 'unreadableFields']?: unknown;
};

/**
 * Returns the part of an identity that may be shown. `unknownFields` lists the names of unknown fields, and
 * `unreadableFields` the names of fields with a type that cannot be read.
 * @param identity - from parseIdentity(), or the object as issued
 * @returns a copy without secrets
 * @throws LocalError the codes of parseIdentity()
 * @see spec, "Local configuration"
 *
 * @example
 * import { parseIdentity, redactIdentity } from 'hub-protocol';
 *
 * const identity = parseIdentity({ access_key: 'kiosk-7', password: 'correct horse', colour: 'red' });
 * console.log(redactIdentity(identity).unknownFields); // [ 'colour' ]
 */
export function redactIdentity(identity: Identity): RedactedIdentity {
  return readArgument('identity', () => redact(identityOf(identity)));
}

function redact(identity: Identity): RedactedIdentity {
  const { unknown, unreadable } = issuedOf(identity)!;
  const { defaultMaster, defaultPath, dataPlaneEndpoints, mqtt } = identity;
  const shown = fieldsOf(identity, IDENTITY);
  shown.defaultMaster = redactMaster(defaultMaster);
  shown.defaultPath = redactQuery(defaultPath);
  const endpoints = fieldsOf(dataPlaneEndpoints, DATA_PLANE_ENDPOINTS);
  const names = Object.keys(endpoints);
  for (let i = 0; i < names.length; i++) endpoints[names[i]!] = redactUrl(endpoints[names[i]!] as string);
  shown.dataPlaneEndpoints = endpoints;
  if (mqtt !== undefined) {
    const broker = fieldsOf(mqtt, MQTT);
    broker.endpoint = redactUrl(mqtt.endpoint);
    shown.mqtt = broker;
  }
  if (unknown.length > 0) shown.unknownFields = unknown;
  if (unreadable.length > 0) shown.unreadableFields = unreadable;
  return withoutSecrets(shown, needlesOf(identity));
}

/** The known fields of an object, including those that do not enumerate. */
function fieldsOf(object: object, known: object): { [name: string]: unknown } {
  const fields: { [name: string]: unknown } = {};
  const names = Object.keys(known);
  for (let i = 0; i < names.length; i++) fields[names[i]!] = (object as Fields)[names[i]!];
  return fields;
}

/**
 * A URL without its user information (all that precedes the last @), query and fragment. If an unescaped ? or # makes a
 * password indistinguishable from a query, only the scheme is shown, or nothing if there is no scheme.
 */
function redactUrl(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url);
  if (scheme === null) return REDACTED;
  const rest = url.slice(scheme[0].length);
  const query = /[?#]/.exec(rest);
  const at = rest.lastIndexOf('@');
  if (query !== null && at > query.index) return scheme[0] + REDACTED;
  return scheme[0] + redactQuery(at < 0 ? rest : `${REDACTED}${rest.slice(at)}`);
}

/** A host, alone or with its port, is shown as it is. */
function redactMaster(master: string | undefined): string | undefined {
  return master !== undefined && /^[a-z0-9.-]+(:[0-9]*)?$/i.test(master) ? master : redactUrl(master);
}

function redactQuery(path: string): string {
  return path.replace(/([?#])[\s\S]*/, `$1${REDACTED}`);
}

/**
 * How many characters of a secret are searched for. Any occurrence of the secret contains them, and the time of a
 * search stays proportional to the length of the string searched, however long and repetitive both are.
 */
const NEEDLE = 64;

/** Substrings that no shown string may contain: the identity's secrets as they are, in base64 and in hex. */
function needlesOf({ accessKey, password, cryptoKey, mqtt }: Identity): string[] {
  let secrets = [accessKey, password, cryptoKey];
  if (mqtt !== undefined) {
    const { username, topicPrefix, c2sTopic, s2cTopic, statusTopic } = mqtt;
    secrets = secrets.concat([username, mqtt.password, topicPrefix, c2sTopic, s2cTopic, statusTopic]);
  }
  const needles: string[] = [];
  for (let i = 0; i < secrets.length; i++) {
    const bytes = encodeUtf8(secrets[i] ?? '');
    if (bytes === undefined || bytes.length === 0) continue; // withoutSecrets() shows no string with a lone surrogate
    const base64 = bytesToBase64(bytes).replace(/=+$/, '');
    needles.push(searchable(bytes), folded(base64), bytesToHex(bytes));
  }
  return needles.map((needle) => needle.slice(0, NEEDLE));
}

/** A copy without undefined fields, in which every string that contains a secret is redacted. */
function withoutSecrets<T>(value: T, needles: string[]): T;
function withoutSecrets(value: unknown, needles: string[]): unknown {
  if (typeof value === 'string') return containsAny(value, needles) ? REDACTED : value;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, needles));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const names = Object.keys(fields);
  const shown: JsonObject = {};
  for (let i = 0; i < names.length; i++) {
    const field = withoutSecrets(fields[names[i]!], needles);
    if (field !== undefined) setField(shown, names[i]!, field as Json);
  }
  return shown;
}

/**
 * Whether a string contains any of the needles, also percent-encoded in whole or in part. True for a string that UTF-8
 * cannot encode: it might.
 */
function containsAny(text: string, needles: string[]): boolean {
  const bytes = encodeUtf8(text);
  if (bytes === undefined) return true;
  const haystacks = [bytes.length === text.length ? folded(text) : searchable(bytes)];
  if (text.indexOf('%') >= 0) haystacks.push(searchable(percentDecoded(bytes)));
  return needles.some((needle) => haystacks.some((haystack) => haystack.indexOf(needle) >= 0));
}

function percentDecoded(bytes: Uint8Array): Uint8Array {
  const decoded = new Uint8Array(bytes.length);
  let length = 0;
  for (let i = 0; i < bytes.length; i++) {
    const high = bytes[i] === 0x25 ? hexDigit(bytes[i + 1] ?? 0) : -1;
    const low = hexDigit(bytes[i + 2] ?? 0);
    const isEscape = high >= 0 && low >= 0;
    decoded[length++] = isEscape ? (high << 4) | low : bytes[i]!;
    if (isEscape) i += 2;
  }
  return decoded.subarray(0, length);
}

/** Bytes as a folded string with one UTF-16 unit for each byte. */
function searchable(bytes: Uint8Array): string {
  const units: string[] = [];
  for (let i = 0; i < bytes.length; i++) units.push(String.fromCharCode(bytes[i]!));
  return folded(units.join(''));
}

/** Removes the differences between cases and between the two base64 alphabets (RFC 4648, sections 4 and 5). */
function folded(text: string): string {
  return text.toLowerCase().replace(/-/g, '+').replace(/_/g, '/');
}
