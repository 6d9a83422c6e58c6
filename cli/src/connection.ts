/** Resolves a device's connection from its identity, which the device then need not read. */
import {
  authorizedUrl,
  type BrokerEndpoint,
  brokerEndpoint,
  clientId,
  deriveTopics,
  type Identity,
  selectEndpoint,
} from 'hub-protocol-judge/internals';

export interface ConnectionOptions {
  /** The name of the program. */
  readonly name: string;
  /** The only protocol to consider. By default selectEndpoint() chooses, WebSocket before MQTT. */
  readonly requested?: 'mqtt' | undefined;
  readonly allowPlaintext: boolean;
}

/** A client's MQTT connection, without the credentials for the broker. Topics and client id contain the access key. */
export interface MqttConnection {
  readonly publish: string;
  readonly subscribe: string;
  readonly status: string;
  readonly qos: 0 | 1 | 2;
  readonly broker: BrokerEndpoint;
  readonly client_id: string;
}

/** The connection of a device. It is a secret: it contains the access key. */
export interface Connection {
  readonly access_key: string;
  readonly site_id: string;
  /** The WebSocket URL, with the authorization in its query. */
  readonly url?: string;
  readonly mqtt?: MqttConnection & { readonly username: string; readonly password: string };
  /** The text to show at first contact, as issued. */
  readonly ai_disclosure?: Identity['aiDisclosure'];
}

/** @throws LocalError if the identity has no address for either protocol, or one that cannot be used */
export function connectionOf(identity: Identity, options: ConnectionOptions): Connection {
  const { accessKey, siteId, aiDisclosure, mqtt } = identity;
  const { name, requested, allowPlaintext } = options;
  const { protocol, url } = selectEndpoint(identity, {
    supported: ['wss', 'mqtt'],
    requested,
    allowPlaintext,
  });
  return {
    access_key: accessKey,
    site_id: siteId,
    ...(protocol === 'mqtt'
      ? {
          mqtt: {
            ...mqttConnectionOf(identity, options),
            username: mqtt!.username,
            password: mqtt!.password,
          },
        }
      : { url: authorizedUrl(url, name, accessKey, { allowPlaintext }) }),
    ...(aiDisclosure !== undefined && { ai_disclosure: aiDisclosure }),
  };
}

/**
 * @param identity - one with an `mqtt` object
 * @throws LocalError if its address or topics cannot be used
 */
export function mqttConnectionOf(
  { mqtt, accessKey }: Identity,
  { name, allowPlaintext }: ConnectionOptions,
): MqttConnection {
  return {
    ...deriveTopics(mqtt!),
    qos: mqtt!.qos,
    broker: brokerEndpoint(mqtt!, { allowPlaintext }),
    client_id: clientId(name, accessKey),
  };
}
