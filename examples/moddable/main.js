/**
 * A client on a microcontroller with Moddable. The device is provisioned with two preferences of the domain `hub`:
 * `connection` and `keyring`, both as written by `hub-protocol-cli provision`. The keyring contains the hub's PSK, since the
 * device lacks the 64 MiB to derive it.
 */

import crypto from 'hub-crypto';
import { KeyringStore } from 'hub-keyring';
import * as hub from 'hub-protocol';
import { buildUtterance, RequestScheduler } from 'hub-protocol-requests';
import { hangUp, isConnecting, openSocket } from 'hub-socket';
import Preference from 'preference';
import RNG from 'rng';
import Time from 'time';
import Timer from 'timer';

const PING_EVERY = 60_000; // milliseconds
const PING = { msg_type: 'ping', payload: {} };
const randomBytes = (length) => new Uint8Array(RNG.get(length));

let clock = 0;
let lastTicks = Time.ticks;
/** Milliseconds since the start. The ticks restart at 0 after 49 days. */
function now() {
  const ticks = Time.ticks;
  clock += (ticks - lastTicks) >>> 0;
  lastTicks = ticks;
  return clock;
}

const connection = JSON.parse(Preference.get('hub', 'connection'));
const policy = new hub.ConnectionPolicy({ randomBytes });

const store = new KeyringStore(connection.access_key);

let requestId = 0;
function connect() {
  if (isConnecting()) return Timer.set(connect, 1000); // the abandoned socket
  const dialOptions = policy.begin(now());
  if (dialOptions === undefined) return; // there is a connection, or an old timer called
  const session = new hub.ClientSession({
    crypto,
    siteId: connection.site_id,
    randomBytes,
    maxMessage: 16 * 1024, // longer messages are dropped, chunk by chunk
    inPlace: true, // nothing else uses the buffers that the socket delivers
    keyring: store.keyring,
    paced: store.keyring.staticKey.publicKey !== undefined, // nothing else waits for more than one X25519
    ...dialOptions,
  });
  const socket = openSocket(connection.url);
  socket.binaryType = 'arraybuffer';
  let scheduler;
  const timers = {};
  /** Resets one of the timers, or clears it. */
  const set = (name, call, wait) => {
    if (timers[name] !== undefined) Timer.clear(timers[name]);
    timers[name] = undefined;
    if (wait === undefined) return;
    timers[name] = Timer.set(() => {
      timers[name] = undefined;
      call();
    }, wait);
  };
  const send = (message) => session.sendJson(message).forEach((data) => void socket.send(data));
  const ping = () => {
    send(PING); // the network then notices a hub that has gone
    set('ping', ping, PING_EVERY);
  };
  const closed = (closing) => run(session.closed(closing));
  /** Stores what an event changes. Returns whether the session may go on. */
  const remember = (event) => {
    try {
      store.update(hub.updateKeyring(store.keyring, event));
      return true;
    } catch (error) {
      trace(`the keyring was not stored: ${error}\n`);
      return event.type === 'unpin'; // then the old pin stays
    }
  };
  /** @param {hub.SessionEvent[]} events */
  const run = (events) => {
    for (const event of events) {
      if (!remember(event)) return closed(); // before message 3 is sent
      if ('error' in event) trace(`${event.type}: ${event.error.code}\n`);
      if (event.type === 'transmit') socket.send(event.data);
      else if (event.type === 'waiting') Timer.set(() => run(session.resume()), 0);
      else if (event.type === 'ready') {
        ping();
        scheduler = new RequestScheduler({ sessionId: event.sessionId });
        const request = buildUtterance({ requestId: String(++requestId), text: 'hello' });
        carryOut(scheduler.request(request, now()));
      } else if (event.type === 'message' && event.kind === 'json') {
        carryOut(scheduler.receive(event.text, now()));
      } else if (event.type === 'dropped') trace(`a message of ${event.bytes} bytes was dropped\n`);
      else if (event.type === 'psk-needed') {
        trace('no PSK for this hub: provision the device again\n');
        policy.goodbye(); // another attempt would end in the same way
        closed();
      } else if (event.type === 'close') closed();
      else if (event.type === 'ended') {
        hangUp(socket);
        set('ping');
        carryOut(scheduler?.closed() ?? []);
      }
      const decision = policy.take(event, now());
      if (decision?.do === 'dial') Timer.set(connect, decision.after);
      if (decision?.do === 'ask') trace('a person has to act: see docs/reference/errors.md\n');
    }
    set('deadline', () => closed('timeout'), policy.deadline(session.state, now()));
  };
  const carryOut = (decisions) => {
    for (const decision of decisions) {
      if (decision.do === 'send') send(decision.envelope);
      if (decision.do === 'finish') trace(`${decision.ending}: ${decision.reply.text}\n`);
      if (decision.do === 'handle') trace(`unasked: ${decision.event.type}\n`);
    }
    set('request', () => carryOut(scheduler.expire(now())), scheduler?.nextDeadline(now()));
  };
  socket.onmessage = ({ data }) =>
    run(session.receive(typeof data === 'string' ? data : new Uint8Array(data)));
  socket.onclose = ({ code }) => closed(code);
  socket.onerror = () => closed();
  run([]); // sets the first deadline
}

connect();
