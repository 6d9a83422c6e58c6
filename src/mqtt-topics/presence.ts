/**
 * What a client publishes on its status topic: retained messages, so that whoever subscribes later reads the last one. A
 * hub ends the session of a client that is `offline`.
 */

import { readArgument } from '../arguments.ts';
import { assertString } from '../bytes.ts';
import type { Topics } from './topics.ts';

/** A message to publish as it is, or to register with the broker as the will. */
export interface PresenceMessage {
  readonly topic: string;
  readonly payload: 'offline' | 'online';
  readonly qos: 1;
  readonly retain: true;
}

export interface Presence {
  /** For CONNECT: the broker publishes it when the connection breaks. */
  readonly will: PresenceMessage;
  /** To publish once the session is ready, not before. */
  readonly online: PresenceMessage;
  /** To publish before the HELLO of each attempt and before DISCONNECT, after which a broker publishes no will. */
  readonly offline: PresenceMessage;
}

/**
 * Returns the messages of a client's presence.
 * @param topics - from deriveTopics()
 * @throws LocalError `bad-argument`
 */
export function presence(topics: Pick<Topics, 'status'>): Presence {
  return readArgument('topics', () => {
    const topic = topics.status;
    assertString(topic, 'topics.status');
    const message = (payload: PresenceMessage['payload']): PresenceMessage => ({
      topic,
      payload,
      qos: 1,
      retain: true,
    });
    return { will: message('offline'), online: message('online'), offline: message('offline') };
  });
}
