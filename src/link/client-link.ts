/**
 * ClientLink: a client across all its connections, sans I/O. Its inputs are here; machine.ts says what each of them does.
 * docs/reference/sessions.md, "The link", has the rules and a shell. Spec, "Hub connection (protocol v3)".
 */
import { hideFields } from '../hide-fields.ts';
import type { Keyring } from '../keyring/keyring.ts';
import { opaque } from '../opaque.ts';
import type { Closing } from '../session/endings.ts';
import type { JsonObject } from '../wire/json.ts';
import { LinkMachine } from './machine.ts';
import { type LinkClosing, type LinkOptions, type LinkState, readLinkOptions } from './options.ts';
import type { Order } from './orders.ts';

/**
 * Keeps a client connected. Each input returns orders: carry them out in their order. After each input, set one timer to
 * `deadline`, and call `wake` when it fires. `now` is the time in milliseconds, best from a clock that never goes back, such as
 * `performance.now()`: if it goes back, the link goes on from where it was. If carrying out an order causes the next input, put that input's orders behind those that are left.
 *
 * No input from the network makes a method throw. A caller's mistake throws a LocalError, and changes nothing. Any method throws
 * `out-of-memory` if an allocation has failed. The link is then over: it has wiped its keys, its state is `ended`, and each further
 * call throws the same. End what it had under way, and after a pause make another one with the keyring that is stored.
 * @see spec, "Hub connection (protocol v3)"
 *
 * @example
 * import { ClientLink, createKeyring, type Order } from 'hub-protocol';
 * import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
 *
 * const keyring = createKeyring({ accessKey: 'kiosk-7', staticKey: randomBytes(32), crypto });
 * const link = new ClientLink({ crypto, randomBytes, siteId: 'lobby', keyring });
 * const orders: Order[] = link.start(0);
 * console.log(orders.map((order) => order.do).join(' ')); // tell open
 * console.log(link.state, link.deadline); // connecting 30000
 */
export class ClientLink {
  private readonly machine: LinkMachine;

  /**
   * Call `start` next.
   * @throws LocalError `bad-argument`, also for an unknown option. Options of the session are checked when it is made
   */
  constructor(options: LinkOptions) {
    this.machine = new LinkMachine(readLinkOptions(options));
    hideFields(this);
  }

  /** The keyring, as last stored. */
  get keyring(): Keyring {
    return this.machine.store.kept;
  }

  /** When to call `wake`, on the clock of `now`; `undefined` if there is nothing to wait for. */
  get deadline(): number | undefined {
    return this.machine.deadline;
  }

  /** What the link is doing. */
  get state(): LinkState {
    return this.machine.state;
  }

  /**
   * Connects, unless there is a connection: at first, after `end`, after a person has acted, and when the network is back.
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`; as any method, `out-of-memory`
   */
  start(now: number): Order[] {
    return this.machine.run(now, this.machine.start);
  }

  /**
   * MQTT only: the client has subscribed, and may announce itself. A shell over WebSocket need not call it: there the hub
   * speaks first.
   * @param connection - the number from the order
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  opened(connection: number, now: number): Order[] {
    const { machine } = this;
    return machine.run(now, machine.input, connection, machine.open);
  }

  /**
   * Takes one WebSocket message or one MQTT payload.
   * @param connection - the number from the order
   * @param data - a string if it was text, a Uint8Array if it was binary
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  received(connection: number, data: string | Uint8Array, now: number): Order[] {
    const { machine } = this;
    return machine.run(now, machine.input, connection, machine.receive, data);
  }

  /**
   * The transport has closed, or could not be opened.
   * @param connection - the number from the order
   * @param closing - as for `ClientSession.closed`; `retryAfter` lengthens the pause. An Error means that this side has failed
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  closed(connection: number, closing: Closing | LinkClosing | Error | undefined, now: number): Order[] {
    return this.machine.run(now, this.machine.closed, connection, closing);
  }

  /**
   * Answers `store`.
   * @param error - why the keyring could not be stored; `undefined` or `null` if it is stored
   * @param now - the time, in milliseconds
   * @param keyring - what is stored now, if others write to the same store
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  stored(error: unknown, now: number, keyring?: Keyring): Order[] {
    return this.machine.run(now, this.machine.stored, error, keyring);
  }

  /**
   * Answers `derive`.
   * @param derivation - the number from the order
   * @param psk - 32 bytes, which are copied; or why there is none
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  derived(derivation: number, psk: Uint8Array | Error, now: number): Order[] {
    return this.machine.run(now, this.machine.derived, derivation, psk);
  }

  /**
   * Answers `compute`.
   * @param connection - the number from the order
   * @param sharedSecret - 32 bytes, which you may wipe afterwards; or why there is none
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  computed(connection: number, sharedSecret: Uint8Array | Error, now: number): Order[] {
    const { machine } = this;
    return machine.run(now, machine.input, connection, machine.computed, sharedSecret);
  }

  /**
   * Does what is due. A late call is fine, an early one does nothing.
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  wake(now: number): Order[] {
    return this.machine.run(now, this.machine.wake);
  }

  /**
   * Asks the hub, as soon as it can. The link tells `part` for each part of the answer, and
   * `finish` when the question has ended, or `unsent`.
   * @param envelope - as for `RequestScheduler.request`
   * @param now - the time, in milliseconds
   * @param timeout - how long the question may take in all, in milliseconds, more than 0 and at most a day: then it is `unsent`, or
   *   ends with `timeout` and what has come (default: it may wait 60000 to be sent, and then the deadlines of the scheduler begin)
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`; `wrong-state` without the option `requests`; `too-many-requests` if 10,000 were not sent
   */
  ask(envelope: JsonObject, now: number, timeout?: number): Order[] {
    return this.machine.run(now, this.machine.ask, envelope, timeout);
  }

  /**
   * Cancels a question: if it was not sent, it never is, and the link tells nothing of it any more. The hub may act on one that was.
   * @param envelope - the object that was passed to `ask`; with any other, nothing happens
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  cancel(envelope: JsonObject, now: number): Order[] {
    return this.machine.run(now, this.machine.cancel, envelope);
  }

  /**
   * Sends an envelope that is not a question, or bytes. If that cannot be done now, the link tells `unsent`.
   * @param message - as for `sendJson` or `sendBinary`
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  send(message: JsonObject | Uint8Array, now: number): Order[] {
    return this.machine.run(now, this.machine.send, message);
  }

  /**
   * Pins the key of the latest question to a person, in place of the old one, and connects.
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`; `wrong-state` if no person is asked about a hub's key
   */
  trust(now: number): Order[] {
    return this.machine.run(now, this.machine.trust);
  }

  /**
   * Changes the keyring as a person wishes, such as with `forgetPsks` after a new password, and connects with it. If it cannot be
   * stored, each further attempt to connect begins with it.
   * @param update - takes a keyring and returns another one, without side effects
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`; `bad-length` and any other that `update` throws
   */
  change(update: (keyring: Keyring) => Keyring, now: number): Order[] {
    return this.machine.run(now, this.machine.change, update);
  }

  /**
   * Ends the connection, the derivation and all questions, now. `start` connects again.
   * @param now - the time, in milliseconds
   * @returns the orders to carry out, in order
   * @throws LocalError `bad-argument`
   */
  end(now: number): Order[] {
    return this.machine.run(now, this.machine.end);
  }
}
opaque(ClientLink.prototype, 'ClientLink');
