/**
 * A client on a microcontroller with Moddable. provision.js has stored what `hub-protocol-cli provision` wrote, as preferences of
 * the domain `hub`. The keyring contains the hub's PSK, since the device lacks the 64 MiB to derive it.
 */

import crypto from 'hub-crypto';
import { KeyringStore } from 'hub-keyring';
import { ClientLink } from 'hub-protocol';
import { buildUtterance, RequestScheduler } from 'hub-protocol-requests';
import * as socket from 'hub-socket';
import Preference from 'preference';
import RNG from 'rng';
import Time from 'time';
import Timer from 'timer';

const PING_EVERY = 60_000; // milliseconds
const PING = { msg_type: 'ping', payload: {} };

let clock = 0;
let lastTicks = Time.ticks;
/** Milliseconds since the start. The ticks restart at 0 after 49 days. */
function now() {
  const ticks = Time.ticks;
  clock += (ticks - lastTicks) >>> 0;
  lastTicks = ticks;
  return clock;
}

const { access_key, site_id: siteId, url } = JSON.parse(Preference.get('hub', 'connection'));
const store = new KeyringStore(access_key);
const link = new ClientLink({
  crypto,
  randomBytes: (length) => new Uint8Array(RNG.get(length)),
  siteId,
  keyring: store.keyring,
  session: {
    maxMessage: 16 * 1024, // longer messages are dropped, chunk by chunk
    inPlace: true, // nothing else uses the buffers that the socket delivers
    paced: store.keyring.staticKey.publicKey !== undefined, // nothing else waits for more than one X25519
  },
  requests: ({ sessionId }) => new RequestScheduler({ sessionId }),
});

const orders = [];
let timer;
function run(more) {
  if (orders.push(...more) > more.length) return; // an order caused this input: those before it come first
  for (const order of orders) carryOut[order.do](order);
  orders.length = 0;
  if (timer !== undefined) Timer.clear(timer);
  const { deadline } = link;
  timer = deadline === undefined ? undefined : Timer.set(wake, Math.max(0, deadline - now()));
}

function wake() {
  timer = undefined;
  run(link.wake(now()));
}

const carryOut = {
  open({ connection }) {
    const closed = (closing) => {
      socket.close();
      run(link.closed(connection, closing, now()));
    };
    socket.open(url, {
      onmessage: ({ data }) =>
        run(link.received(connection, typeof data === 'string' ? data : new Uint8Array(data), now())),
      onclose: ({ code }) => closed({ code }),
      onerror: () => closed(),
    });
  },
  write: ({ data }) => socket.write(data),
  close: () => socket.close(),
  store({ keyring }) {
    let failure;
    try {
      store.update(keyring);
    } catch (error) {
      failure = error;
    }
    run(link.stored(failure, now()));
  },
  derive({ derivation }) {
    trace('no PSK for this hub: provision the device again\n');
    run(link.derived(derivation, new Error('no PSK'), now())); // anybody can name a hub, so the link dials on
  },
  'stop-deriving'() {},
  tell: ({ event }) => told[event.type]?.(event),
};

let requestId = 0;
const told = {
  connect() {
    run(link.send(PING, now()));
    run(link.ask(buildUtterance({ requestId: String(++requestId), text: 'hello' }), now()));
  },
  finish: ({ ending, reply }) => trace(`${ending}: ${reply.text}\n`),
  message: ({ message }) => trace(`unasked: ${message.type}\n`),
  dropped: ({ bytes }) => trace(`a message of ${bytes} bytes was dropped\n`),
  close: ({ error }) => trace(`ended: ${error.code ?? error}\n`),
  ask: ({ error }) => trace(`a person has to act: ${error.code ?? error}, see docs/reference/errors.md\n`),
};

Timer.repeat(() => run(link.send(PING, now())), PING_EVERY); // the network then notices a hub that has gone
run(link.start(now()));
