/** Connects to a hub and waits for its first messages: HELLO and HANDSHAKE. Sends only the authorization. */

import { type Envelope, MAX_ENVELOPE, parseEnvelope, RemoteError } from 'hub-protocol-judge/internals';
import { WebSocket } from 'ws';

export interface GreetingOptions {
  /** With its authorization: a secret, as are the messages of the socket's errors. */
  readonly url: string;
  /** A certificate authority, as PEM. */
  readonly ca: string | undefined;
  /** In milliseconds, until the offer. */
  readonly timeout: number;
}

/** An envelope, and its text as received. */
export interface Received extends Envelope {
  readonly text: string;
}

/** A fault before the hub had made its offer. */
export interface GreetingFault {
  readonly code: string;
  readonly message: string;
}

export interface Greeting {
  hello: Received | undefined;
  offer: Received | undefined;
  fault: GreetingFault | undefined;
}

/** How long the hub may take to close its side, in milliseconds. */
const PATIENCE = 1000;

export function receiveGreeting({ url, ca, timeout }: GreetingOptions): Promise<Greeting> {
  const greeting: Greeting = { hello: undefined, offer: undefined, fault: undefined };
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { ca, handshakeTimeout: timeout, maxPayload: MAX_ENVELOPE });
    const end = (fault: GreetingFault | undefined): void => {
      clearTimeout(timer);
      greeting.fault ??= fault;
      socket.close(1000);
      setTimeout(() => socket.terminate(), PATIENCE).unref(); // some hubs never close their side
      socket.removeAllListeners();
      socket.on('error', () => {}); // errors of closing, which do not matter any more
      resolve(greeting);
    };
    const timer = setTimeout(() => end(lateFault(greeting, timeout)), timeout);
    socket.on('unexpected-response', (_, response) => {
      response.resume();
      end(statusFault(response.statusCode ?? 0));
      socket.terminate();
    });
    socket.on('error', (error) => end(connectionFault((error as NodeJS.ErrnoException).code)));
    socket.on('close', (code) => end(closeFault(code, greeting)));
    socket.on('message', (data, isBinary) => {
      try {
        if (take(isBinary ? undefined : data.toString(), greeting)) end(undefined);
      } catch (error) {
        if (error instanceof RemoteError) end({ code: error.code, message: error.message });
        else reject(error);
      }
    });
  });
}

/** Takes a message. Returns whether the greeting is complete. */
function take(text: string | undefined, greeting: Greeting): boolean {
  if (text === undefined) {
    throw new RemoteError('unexpected-message', 'the hub sent a binary message before a handshake');
  }
  const received = { ...parseEnvelope(text), text };
  if (received.type === 'hello') greeting.hello = received;
  else if (received.type === 'shake') greeting.offer = received;
  return greeting.offer !== undefined;
}

function statusFault(status: number): GreetingFault {
  return status === 401 || status === 403
    ? {
        code: 'access-refused',
        message: `the hub answered with HTTP ${status}: it does not accept the access key`,
      }
    : {
        code: 'unavailable',
        message: `the server answered with HTTP ${status} instead of a WebSocket: check the port and the path`,
      };
}

const CONNECTION_FAULTS: { readonly [code: string]: string } = {
  ECONNREFUSED: 'nothing listens there: check the address and the port, and whether the hub runs',
  ENOTFOUND: 'there is no such host: check its name',
  EAI_AGAIN: 'the name of the host cannot be resolved at the moment: check the network',
  EHOSTUNREACH: 'the host cannot be reached: check the network',
  ETIMEDOUT: 'the host does not answer: check the address, and the firewall',
  ECONNRESET: 'the connection was cut: is it a port with TLS, and ws: instead of wss:?',
  EPROTO: 'the server does not speak TLS there: check the port, or whether the hub has no TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS there: check the port',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is for another host: use the name that it is for',
  CERT_HAS_EXPIRED: 'the certificate has expired: renew it, or check the clock',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed: pass it with --ca',
  SELF_SIGNED_CERT_IN_CHAIN:
    'the certificate comes from an authority that is not known here: pass that with --ca',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'the certificate comes from an authority that is not known here: pass that with --ca',
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'the hub sent a message that is longer than an envelope may be',
};

/** The message of a socket's error may contain the URL, so only its code is shown. */
function connectionFault(code = 'no connection'): GreetingFault {
  const message = CONNECTION_FAULTS[code] ?? `the connection failed (${code}): check the address`;
  return { code: 'connection', message };
}

function closeFault(code: number, { hello }: Greeting): GreetingFault {
  const when = hello === undefined ? 'before it said anything' : 'after its HELLO';
  const isRefusal = code === 1000 || code === 1005 || code === 1008;
  return isRefusal
    ? {
        code: 'access-refused',
        message: `the hub closed the connection ${when}, with ${code}: it does not know the access key, or has not admitted it yet`,
      }
    : { code: 'dropped', message: `the connection was lost ${when}, with ${code}: try again` };
}

function lateFault({ hello }: Greeting, timeout: number): GreetingFault {
  const seconds = `within ${timeout / 1000} s`;
  return hello === undefined
    ? {
        code: 'timeout',
        message: `no HELLO ${seconds}: is this a hub? Some hubs stay silent if they find the password weak`,
      }
    : {
        code: 'timeout',
        message: `no HANDSHAKE ${seconds} after the HELLO: the hub does not speak protocol 3`,
      };
}
