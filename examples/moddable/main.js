/**
 * A client on a microcontroller with Moddable. The device is provisioned with two preferences of the domain `hub`:
 * `identity`, as it was issued, and `keyring`, from serializeKeyring(). The keyring contains the hub's PSK (storePsk, with
 * `isProvisioned: true`), since the device lacks the 64 MiB to derive it.
 */

import WebSocket from 'WebSocket';
import {
  authorizedUrl,
  ClientSession,
  deviceCrypto,
  keyringOptions,
  parseIdentity,
  parseKeyring,
  selectEndpoint,
  serializeKeyring,
  updateKeyring,
} from 'hub-protocol';
import Preference from 'preference';
import RNG from 'rng';
import Timer from 'timer';

const DEADLINE = 30_000; // milliseconds until ready
const PAUSE = { now: 1000, later: 60_000 };

const identity = parseIdentity(Preference.get('hub', 'identity'));
let keyring = parseKeyring(Preference.get('hub', 'keyring'), identity.accessKey);

function connect() {
  const { url } = selectEndpoint(identity, { supported: ['wss'] });
  const session = new ClientSession({
    crypto: deviceCrypto,
    siteId: identity.siteId,
    randomBytes: (length) => new Uint8Array(RNG.get(length)),
    maxMessage: 16 * 1024, // longer messages are dropped, chunk by chunk
    inPlace: true, // nothing else uses the buffers that the socket delivers
    ...keyringOptions(keyring),
    paced: keyring.staticKey.publicKey !== undefined, // so that nothing else waits for more than one X25519
  });
  const socket = new WebSocket(authorizedUrl(url, 'moddable', identity.accessKey));
  socket.binaryType = 'arraybuffer';

  const handle = (events) => {
    for (const event of events) {
      const updated = updateKeyring(keyring, event);
      if (updated !== keyring) Preference.set('hub', 'keyring', serializeKeyring(updated)); // before message 3 is sent
      keyring = updated;
      switch (event.type) {
        case 'transmit':
          socket.send(event.data);
          break;
        case 'paused':
          Timer.set(() => handle(session.resume()), 0);
          break;
        case 'ready':
          Timer.clear(deadline);
          for (const message of session.sendJson({ say: 'hello' })) socket.send(message);
          break;
        case 'message':
          trace(`${event.kind} message\n`);
          break;
        case 'dropped':
          trace(`a message of ${event.bytes} bytes was dropped\n`);
          break;
        case 'psk-needed':
          trace('no PSK for this hub: provision the device again\n');
          giveUpForGood();
          break;
        case 'psk-suspect':
          trace('the PSK of this hub is wrong: provision the device again\n');
          break;
        case 'close':
          trace(`${event.error.code}\n`);
          giveUp();
          break;
        case 'ended':
          Timer.clear(deadline);
          trace(`${event.reason}: ${event.error.code}\n`);
          if (event.retry !== 'never') Timer.set(connect, PAUSE[event.retry]);
          break;
      }
    }
  };
  /** Closes this connection. Another one may follow. */
  const giveUp = (closing) => {
    socket.close();
    handle(session.closed(closing));
  };
  /** Closes this connection, and dials no more: another attempt would end in the same way. */
  const giveUpForGood = () => {
    Timer.clear(deadline);
    socket.onclose = socket.onerror = undefined;
    socket.close();
    session.closed();
  };

  const deadline = Timer.set(() => giveUp('timeout'), DEADLINE);
  socket.onmessage = ({ data }) =>
    handle(session.receive(typeof data === 'string' ? data : new Uint8Array(data)));
  socket.onclose = ({ code }) => handle(session.closed(code));
  socket.onerror = () => handle(session.closed());
}

connect();
