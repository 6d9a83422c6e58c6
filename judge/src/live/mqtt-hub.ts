/** A hub under test on the judge's broker: its messages for one client. */
import type { Peer, Publication } from '../mqtt/broker.ts';
import { utf8ToBytes } from '../protocol.ts';
import { Failure } from '../verdict.ts';
import { Connection, type Patience } from './connection.ts';
import { envelope } from './envelopes.ts';
import { type ClientTopics, payloadOf } from './mqtt-topics.ts';

/** The HELLO that announces a client and says nothing about it. */
const ANNOUNCEMENT = envelope('hello', '{"pubkey":"","site_id":""}');
const UNACKNOWLEDGED = 50; // milliseconds in which a hub that subscribed with QoS 0 takes a message

export class HubConnection extends Connection {
  readonly #peer: Peer;
  readonly #topics: ClientTopics;

  constructor(peer: Peer, topics: ClientTopics, patience: Patience) {
    super(
      {
        send: (data) => void peer.publish(topics.in, payloadOf(data)),
        close: () => void this.sayOffline(),
        isSilent: true,
      },
      patience,
    );
    this.#peer = peer;
    this.#topics = topics;
    peer.onWrong = (failure) => this.fail(failure);
    peer.onClose = () => {
      const difference = { where: 'connection to the broker', expected: 'kept', got: 'ended by the hub' };
      this.fail(
        new Failure(difference, ['connection: the hub leaves the broker; it ends a session by silence']),
      );
    };
  }

  /** Publishes the client's `offline`, as a broker does for a client or its will. Returns when the hub has taken it. */
  async sayOffline(): Promise<void> {
    await this.#peer.publish(this.#topics.status, utf8ToBytes('offline'));
    await new Promise((resolve) => setTimeout(resolve, this.#isAcknowledging ? 0 : UNACKNOWLEDGED));
  }

  announce(): void {
    this.send(ANNOUNCEMENT);
  }

  async sendRetained(data: Uint8Array): Promise<void> {
    await this.#peer.publish(this.#topics.in, data, true);
  }

  /** Ends earlier sessions, and announces the client. */
  async start(): Promise<void> {
    await this.sayOffline();
    this.#peer.onPublication = (publication) => this.#take(publication);
    this.announce();
  }

  get #isAcknowledging(): boolean {
    return this.#peer.acknowledges(this.#topics.status);
  }

  #take({ topic, payload, retain }: Publication): void {
    if (topic === this.#topics.out) {
      if (!retain) {
        this.received(payload);
        return;
      }
      const cause = 'retain: the hub publishes retained messages; each belongs to one session';
      this.fail(
        new Failure({ where: `a publication on ${topic}`, expected: 'not retained', got: 'retained' }, [
          cause,
        ]),
      );
    } else if (topic === this.#topics.in || topic === this.#topics.status) {
      const cause = 'topic: the hub publishes on a topic that only the client writes to';
      this.fail(
        new Failure({ where: 'a publication', expected: `on ${this.#topics.out}`, got: `on ${topic}` }, [
          cause,
        ]),
      );
    }
  }
}
