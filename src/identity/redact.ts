/**
 * Identities without their secrets: the access key, passwords, keys, credentials in URLs, and topics, which end with
 * the access key. Of fields that nobody knows, the names show. What shows holds none of the identity's own secrets
 * either, as an address with the access key in its path would. Spec, "Local configuration".
 */
import { bytesToBase64, bytesToHex, utf8Length, utf8ToBytes } from '../bytes.ts';
import type { Fields } from '../issued/fields.ts';
import type { Mqtt } from '../mqtt-topics/mqtt.ts';
import { type Json, type JsonObject, setField } from '../wire/json.ts';
import type { Endpoints, Identity } from './identity.ts';
import { issuedOf, unknownNames } from './issued.ts';

const REDACTED = '[redacted]';

/** The fields of an identity as they may be shown. */
type Redacted = { readonly [Field in keyof Identity | 'unknownFields']?: unknown };

/** The identity as it may be shown; without `siteId` and the like where those hold a secret. */
export function redactIdentity(identity: Identity): Redacted {
  const issued = issuedOf(identity);
  const unknownFields = issued ? unknownNames(issued) : [];
  return withoutSecrets(
    {
      accessKey: REDACTED,
      password: REDACTED,
      siteId: identity.siteId,
      cryptoKey: redacted(identity.cryptoKey),
      publicKey: identity.publicKey,
      defaultMaster: redactMaster(identity.defaultMaster),
      defaultPort: identity.defaultPort,
      defaultPath: redactQuery(identity.defaultPath),
      dataPlaneEndpoints: redactEndpoints(identity.dataPlaneEndpoints),
      protocols: identity.protocols,
      mqtt: identity.mqtt && redactMqtt(identity.mqtt),
      aiDisclosure: identity.aiDisclosure,
      unknownFields: unknownFields.length === 0 ? undefined : unknownFields,
    },
    secretsOf(identity),
  );
}

function redactMqtt(mqtt: Mqtt): object {
  return {
    endpoint: redactUrl(mqtt.endpoint),
    username: REDACTED,
    password: REDACTED,
    tls: mqtt.tls,
    qos: mqtt.qos,
    accessKey: REDACTED,
    topicPrefix: redacted(mqtt.topicPrefix),
    hubId: mqtt.hubId,
    c2sTopic: redacted(mqtt.c2sTopic),
    s2cTopic: redacted(mqtt.s2cTopic),
    statusTopic: redacted(mqtt.statusTopic),
    hashTopics: mqtt.hashTopics,
  };
}

function redactEndpoints(endpoints: Endpoints): object {
  return {
    wss: redactUrl(endpoints.wss),
    https: redactUrl(endpoints.https),
    mqtt: redactUrl(endpoints.mqtt),
  };
}

/**
 * A URL without what comes before its last @, and without query and fragment. Where nobody can tell what a password
 * is and what a query, since one of them was not escaped, or where there is no scheme, nothing of it shows.
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

/** A host shows, alone or with its port. */
function redactMaster(master: string | undefined): string | undefined {
  return master !== undefined && /^[a-z0-9.-]+:?[0-9]*$/i.test(master) ? master : redactUrl(master);
}

function redactQuery(text: string): string {
  return text.replace(/([?#])[\s\S]*/, `$1${REDACTED}`);
}

function redacted(value: string | undefined): string | undefined {
  return value === undefined ? undefined : REDACTED;
}

/** What a text that shows must not hold: the identity's secrets, in each form in which they may stand there. */
function secretsOf({ accessKey, password, cryptoKey, mqtt }: Identity): string[] {
  const secrets = [accessKey, password, cryptoKey];
  if (mqtt !== undefined) {
    const { username, topicPrefix, c2sTopic, s2cTopic, statusTopic } = mqtt;
    secrets.push(username, mqtt.password, topicPrefix, c2sTopic, s2cTopic, statusTopic);
  }
  const forms: string[] = [];
  for (let i = 0; i < secrets.length; i++) {
    const secret = secrets[i];
    if (!secret) continue;
    forms.push(secret);
    if (utf8Length(secret) < 0) continue;
    const bytes = utf8ToBytes(secret);
    const base64 = bytesToBase64(bytes).replace(/=+$/, '');
    const base64url = base64.replace(/\+/g, '-').replace(/\//g, '_');
    forms.push(encodeURIComponent(secret), base64, base64url, bytesToHex(bytes));
  }
  return forms;
}

/** A copy of what is there, in which no text holds a secret, in letters of either case. */
function withoutSecrets<T>(value: T, secrets: string[]): T;
function withoutSecrets(value: unknown, secrets: string[]): unknown {
  if (typeof value === 'string') {
    const lower = value.toLowerCase();
    const holds = (secret: string) => value.indexOf(secret) >= 0 || lower.indexOf(secret.toLowerCase()) >= 0;
    return secrets.some(holds) ? REDACTED : value;
  }
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, secrets));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  const names = Object.keys(fields);
  const shown: JsonObject = {};
  for (let i = 0; i < names.length; i++) {
    const field = withoutSecrets(fields[names[i]!], secrets);
    if (field !== undefined) setField(shown, names[i]!, field as Json);
  }
  return shown;
}
