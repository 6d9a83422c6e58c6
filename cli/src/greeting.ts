/** Connects to a hub and waits for its first messages: HELLO and HANDSHAKE. Sends only the authorization. */

import { causeOf, causeOfStatus, type Place, placeOf, sentenceOfCause } from 'hub-protocol-client/causes';
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
  /** The code of the platform, such as `ECONNREFUSED`. */
  readonly platformCode?: string | undefined;
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
  const place = placeOf(url);
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
      end(statusFault(response.statusCode!, place));
      socket.terminate();
    });
    socket.on('error', (error) => end(connectionFault(error, place)));
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

function statusFault(status: number, place: Place): GreetingFault {
  const finding = causeOfStatus(status);
  const platformCode = `HTTP_${status}`;
  if (finding !== undefined) {
    return { code: finding.cause, platformCode, message: sentenceOfCause(finding, place) };
  }
  return status === 401 || status === 403
    ? {
        code: 'access-refused',
        platformCode,
        message: `the hub answered with HTTP ${status}: it does not accept the access key`,
      }
    : {
        code: 'unavailable',
        platformCode,
        message: `the server answered with HTTP ${status}: the hub accepts no connection at the moment, or does not run behind its proxy`,
      };
}

/** The message of a socket's error may contain the URL, so only its code is read. */
function connectionFault(error: Error, place: Place): GreetingFault {
  const finding = causeOf(error) ?? { cause: 'not-a-hub' };
  return {
    code: finding.cause,
    platformCode: finding.platformCode,
    message: sentenceOfCause(finding, place),
  };
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
