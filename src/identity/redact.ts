/**
 * Identities without their secrets: the access key, passwords, keys, credentials in URLs, and topics, which end with
 * the access key. Spec, "Local configuration".
 */
import type { Mqtt } from '../mqtt-topics/mqtt.ts';
import type { Endpoints, Identity } from './identity.ts';

const REDACTED = '[redacted]';

/** The identity as it may be shown. */
export function redactIdentity(identity: Identity): object {
  return {
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
  };
}

export function redactMqtt(mqtt: Mqtt): object {
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

export function redactEndpoints(endpoints: Endpoints): object {
  return {
    wss: redactUrl(endpoints.wss),
    https: redactUrl(endpoints.https),
    mqtt: redactUrl(endpoints.mqtt),
  };
}

/**
 * A URL without what comes before its last @, and without query and fragment: what a password holds that was not
 * escaped must not show either. Without a scheme, nothing of it does.
 */
function redactUrl(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url);
  if (scheme === null) return REDACTED;
  const rest = url.slice(scheme[0].length);
  const at = rest.lastIndexOf('@');
  const shown = at < 0 ? rest : `${REDACTED}${rest.slice(at)}`;
  return scheme[0] + redactQuery(shown);
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
