/**
 * ClientSession: the client's side of protocol 3, for one connection to a hub. Spec, "Hub connection (protocol v3)".
 */
import { assertBytes } from '../arguments.ts';
import type { Bytes } from '../bytes.ts';
import * as errors from '../errors-table.ts';
import { hideFields } from '../hide-fields.ts';
import { KEY_LENGTH } from '../limits.ts';
import { opaque } from '../opaque.ts';
import type { Json } from '../wire/json.ts';
import type { Channel } from './channel.ts';
import { ClientHandshake } from './client-handshake.ts';
import type { ClientOptions } from './client-options.ts';
import type { Closing } from './endings.ts';
import type { SessionEvent } from './events.ts';
import type { ClientState } from './transitions.ts';

/**
 * One connection to a hub. Create a new session for each connection, however the last one ended.
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { createKeyring } from 'hub-protocol';
import { ClientSession } from 'hub-protocol/parts';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
 * const session = new ClientSession({ crypto, randomBytes, siteId: 'lobby', keyring });
 * const noise = { patterns: ['XXpsk2'], suites: ['25519_ChaChaPoly_SHA256'] };
 * const received = [
 *   { msg_type: 'hello', payload: { node_id: 'hub-1' } },
 *   { msg_type: 'shake', payload: { max_protocol_version: 3, noise } },
 * ];
 * for (const message of received) {
 *   for (const event of session.receive(JSON.stringify(message))) {
 *     if (event.type === 'psk-needed') console.log(event.nodeId, event.salt.length); // hub-1 32
 *   }
 * }
 * console.log(session.state); // awaiting-psk
 */
export class ClientSession {
  private readonly side: ClientHandshake = undefined!; // until there is one
  private readonly channel: Channel<ClientState, SessionEvent> = undefined!;
  private hasStarted = false;

  /**
   * Makes the ephemeral key, and computes everything that does not need the hub: create the session before you connect.
   * @throws LocalError `bad-argument`, also for an unknown option; `bad-length`; `not-json`, `unsafe-number`,
   *   `lone-surrogate` or `json-depth` if `hello` or `encodings` cannot be written as JSON; `bad-random` if `randomBytes`
   *   returns anything but 32 bytes, or zeros; `crypto-failed` if it throws, or if the injected crypto fails
   */
  constructor(options: ClientOptions) {
    hideFields(this); // before there are keys, since it may throw for lack of memory
    this.side = new ClientHandshake(options);
    this.channel = this.side.channel;
  }

  /** The name of the current state, for deadlines and logs. */
  get state(): ClientState | 'failed' | 'closed' {
    return this.channel.state;
  }

  /**
   * MQTT only: sends the cleartext HELLO that makes the hub greet this client. It names neither session nor site; the
   * sealed HELLO names them later. Over a WebSocket the hub speaks first.
   * @returns one `transmit` event
   * @throws LocalError `wrong-state` unless it is the first call, before anything was received
   */
  start(): SessionEvent[] {
    if (this.hasStarted || !this.channel.knows('start')) {
      throw errors.clientStarted(this);
    }
    const events = this.channel.call('start', undefined);
    this.hasStarted = true;
    return events;
  }

  /**
   * Takes one WebSocket message or one MQTT payload. Before the handshake is done, bytes are read as UTF-8.
   * @param data - the message: a string if it was text, a Uint8Array if it was binary
   * @returns the resulting events, in order; none if the session has failed or closed
   * @throws LocalError `bad-argument` for anything but a string or a Uint8Array; `wrong-state` in a callback of this
   *   session. Nothing that the peer sends makes it throw; but
   *   `out-of-memory`, if there is no memory for the events: the session has failed.
   */
  receive(data: string | Uint8Array): SessionEvent[] {
    return this.channel.receive(data);
  }

  /**
   * Answers `psk-needed`. A late or second call does nothing.
   * @param psk - 32 bytes, derived by `derivePsk` or provisioned; the caller may wipe them afterwards
   * @returns the events that follow, in order
   * @throws LocalError `wrong-state` before `psk-needed` and in a callback of this session; `bad-argument`;
   *   `bad-length`. None of these changes anything.
   */
  providePsk(psk: Uint8Array): SessionEvent[] {
    const { channel } = this;
    if (channel.knows('hello')) {
      throw errors.pskTooEarly();
    }
    if (!channel.knows('psk')) return [];
    assertBytes(psk, 'psk', KEY_LENGTH);
    return channel.call('psk', psk);
  }

  /**
   * Answers `waiting`: takes the next step of the handshake. Unless the session waits, it does nothing.
   * @param sharedSecret - if the event had a `publicKey`: X25519 of the client's static private key and that key, 32 bytes,
   *   which the caller may wipe afterwards. Otherwise omit it
   * @returns the events that follow, in order
   * @throws LocalError `wrong-state` in a callback of this session; `bad-argument`, also for a shared secret that was not
   *   requested; `bad-length`. None of these changes anything.
   */
  resume(sharedSecret?: Uint8Array): SessionEvent[] {
    const { channel } = this;
    if (!channel.knows('resume')) return [];
    this.side.handshake!.assertAwaited(sharedSecret);
    return channel.call('resume', sharedSecret);
  }

  /**
   * Seals a JSON message.
   * @param value - plain data, whatever its type is called, or a string that contains JSON and is sent unchanged
   * @returns the transport messages, of at most 65535 bytes each: write all of them, in order, with nothing in between
   * @throws LocalError `wrong-state` before `ready` and in a callback of this session; `session-over` after the end;
   *   `not-json`, `unsafe-number`, `lone-surrogate` or `json-depth` if the value is not JSON; `message-too-long` if it is
   *   longer than 32 MiB. None of these changes anything. `nonce-exhausted`, `crypto-failed` and
   *   `out-of-memory` end the session.
   */
  sendJson(value: Json | object): Bytes[] {
    return this.channel.send('json', value);
  }

  /**
   * Seals a binary message.
   * @param bytes - the message, at most 32 MiB; it stays yours
   * @returns the transport messages, as from `sendJson`
   * @throws LocalError `wrong-state`, `session-over`, `message-too-long`, `nonce-exhausted` and `crypto-failed`, in the same
   *   cases as in `sendJson`; `bad-argument`, which changes nothing
   */
  sendBinary(bytes: Uint8Array): Bytes[] {
    return this.channel.send('binary', bytes);
  }

  /**
   * Tells the session that the transport has closed, or that you have stopped waiting. Only the first call counts.
   * @param closing - the close code, `'timeout'`, or `{ code, status, reason, cause, platformCode }`, where `status` is the HTTP
   *   status of a refused upgrade, and `cause` says why there was no connection. Without an argument the connection was lost.
   * @returns `ended`, after any events that change the keyring; nothing on later calls
   * @throws LocalError `bad-argument`; `wrong-state` in a callback of this session; `out-of-memory`, which ends the session
   */
  closed(closing?: Closing): SessionEvent[] {
    return this.channel.closed(closing);
  }
}
opaque(ClientSession.prototype, 'ClientSession');
