/** Opens and closes the WebSocket to the hub. */

import Resource from 'Resource';
import WebSocket from 'WebSocket';

/** @param url - with the authorization in its query: do not log it */
export function openSocket(url) {
  const options = { url };
  if (Resource.exists('hub-ca.der')) {
    const { wss } = device.network; // a CA of your own: see docs/reference/devices.md
    const secure = { certificate: new Resource('hub-ca.der') };
    options.wss = { ...wss, socket: { ...wss.socket, secure } };
  }
  return new WebSocket(options);
}

let abandoned; // a socket that was abandoned while it was connecting

export function isConnecting() {
  return abandoned !== undefined;
}

/** A socket that is still connecting cannot be closed. It is closed once it is open; until then do not dial. */
export function hangUp(socket) {
  socket.onmessage = socket.onclose = socket.onerror = undefined;
  if (socket.readyState !== 0) return socket.close();
  abandoned = socket;
  socket.onopen =
    socket.onclose =
    socket.onerror =
      () => {
        if (socket === abandoned) abandoned = undefined;
        socket.close();
      };
}
