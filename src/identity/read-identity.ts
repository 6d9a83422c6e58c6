/** Reads the fields of an identity. Spec, "Client identity". */
import { bytesToUtf8, isBytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { DATA_PLANE_ENDPOINTS, IDENTITY, MQTT, PROTOCOLS } from '../issued/aliases.ts';
import { currentName, type Fields, IssuedFields, isObject, type Names } from '../issued/fields.ts';
import { Issued, issuedFrom, issuedOf, keepIssued } from '../issued/issued.ts';
import { assertNotFull } from '../memory.ts';
import { type Mqtt, readMqtt } from '../mqtt-topics/mqtt.ts';
import { JsonNumber, type JsonObject, setField } from '../wire/json.ts';
import { parseJson } from '../wire/parse-json.ts';
import type { Endpoints, Identity } from './identity.ts';

const DEFAULT_PORT = 5679;

/**
 * Returns the identity for an argument that is an identity, or the object as issued.
 * @throws LocalError the codes of parseIdentity()
 */
export function identityOf(identity: Identity): Identity {
  return isObject(identity) && issuedOf(identity) ? identity : readIdentity(identity);
}

/**
 * Reads an identity. Its secret fields still enumerate.
 * @throws LocalError the codes of parseIdentity()
 */
export function readIdentity(input: unknown): Identity {
  const object = objectOf(typeof input === 'string' || isBytes(input) ? parse(input) : input);
  const fields = new IssuedFields(object);
  const accessKey = fields.string(IDENTITY.accessKey);
  if (!accessKey) throw errors.noAccessKey();
  const password = fields.string(IDENTITY.password);
  if (!password) throw errors.noPassword();

  const endpointFields = fields.object(IDENTITY.dataPlaneEndpoints);
  const protocolFields = fields.object(IDENTITY.protocols);
  const mqttFields = fields.object(IDENTITY.mqtt);
  const dataPlaneEndpoints = present<Endpoints>({
    wss: endpointFields.string(DATA_PLANE_ENDPOINTS.wss),
    https: endpointFields.string(DATA_PLANE_ENDPOINTS.https),
    mqtt: endpointFields.string(DATA_PLANE_ENDPOINTS.mqtt),
  });
  const mqtt = broker(mqttFields, accessKey, addressOfBroker(mqttFields, endpointFields));
  const identity = present<Identity>({
    accessKey,
    password,
    siteId: fields.string(IDENTITY.siteId) ?? '',
    cryptoKey: fields.string(IDENTITY.cryptoKey),
    publicKey: fields.string(IDENTITY.publicKey),
    defaultMaster: fields.string(IDENTITY.defaultMaster),
    defaultPort: fields.integer(IDENTITY.defaultPort, 1, 65535) ?? DEFAULT_PORT,
    defaultPath: fields.string(IDENTITY.defaultPath) ?? '',
    dataPlaneEndpoints,
    protocols: {
      wss: protocolFields.enabled(PROTOCOLS.wss) ?? true,
      https: protocolFields.enabled(PROTOCOLS.https) ?? address(dataPlaneEndpoints.https) !== undefined,
      mqtt: protocolFields.enabled(PROTOCOLS.mqtt) ?? mqtt !== undefined,
    },
    mqtt,
    aiDisclosure: disclosure(fields),
  });
  // `mqtt.accessKey` is the access key of the identity, whatever `mqtt` contains.
  const unreadableMqtt = mqttFields.unreadable.filter((name) => name !== currentName(MQTT.accessKey));
  if (mqtt !== undefined) keepIssued(mqtt, new Issued({}, [], unreadableMqtt));
  const unreadable = fields.unreadable.concat(
    inObject(IDENTITY.dataPlaneEndpoints, endpointFields.unreadable),
    inObject(IDENTITY.protocols, protocolFields.unreadable),
    inObject(IDENTITY.mqtt, unreadableMqtt),
  );
  keepIssued(identity, issuedFrom(object, unreadable));
  return identity;
}

function parse(input: string | Uint8Array): unknown {
  try {
    const text = String(isBytes(input) ? bytesToUtf8(input) : input);
    const value = parseJson(text.trim()); // without the byte order mark of some editors, too
    return value instanceof JsonNumber ? value.valueOf() : value;
  } catch (error) {
    assertNotFull(error);
    throw errors.identityNotJson(input);
  }
}

/** The fields of an object; for an identity that was read before, the fields that it was read from. */
function objectOf(value: unknown): Fields {
  if (isObject(value)) return issuedOf(value)?.fields ?? value;
  throw errors.identityNotAnObject(errors.kindOf(value));
}

/** An object with only the fields that have a value. */
function present<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  const present = {} as T;
  const names = Object.keys(fields) as (keyof T)[];
  for (let i = 0; i < names.length; i++) {
    const value = fields[names[i]!];
    if (value !== undefined) present[names[i]!] = value;
  }
  return present;
}

function inObject(names: Names, inside: readonly string[]): string[] {
  return inside.map((name) => `${currentName(names)}.${name}`);
}

/** `mqtt.endpoint`, else `data_plane_endpoints.mqtt`; `undefined` if neither was issued. */
function addressOfBroker(mqtt: IssuedFields, endpoints: IssuedFields): string | undefined {
  return address(mqtt.value(MQTT.endpoint)) ?? address(endpoints.value(DATA_PLANE_ENDPOINTS.mqtt));
}

/** A blank address counts as absent. An address of another type becomes empty, and is refused when it is needed. */
function address(value: unknown): string | undefined {
  if (typeof value !== 'string') return value === undefined ? undefined : '';
  return value.trim() === '' ? undefined : value;
}

/** Credentials without an address, a user name and a password count as absent. */
function broker(fields: IssuedFields, accessKey: string, endpoint: string | undefined): Mqtt | undefined {
  const mqtt = readMqtt(fields);
  if (endpoint === undefined || !mqtt.username || !mqtt.password) return undefined;
  mqtt.endpoint = endpoint;
  mqtt.tls = mqtt.tls ?? /^\s*mqtts:/i.test(endpoint);
  mqtt.accessKey = accessKey;
  return present<Mqtt>(mqtt);
}

function disclosure(fields: IssuedFields): Identity['aiDisclosure'] {
  const value = fields.value(IDENTITY.aiDisclosure);
  if (!isObject(value)) return fields.string(IDENTITY.aiDisclosure);
  const languages = Object.keys(value);
  const texts: JsonObject = {};
  for (let i = 0; i < languages.length; i++) {
    const text = value[languages[i]!];
    if (typeof text === 'string') setField(texts, languages[i]!, text);
  }
  return texts as { [language: string]: string };
}
