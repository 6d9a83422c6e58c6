// The peers, from the packages of this folder: all had a release within the last twelve months (November 2026), and none runs
// anything when it is installed.
import { Server } from 'socket.io'; // MIT
import { io } from 'socket.io-client'; // MIT

export { hashRawSync } from '@node-rs/argon2'; // MIT
export { argon2id as wasmArgon2id } from 'hash-wasm'; // MIT
export { default as libsodium } from 'libsodium-wrappers'; // ISC, WebAssembly
export { default as NoiseHandshake } from 'noise-handshake'; // Apache 2.0
export { generateKeyPair } from 'noise-handshake/dh.js';
export { default as sodiumNative } from 'sodium-native'; // MIT
export { defaultCrypto } from './node_modules/@chainsafe/libp2p-noise/dist/src/crypto/index.js';
// Apache 2.0 or MIT. Its entry exports only the whole of libp2p’s connections.
export { wrapCrypto } from './node_modules/@chainsafe/libp2p-noise/dist/src/crypto.js';
export { XXHandshakeState } from './node_modules/@chainsafe/libp2p-noise/dist/src/protocol.js';

export function serveSocketIo(server) {
  new Server(server).on('connection', (socket) => socket.on('ask', (text, answer) => answer(text)));
}

export async function dialSocketIo(url, ca) {
  const socket = io(url, {
    ca,
    transports: ['websocket'],
    forceNew: true,
    reconnection: false,
    autoConnect: false,
  });
  const reconnect = () => new Promise((resolve) => socket.connect().once('connect', resolve));
  await reconnect();
  return Object.assign(socket, { reconnect });
}
