/**
 * The messages that a client publishes on its status topic. They are retained: a later subscriber receives the last
 * one. A hub ends the session of a client that is `offline`.
 */

import { assertString, readArgument } from '../arguments.ts';
import type { Topics } from './topics.ts';

/** A message to publish unchanged, or to register with the broker as the will. */
export interface PresenceMessage {
  /** The status topic. */
  readonly topic: string;
  /** The presence, in ASCII. */
  readonly payload: 'offline' | 'online';
  /** The quality of service: at least once. */
  readonly qos: 1;
  /** Whether the broker keeps the message for later subscribers. */
  readonly retain: true;
}

/** The messages of a client's presence. */
export interface Presence {
  /** The will, for CONNECT: the broker publishes it when the connection breaks. */
  readonly will: PresenceMessage;
  /** Publish this once the session is ready, not before. */
  readonly online: PresenceMessage;
  /** Publish this before the HELLO of each attempt, and before DISCONNECT, after which a broker publishes no will. */
  readonly offline: PresenceMessage;
}

/**
 * Returns the messages of a client's presence.
 * @param topics - from deriveTopics()
 * @returns the three messages, which share no object
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { presence } from 'hub-protocol';
 *
 * const { will, online, offline } = presence({ status: 'hm/t1/kiosk-7/status' });
 * console.log(will.payload, online.payload, offline.retain); // offline online true
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
