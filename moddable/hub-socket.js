/** The WebSocket to the hub. There is one at a time. */

import Resource from 'Resource';
import WebSocket from 'WebSocket';

let socket;
let abandoned; // a socket that was closed while it was connecting
let next; // opens the next socket when the abandoned one has ended

/**
 * @param url - with the authorization in its query: do not log it
 * @param handlers - `onmessage`, `onclose` and `onerror` of the WebSocket
 */
export function open(url, handlers) {
  const options = { url };
  if (Resource.exists('hub-ca.der')) {
    const { wss } = device.network; // a CA of your own: see docs/reference/devices.md
    const secure = { certificate: new Resource('hub-ca.der') };
    options.wss = { ...wss, socket: { ...wss.socket, secure } };
  }
  next = () => {
    next = undefined;
    socket = new WebSocket(options);
    socket.binaryType = 'arraybuffer';
    Object.assign(socket, handlers);
  };
  if (abandoned === undefined) next();
}

export function write(data) {
  socket.send(data);
}

/** A socket that is still connecting cannot be closed. It is closed once it is open; until then no other is opened. */
export function close() {
  const closing = socket;
  socket = next = undefined;
  if (closing === undefined) return;
  closing.onmessage = closing.onclose = closing.onerror = undefined;
  if (closing.readyState !== 0) return closing.close();
  abandoned = closing;
  closing.onopen =
    closing.onclose =
    closing.onerror =
      () => {
        closing.close();
        if (closing !== abandoned) return;
        abandoned = undefined;
        next?.();
      };
}
