/**
 * What a client says of itself on its status topic: retained, for whoever looks later. A hub ends the session of a
 * client at its `offline`.
 */
import { assertString } from '../bytes.ts';
import type { Topics } from './topics.ts';

/** A message to publish as it is, or to leave with the broker as the will. */
export interface PresenceMessage {
  readonly topic: string;
  readonly payload: 'offline' | 'online';
  readonly qos: 1;
  readonly retain: true;
}

export interface Presence {
  /** For CONNECT: the broker publishes it where the connection breaks. */
  readonly will: PresenceMessage;
  /** Once the session is ready, and not before. */
  readonly online: PresenceMessage;
  /** Before the HELLO of each attempt, and before leaving: a broker publishes no will where a client says goodbye. */
  readonly offline: PresenceMessage;
}

/**
 * The messages of a client's presence.
 * @param topics - as deriveTopics() answers them
 * @throws LocalError `bad-argument`
 */
export function presence(topics: Pick<Topics, 'status'>): Presence {
  const topic = topics?.status;
  assertString(topic, 'topics.status');
  const say = (payload: PresenceMessage['payload']): PresenceMessage => ({
    topic,
    payload,
    qos: 1,
    retain: true,
  });
  return { will: say('offline'), online: say('online'), offline: say('offline') };
}
