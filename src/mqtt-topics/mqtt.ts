/** The `mqtt` object of an identity: the broker, the credentials for it, and the client's topics. Spec, "Client identity". */
import { MQTT } from '../issued/aliases.ts';
import { badField, IssuedFields, isObject } from '../issued/fields.ts';
import { issuedOf } from '../issued/issued.ts';

/** Where an `mqtt` object is taken as an argument, the object as issued will do, under any names. */
export interface Mqtt {
  /** The broker's address; empty where it was issued with a type that cannot be read. */
  readonly endpoint: string;
  readonly username: string;
  readonly password: string;
  /** Whether to connect over TLS even where the address does not say so (default: whether it starts with `mqtts:`). */
  readonly tls: boolean;
  /** The quality of service of data, both ways (default 1). */
  readonly qos: 0 | 1 | 2;
  /** The identity's. Topics contain it. */
  readonly accessKey: string;
  /** What the names of all topics start with; today it ends with the access key. */
  readonly topicPrefix?: string;
  /** With earlier hubs, a level of the topics' names. */
  readonly hubId?: string;
  /** The topic to publish to. */
  readonly c2sTopic?: string;
  /** The topic to subscribe to. */
  readonly s2cTopic?: string;
  /** The topic of the client's presence. */
  readonly statusTopic?: string;
  /** With earlier hubs, whether topics contain a hash of the access key in its place (default false). */
  readonly hashTopics: boolean;
}

/** The same fields, any of which without a default may be missing. */
export type IssuedMqtt = { -readonly [Name in keyof Mqtt]-?: Mqtt[Name] | undefined };

/**
 * The fields of an `mqtt` object, as issued or as read by parseIdentity().
 * @throws LocalError `identity-field` for anything but an object
 */
export function mqttFields(mqtt: unknown): IssuedFields {
  if (!isObject(mqtt)) throw badField('mqtt', 'an object');
  return new IssuedFields(mqtt, issuedOf(mqtt)?.unreadable);
}

/** Reads the fields of an `mqtt` object. */
export function readMqtt(fields: IssuedFields): IssuedMqtt {
  return {
    endpoint: fields.string(MQTT.endpoint),
    username: fields.string(MQTT.username),
    password: fields.string(MQTT.password),
    tls: fields.flag(MQTT.tls),
    qos: (fields.integer(MQTT.qos, 0, 2) ?? 1) as Mqtt['qos'],
    accessKey: fields.string(MQTT.accessKey),
    topicPrefix: fields.string(MQTT.topicPrefix),
    hubId: fields.string(MQTT.hubId),
    c2sTopic: fields.string(MQTT.c2sTopic),
    s2cTopic: fields.string(MQTT.s2cTopic),
    statusTopic: fields.string(MQTT.statusTopic),
    hashTopics: fields.flag(MQTT.hashTopics) ?? false,
  };
}
