/** Targets of HTTP requests that a stranger may choose, such as those for which `new URL` throws, and a way to send them. */
import { connect as connectTcp } from 'node:net';

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
