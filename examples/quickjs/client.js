/**
 * A client inside QuickJS. The program around it provides the socket, the storage, the time and the randomness as the global
 * `host`. host.ts is such a program for Node.js; one in C provides the same functions.
 */
import {
  ClientLink,
  createKeyring,
  deviceCrypto,
  parseKeyring,
  serializeKeyring,
} from './hub-protocol.link.js';

const randomBytes = (length) => new Uint8Array(host.random(length));
const bytesOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data));
/** Copies bytes into an ArrayBuffer for the host. */
const bufferOf = (data) => (typeof data === 'string' ? data : new Uint8Array(data).buffer);

const { access_key: accessKey, site_id: siteId } = JSON.parse(host.load('connection'));
const PAUSE = 2000; // milliseconds, after a failed allocation
const orders = [];
let isRunning = false;
let link; // undefined in the pause after a failed allocation

function newLink() {
  const stored = host.load('keyring');
  const keyring =
    stored === undefined
      ? createKeyring({ accessKey, staticKey: randomBytes(32), crypto: deviceCrypto })
      : parseKeyring(stored, accessKey);
  return new ClientLink({ crypto: deviceCrypto, randomBytes, siteId, keyring });
}

/** Gives the link an input. A failed allocation ends the link: after a pause another one follows, with what is stored. */
function give(input) {
  try {
    run(input());
  } catch (error) {
    if (link !== undefined && link.state !== 'ended') throw error; // a mistake of this program
    link = undefined;
    orders.length = 0;
    host.close();
    host.say(`ended: ${error?.code ?? error}`);
    host.wakeAt(host.now() + PAUSE);
  }
}

function wake() {
  if (link !== undefined) return link.wake(host.now());
  link = newLink();
  return link.start(host.now());
}

function run(more) {
  orders.push(...more);
  if (isRunning) return; // an order caused this input: those before it come first
  isRunning = true;
  try {
    while (orders.length > 0) carryOut[orders[0].do](orders.shift());
  } finally {
    isRunning = false;
  }
  host.wakeAt(link.deadline); // this calls client.wake
}

const carryOut = {
  open: ({ connection }) => host.open(connection), // this calls client.received and client.closed
  write: ({ data }) => host.send(bufferOf(data)),
  close: () => host.close(),
  store({ keyring }) {
    let failure;
    try {
      host.save('keyring', serializeKeyring(keyring));
    } catch (error) {
      failure = error;
    }
    run(link.stored(failure, host.now()));
  },
  derive: ({ derivation, nodeId }) => host.derivePsk(derivation, nodeId), // this calls client.derived
  'stop-deriving': () => {},
  tell: ({ event }) => told[event.type]?.(event),
};

const told = {
  connect: ({ pattern }) => host.say(`ready: ${pattern}`),
  text: ({ text }) => host.say(text),
  bytes: () => host.say('bytes'),
  close: ({ error }) => host.say(`ended: ${error.code ?? error}`),
  ask: ({ error }) => host.say(`a person has to act: ${error.code ?? error}`),
};

const unlessOver = (input) => link && give(input);
globalThis.client = {
  received: (connection, data) => unlessOver(() => link.received(connection, bytesOf(data), host.now())),
  closed: (connection, code) => unlessOver(() => link.closed(connection, { code }, host.now())),
  derived: (derivation, psk) => unlessOver(() => link.derived(derivation, new Uint8Array(psk), host.now())),
  wake: () => give(wake),
  send: (value) => unlessOver(() => link.send(value, host.now())),
};
give(wake);
