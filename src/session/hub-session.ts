/**
 * HubSession: the hub's side of protocol 3, for one connection of one client. Spec, "Hub
 * connection (protocol v3)".
 */
import type { Bytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { opaque } from '../opaque.ts';
import type { Json } from '../wire/json.ts';
import type { Channel } from './channel.ts';
import type { Closing } from './endings.ts';
import type { HubSessionEvent } from './events.ts';
import { HubHandshake } from './hub-handshake.ts';
import type { HubOptions } from './hub-options.ts';
import type { HubState } from './transitions.ts';

/**
 * One connection of one client. Create a new session for each connection.
 *
 * Under XXpsk2 it is ready once message 3 has opened. Under KKpsk0 it is ready once the client's first transport
 * message has opened: message 1 alone may be a replay.
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { HubSession, type HubSessionEvent } from 'hub-protocol';
import { ClientSession, type SessionEvent } from 'hub-protocol/parts';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const psk = randomBytes(32); // what derivePsk returns, on both sides
 * const hub = new HubSession({ crypto, randomBytes, nodeId: 'hub-1', staticKey: randomBytes(32), psk });
 * const keyring = { staticKey: randomBytes(32), psks: [{ nodeId: 'hub-1', key: psk }] };
 * const client = new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring });
 *
 * function onHubEvent(event: HubSessionEvent): void {
 *   if (event.type === 'transmit') client.receive(event.data).forEach(onClientEvent);
 *   if (event.type === 'message' && event.kind === 'json') console.log(event.text); // {"say":"hello"}
 * }
 * function onClientEvent(event: SessionEvent): void {
 *   if (event.type === 'transmit') hub.receive(event.data).forEach(onHubEvent);
 *   if (event.type === 'ready') client.sendJson({ say: 'hello' }).forEach((data) => hub.receive(data).forEach(onHubEvent));
 * }
 * hub.start().forEach(onHubEvent);
 * console.log(client.state, hub.state); // ready ready
 */
export class HubSession {
  private readonly channel: Channel<HubState, HubSessionEvent> = undefined!; // until there is one

  /**
   * @throws LocalError `bad-argument`, also for an unknown option; `bad-length`; `suite-unavailable`; `not-json`,
   *   `unsafe-number`, `lone-surrogate` or `json-depth` if `nodeId`, `hello` or `handshake` cannot be written as JSON;
   *   `crypto-failed`
   */
  constructor(options: HubOptions) {
    hideFields(this); // before there are keys, since it may throw for lack of memory
    this.channel = new HubHandshake(options).channel;
  }

  /** The name of the current state, for deadlines and logs. */
  get state(): HubState | 'failed' | 'closed' {
    return this.channel.state;
  }

  /**
   * Starts the connection: the hub speaks first, with HELLO and HANDSHAKE.
   * @returns two `transmit` events
   * @throws LocalError `wrong-state` unless it is the first call
   */
  start(): HubSessionEvent[] {
    if (this.state !== 'new') throw errors.hubStarted(this);
    return this.channel.call('start', undefined);
  }

  /**
   * Takes one WebSocket message or one MQTT payload. Before the handshake is done, bytes are read as UTF-8.
   * @param data - the message: a string if it was text, a Uint8Array if it was binary
   * @returns the events that follow, in order; none if the session has failed or closed
   * @throws LocalError `wrong-state` before `start` and in a callback of this session; `bad-argument` for anything but
   *   a string or a Uint8Array. Nothing that the peer sends makes it throw.
   */
  receive(data: string | Uint8Array): HubSessionEvent[] {
    if (this.state === 'new') {
      throw errors.hubNotStarted();
    }
    return this.channel.receive(data);
  }

  /** Seals a JSON message, as {@link ClientSession.sendJson} does. */
  sendJson(value: Json | object): Bytes[] {
    return this.channel.send('json', value);
  }

  /** Seals a binary message, as {@link ClientSession.sendBinary} does. */
  sendBinary(bytes: Uint8Array): Bytes[] {
    return this.channel.send('binary', bytes);
  }

  /** Tells the session that the transport has closed, as {@link ClientSession.closed} does. */
  closed(closing?: Closing): HubSessionEvent[] {
    return this.channel.closed(closing);
  }
}
opaque(HubSession.prototype, 'HubSession');
