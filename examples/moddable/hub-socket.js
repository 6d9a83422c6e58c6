/** Opens and closes the WebSocket to the hub. */

import Resource from 'Resource';
import WebSocket from 'WebSocket';

/** @param url - with the authorization in its query: log it nowhere */
export function openSocket(url) {
  const options = { url };
  if (Resource.exists('hub-ca.der')) {
    const { wss } = device.network; // a CA of your own: see docs/reference/devices.md
    const secure = { certificate: new Resource('hub-ca.der') };
    options.wss = { ...wss, socket: { ...wss.socket, secure } };
  }
  return new WebSocket(options);
}

let abandoned; // the socket that was given up while it was connecting

export function isConnecting() {
  return abandoned !== undefined;
}

/** A socket that is still connecting cannot be closed. It is closed when it is open, and until then nothing is dialled. */
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
