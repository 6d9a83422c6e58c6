/** Values that no caller should pass, and targets of HTTP requests that a stranger may choose. */
import { connect as connectTcp } from 'node:net';

/** A Proxy whose every use throws a TypeError. */
export function revoked<T extends object>(target: T): T {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** Bytes whose memory was transferred to another thread. */
export function detached(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  structuredClone(bytes, { transfer: [bytes.buffer] });
  return bytes;
}

function throws(): never {
  throw new TypeError('not to be read');
}

/** A revoked proxy, and one whose every trap throws. */
export const UNREADABLE: readonly object[] = [
  revoked({}),
  new Proxy({}, { get: throws, has: throws, ownKeys: throws, getOwnPropertyDescriptor: throws }),
];

/** The fields of an object, and one that throws when it is read. */
export function withThrowing(field: string, fields: object = {}): object {
  return Object.defineProperty({ ...fields }, field, { get: throws, enumerable: true });
}

/** For some of these `new URL` throws. */
export const ODD_TARGETS: readonly string[] = [
  '//',
  '///',
  '//[',
  '/?authorization=%',
  '/?authorization',
  '*',
  'http://[',
  '/?a=1?authorization=//',
];

/** Sends a request as it is, and resolves with the first line of the response. */
export function requested(port: string, request: string): Promise<string> {
  return new Promise((resolve) => {
    let response = '';
    const socket = connectTcp(Number(port), '127.0.0.1', () => socket.write(request));
    socket.on('data', (data) => {
      response += data;
      if (response.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve(response.split('\r\n')[0]!));
  });
}
