/** The `mqtt` object of an identity: the broker, and the scope of topics in it. Spec, "Client identity". */
import {
  ACCESS_KEY,
  badField,
  type Fields,
  flag,
  integer,
  isGroup,
  type Names,
  text,
} from '../issued/fields.ts';

/** The broker, the credentials for it, and the scope of topics in it. */
export interface Mqtt {
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  readonly tls: boolean;
  readonly qos: 0 | 1 | 2;
  /** The identity's: topics are named after it. */
  readonly accessKey: string;
  readonly topicPrefix?: string;
  readonly hubId?: string;
  readonly c2sTopic?: string;
  readonly s2cTopic?: string;
  readonly statusTopic?: string;
  readonly hashTopics: boolean;
}

export const MQTT_NAMES: { readonly [Name in keyof Mqtt]-?: Names } = {
  endpoint: 'endpoint|broker_url|brokerUrl',
  username: 'username|broker_username|brokerUsername',
  password: 'password|broker_password|brokerPassword',
  tls: 'tls',
  qos: 'qos',
  accessKey: ACCESS_KEY,
  topicPrefix: 'topic_prefix|topicPrefix',
  hubId: 'hub_id|hubId',
  c2sTopic: 'c2s_topic|c2sTopic',
  s2cTopic: 's2c_topic|s2cTopic',
  statusTopic: 'status_topic|statusTopic',
  hashTopics: 'hash_topics|hashTopics',
};

/** The same fields while any may be missing that has no default. */
export type IssuedMqtt = { [Name in keyof Mqtt]: Mqtt[Name] | undefined };

/**
 * Reads an `mqtt` object as it was issued, or as it was read before.
 * @param accessKey - counts for more than one in the object
 * @throws LocalError `identity-field`
 */
export function readMqtt(mqtt: unknown, accessKey?: string): IssuedMqtt {
  if (!isGroup(mqtt)) throw badField('mqtt', 'an object');
  const fields: Fields = mqtt;
  const endpoint = text(fields, MQTT_NAMES.endpoint);
  return {
    endpoint,
    username: text(fields, MQTT_NAMES.username),
    password: text(fields, MQTT_NAMES.password),
    tls: flag(fields, MQTT_NAMES.tls, (endpoint ?? '').trim().toLowerCase().indexOf('mqtts:') === 0),
    qos: integer(fields, MQTT_NAMES.qos, { least: 0, most: 2, byDefault: 1 }) as Mqtt['qos'],
    accessKey: accessKey ?? text(fields, MQTT_NAMES.accessKey),
    topicPrefix: text(fields, MQTT_NAMES.topicPrefix),
    hubId: text(fields, MQTT_NAMES.hubId),
    c2sTopic: text(fields, MQTT_NAMES.c2sTopic),
    s2cTopic: text(fields, MQTT_NAMES.s2cTopic),
    statusTopic: text(fields, MQTT_NAMES.statusTopic),
    hashTopics: flag(fields, MQTT_NAMES.hashTopics, false),
  };
}
