/**
 * A client in a page: the browser's WebSocket, the PSK from a worker, the keyring in localStorage. It connects, stays
 * connected, and makes requests. To be copied, with the files beside it.
 */
import { authorizedUrl, ClientSession, ConnectionPolicy, selectEndpoint, updateKeyring } from 'hub-protocol';
import { nobleCrypto as crypto } from 'hub-protocol/noble';
import { derive } from './derive.js';
import { KeyringStorage } from './keyring-storage.js';
import { createRequests } from './requests.js';

const PING_EVERY = 60_000; // milliseconds
const PING = { msg_type: 'ping', payload: {} }; // a message, since a browser cannot ping
const randomBytes = (length) => globalThis.crypto.getRandomValues(new Uint8Array(length));

/**
 * @param {import('hub-protocol').Identity} identity
 * @param {{ ask(error: Error): void, show(what: object): void, times?: object, allowPlaintext?: boolean }} hooks - `ask` is
 *   called when a person has to act, as the error's message says; `show` with each event, decision and `{ progress }`,
 *   with `{ type: 'connecting' }`, `{ type: 'received', data }` and `{ type: 'sent', message }`, and, if the hub says
 *   something unasked, with `{ type: 'unasked', said }`
 */
export function startClient(identity, { ask, show, times, allowPlaintext }) {
  const { accessKey, password, siteId } = identity;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  const policy = new ConnectionPolicy({ randomBytes, ...times });
  const keyring = new KeyringStorage(accessKey);
  let requests; // of the connection that is ready
  let hangUp = () => {};
  let unproved; // a PSK that was derived, until the hub has proved it: any server can name a node id, so it is not stored

  function connect() {
    const dialOptions = policy.begin(performance.now());
    if (!dialOptions) return; // there is a connection, or the timer that called is an old one
    show({ type: 'connecting' });
    const session = new ClientSession({
      crypto,
      randomBytes,
      siteId,
      keyring: keyring.load(),
      ...dialOptions,
    });
    const socket = new WebSocket(authorizedUrl(url, 'example', accessKey, { allowPlaintext }));
    socket.binaryType = 'arraybuffer';
    let deadline;
    const write = (data) => {
      show({ type: 'transmit', data });
      socket.send(data);
    };
    const send = (message) => {
      session.sendJson(message).forEach(write);
      show({ type: 'sent', message });
    };
    const pings = setInterval(() => {
      if (socket.bufferedAmount > 0)
        closed('timeout'); // nothing of the last ping has left: the hub does not read
      else if (session.state === 'ready') send(PING);
    }, PING_EVERY);

    const closed = (closing) => run(session.closed(closing));
    const run = (events) => {
      for (const event of events) {
        keyring.update((stored) => updateKeyring(stored, event)); // before anything more is sent
        if (event.type === 'transmit') write(event.data);
        else show(event);
        if (event.type === 'psk-needed') providePsk(event);
        else if (event.type === 'psk' || event.type === 'psk-suspect') unproved = undefined;
        else if (event.type === 'ready') {
          requests = createRequests(event.sessionId, send, (said) => show({ type: 'unasked', said }));
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
        const onProgress = (progress) => show({ progress });
        if (unproved?.nodeId !== nodeId)
          unproved = { nodeId, psk: await derive(password, salt, { onProgress }) };
        run(session.providePsk(unproved.psk));
      } catch (error) {
        policy.goodbye();
        closed();
        ask(error); // such as: no memory
      }
    };
    hangUp = () => closed(); // without a code: it was not the hub that closed
    socket.onmessage = ({ data }) => {
      const message = typeof data === 'string' ? data : new Uint8Array(data);
      show({ type: 'received', data: message });
      run(session.receive(message));
    };
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
