/**
 * The `mqtt` object of an identity: the broker, the credentials for it, and the client's topics. Spec, "Client
 * identity".
 */
import * as errors from '../errors-table.ts';
import { MQTT } from '../issued/aliases.ts';
import { IssuedFields, isObject } from '../issued/fields.ts';
import { issuedOf } from '../issued/issued.ts';

/**
 * The broker, the credentials for it, and the client's topics. A function with an `mqtt` parameter accepts this, or the
 * object as issued, with any of the names of its fields.
 */
export interface Mqtt {
  /** The broker's address; empty if it was issued with a type that cannot be read. */
  readonly endpoint: string;
  /** The user name for the broker. */
  readonly username: string;
  /** The password for the broker. */
  readonly password: string;
  /**
   * Whether to use TLS even if the scheme of the address does not (default: whether the address starts with `mqtts:`).
   */
  readonly tls: boolean;
  /** The quality of service of data in both directions (default 1). */
  readonly qos: 0 | 1 | 2;
  /** The access key of the identity. Topics contain it. */
  readonly accessKey: string;
  /** The levels that all topics start with. In the current layout the last level names the client. */
  readonly topicPrefix?: string;
  /** With earlier hubs, a level of the topics. */
  readonly hubId?: string;
  /** The topic to publish to. */
  readonly c2sTopic?: string;
  /** The topic to subscribe to. */
  readonly s2cTopic?: string;
  /** The topic of the client's presence. */
  readonly statusTopic?: string;
  /** With earlier hubs, whether topics contain a hash of the access key in place of the key (default false). */
  readonly hashTopics: boolean;
}

/** The same fields as issued: fields without a default may be missing. */
export type IssuedMqtt = { -readonly [Name in keyof Mqtt]-?: Mqtt[Name] | undefined };

/**
 * The fields of an `mqtt` object, as issued or as read by parseIdentity().
 * @throws LocalError `identity-field` for anything but an object
 */
export function mqttFields(mqtt: unknown): IssuedFields {
  if (!isObject(mqtt)) throw errors.badField('mqtt', 'an object');
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
