/**
 * A client in a page: the browser's WebSocket, the PSK from a worker, the keyring in localStorage, which belongs to this
 * origin. It connects, stays connected, and makes requests. To be copied, with `requests.js`, `derive.js` and `derive-worker.js`.
 */
import {
  authorizedUrl,
  ClientSession,
  ConnectionPolicy,
  createKeyring,
  keyringOptions,
  parseKeyring,
  selectEndpoint,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from 'hub-protocol';
import { nobleCrypto as crypto } from 'hub-protocol/noble';
import { derive } from './derive.js';
import { createRequests } from './requests.js';

const PING_EVERY = 60_000; // milliseconds
const randomBytes = (length) => globalThis.crypto.getRandomValues(new Uint8Array(length));

/**
 * @param {import('hub-protocol').Identity} identity
 * @param {{ ask(error: Error): void, show(what: object): void, times?: object, allowPlaintext?: boolean }} hooks - `ask` is
 *   called when a person has to act, as the error's message says; `show` with each event, decision and `{ progress }`
 */
export function startClient(identity, { ask, show, times, allowPlaintext }) {
  const { accessKey, password, siteId } = identity;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  const policy = new ConnectionPolicy({ randomBytes, ...times });
  let requests; // of the connection that is ready
  let hangUp = () => {};

  const name = `hub-keyring ${accessKey}`;
  const stored = localStorage.getItem(name);
  let keyring = stored
    ? parseKeyring(stored, accessKey)
    : createKeyring({ accessKey, staticKey: randomBytes(32), crypto });
  function remember(updated) {
    if (updated === keyring && localStorage.getItem(name)) return;
    keyring = updated;
    localStorage.setItem(name, serializeKeyring(keyring));
  }
  remember(keyring);

  function connect() {
    const dialOptions = policy.begin(performance.now());
    if (!dialOptions) return; // there is a connection, or the timer that called is an old one
    const keys = keyringOptions(keyring);
    const session = new ClientSession({ crypto, randomBytes, siteId, ...keys, ...dialOptions });
    const socket = new WebSocket(authorizedUrl(url, 'example', accessKey, { allowPlaintext }));
    socket.binaryType = 'arraybuffer';
    let deadline;
    const send = (message) => {
      for (const data of session.sendJson(message)) socket.send(data);
    };
    const pings = setInterval(() => {
      // since a browser cannot ping
      if (session.state === 'ready') send({ msg_type: 'ping', payload: {} });
    }, PING_EVERY);

    const closed = (closing) => run(session.closed(closing));
    const run = (events) => {
      for (const event of events) {
        remember(updateKeyring(keyring, event)); // before anything more is sent
        show(event);
        if (event.type === 'transmit') socket.send(event.data);
        else if (event.type === 'psk-needed') providePsk(event);
        else if (event.type === 'ready') {
          requests = createRequests(event.sessionId, send, show);
        } else if (event.type === 'message' && event.kind === 'json') requests.receive(event.text);
        else if (event.type === 'close') closed();
        else if (event.type === 'ended') {
          clearInterval(pings);
          socket.close();
          requests?.closed();
          requests = undefined;
        }
        const decision = policy.take(event, performance.now());
        if (decision) show(decision);
        if (decision?.do === 'ask') ask(decision.error);
        if (decision?.do === 'dial') {
          const redial = setTimeout(connect, decision.after);
          hangUp = () => clearTimeout(redial);
        }
      }
      clearTimeout(deadline);
      const wait = policy.deadline(session.state, performance.now());
      if (wait !== undefined) deadline = setTimeout(closed, wait, 'timeout');
    };
    const providePsk = async ({ nodeId, salt }) => {
      try {
        const psk = await derive(password, salt, { onProgress: (progress) => show({ progress }) });
        remember(storePsk(keyring, nodeId, psk)); // until a `psk-suspect` removes it
        run(session.providePsk(psk));
      } catch (error) {
        policy.goodbye();
        closed();
        ask(error); // such as: no memory
      }
    };
    hangUp = () => closed(); // without a code: it was not the hub that closed
    socket.onmessage = ({ data }) =>
      run(session.receive(typeof data === 'string' ? data : new Uint8Array(data)));
    socket.onclose = ({ code, reason }) => closed({ code, reason });
    run([]); // sets the first deadline
  }

  connect();
  return {
    /** Resolves when the request has ended; `ending` says how. */
    ask: (text) => requests?.ask(text) ?? Promise.reject(new Error('there is no connection that is ready')),
    goodbye() {
      policy.goodbye();
      hangUp();
    },
    resume() {
      policy.resume();
      connect();
    },
  };
}
