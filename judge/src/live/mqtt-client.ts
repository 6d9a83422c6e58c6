/** A client under test on the judge's broker: its messages, and their topics. */
import type { Peer, Publication } from '../mqtt/broker.ts';
import { bytesToUtf8 } from '../protocol.ts';
import { Failure } from '../verdict.ts';
import { Connection, type Patience } from './connection.ts';
import { payloadOfType } from './envelopes.ts';
import { type ClientTopics, payloadOf } from './mqtt-topics.ts';

const UNSUBSCRIBED =
  'subscription: the client speaks before it has subscribed; the broker does not keep the offer for it';

/** A message that the client published on its status topic. */
export interface Presence {
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
}

export class ClientConnection extends Connection {
  readonly peer: Peer;
  readonly topics: ClientTopics;
  readonly presence: Presence[] = [];
  /** The number of presence messages before the announcing HELLO. */
  before = 0;
  #isAnnounced = false;
  #onPresence = (): void => {};
  readonly #patience: Patience;

  constructor(peer: Peer, topics: ClientTopics, patience: Patience) {
    super(
      {
        send: (data) => void peer.publish(topics.out, payloadOf(data)),
        close: () => peer.close(),
      },
      patience,
    );
    this.peer = peer;
    this.topics = topics;
    this.#patience = patience;
    peer.onWrong = (failure) => this.fail(failure);
    peer.onPublication = (publication) => this.#take(publication);
    peer.onClose = () => {
      this.closed();
      this.#onPresence();
    };
  }

  /**
   * Waits for the cleartext HELLO that a client begins with.
   * @throws Failure
   */
  async announced(): Promise<void> {
    const data = await this.receive(`HELLO on ${this.topics.in}`);
    payloadOfType('hello', data);
  }

  /** Waits until the client has published this after its HELLO, or is gone. Returns whether it has. */
  async says(payload: string): Promise<boolean> {
    const isSaid = (): boolean =>
      this.presence.slice(this.before).some((presence) => presence.payload === payload);
    const deadline = Date.now() + this.#patience.message;
    while (!isSaid() && !this.peer.isClosed && Date.now() < deadline) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#onPresence = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    return isSaid();
  }

  #take({ topic, payload, qos, retain }: Publication): void {
    if (topic === this.topics.in) {
      if (!this.#isAnnounced) this.before = this.presence.length;
      this.#isAnnounced = true;
      if (this.peer.isSubscribed(this.topics.out)) this.received(payload);
      else {
        const difference = { where: 'SUBSCRIBE', expected: `${this.topics.out}, before HELLO`, got: 'none' };
        this.fail(new Failure(difference, [UNSUBSCRIBED]));
      }
    } else if (topic === this.topics.status) {
      const text = bytesToUtf8(payload) ?? '';
      this.presence.push({ payload: text, qos, retain });
      if (text === 'offline' && this.#isAnnounced) this.closed();
      this.#onPresence();
    } else {
      const expected = `on ${this.topics.in} or ${this.topics.status}`;
      const cause = 'topic: the client publishes on a topic that is not its own';
      this.fail(new Failure({ where: 'a publication', expected, got: `on ${topic}` }, [cause]));
    }
  }
}
