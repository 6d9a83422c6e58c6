/**
 * `hub-protocol-client/https`: a client for Node.js that polls a hub over HTTPS, where nothing but HTTPS gets through.
 * docs/reference/https.md has the requests and the reasons for their order.
 */
import http from 'node:http';
import https from 'node:https';
import { authorizedUrl } from 'hub-protocol';
import { costOf } from './account.ts';
import { addressOf } from './address.ts';
import { budgetOf } from './budget.ts';
import { causeOfOpening, causeOfSilence, type Finding, openingTimeout, readRetryAfter } from './causes.ts';
import type { Client } from './client.ts';
import { clientOnNode } from './client-on-node.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import type { NodeOptions } from './options.ts';
import type { Connection, Transport } from './platform.ts';
import { readNodeOptions } from './read-options.ts';
import { routeTo } from './sockets.ts';
import { lengthOutsideStrings } from './values.ts';

export type { Client } from './client.ts';
export { KeyringFile } from './keyring-file.ts';
export type * from './options.ts';

/** The pause after a request that returned messages, in milliseconds. It doubles up to the time between polls. */
const SHORTEST_PAUSE = 50;
/** How long a request may take unless the options say how long to wait for a hub, in milliseconds. */
const REQUEST_TIMEOUT = 15_000;
/** The most messages in a response: a hub keeps no more. */
const MAX_MESSAGES = 256;
/** The most bytes of a response outside of strings: three for each message, and room for spaces. */
const MAX_OUTSIDE_STRINGS = 16 * MAX_MESSAGES;

/**
 * Connects to the hub of an identity, polls it, and stays connected until `end` is called.
 * @param options - the identity, where to keep the keyring, and what may differ from the defaults
 * @returns the client. It connects once the code that called this has ended, so listeners that you add at once hear everything
 * @throws LocalError if the identity has no HTTPS, or the hub must not be used; otherwise as `connect` over WebSocket
 * @example
 * import { parseIdentity } from 'hub-protocol';
 * import { connect } from 'hub-protocol-client/https';
 *
 * const identity = parseIdentity({
 *   access_key: 'kiosk-7',
 *   password: 'correct horse',
 *   protocols: { https: true },
 *   data_plane_endpoints: { https: 'https://hub.example' },
 * });
 * const client = connect({ identity, keyring: 'kiosk-7.https.keyring.json' });
 * client.on('connect', ({ nodeId }) => console.log('connected to', nodeId));
 * client.on('ask', ({ advice }) => console.error(advice)); // only a person can help
 * client.on('end', () => console.log('ended')); // ended
 * client.end(); // when the program ends
 */
export function connect(options: NodeOptions): Client {
  const given = readNodeOptions(options);
  const budget = budgetOf(given);
  const { identity, allowPlaintext, userAgent = 'hub-protocol-client', pingEvery = 1000, policy } = given;
  const { url, tls } = addressOf(identity, 'https', { allowPlaintext });
  // The hub reads the same field as in the URL of a WebSocket.
  const { searchParams } = new URL(authorizedUrl('wss://hub', userAgent, identity.accessKey));
  const request = tls ? https.request : http.request;
  const longest =
    policy?.deadlines?.['awaiting-hello'] === undefined ? REQUEST_TIMEOUT : openingTimeout(policy.deadlines);
  const { options: ofSocket, agent: special, headers: ofAll, place } = routeTo(url, given, longest);
  const agent = special ?? new (tls ? https : http).Agent({ keepAlive: true });
  // The hub distinguishes connections only by the access key, so one begins when the last request of the previous one is
  // done.
  let earlier: Promise<void> = Promise.resolve();

  /** This URL is a secret: it is not logged, and redirects are not followed. */
  function urlOf(path: string): URL {
    const address = new URL(url);
    address.pathname += address.pathname.endsWith('/') ? path : `/${path}`;
    address.searchParams.set('authorization', searchParams.get('authorization')!);
    return address;
  }

  /**
   * Makes a request. Rejects if no response comes, or one that is longer than `maxLength` bytes.
   * @param arriving - is told what the response takes
   */
  function call(
    method: 'GET' | 'POST',
    path: string,
    fields: Record<string, string> = {},
    maxLength = budget.response,
    arriving: (bytes: number) => void = () => {},
  ): Promise<Answer> {
    const body = new URLSearchParams(fields).toString();
    const headers = {
      ...ofAll,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': body.length,
    };
    const signal = AbortSignal.timeout(longest);
    let giveUp = (): void => {};
    const answer = new Promise<Answer>((resolve, reject) => {
      let hasResponse = false;
      const sent = request(urlOf(path), { ...ofSocket, method, agent, headers }, (response) => {
        hasResponse = true;
        const body = new GrowingBuffer(maxLength);
        let cost = 0; // a server may send each byte by itself
        response.on('data', (part: Buffer) => {
          cost += costOf(part.length);
          if (cost > maxLength || !body.add(part)) response.destroy(new Refusal({ cause: 'not-a-hub' }));
          arriving(body.room);
        });
        response.on('error', reject);
        response.on('end', () =>
          resolve(read(response, Buffer.from(body.bytes.buffer, 0, body.bytes.length))),
        );
      });
      // Node.js hears no error of a socket while the agent takes it back, and would end the process.
      sent.on('socket', (socket) => socket.off('error', ignore).on('error', ignore));
      sent.on('error', (error) =>
        reject(new Refusal(causeOfOpening(error, sent.socket?.connecting === false))),
      );
      // Not as an option: Node.js loses a request, with its signal, whose response comes before all of the request was written.
      giveUp = () => {
        reject(new Refusal(causeOfSilence(sent.socket?.connecting === false)));
        sent.destroy();
      };
      // After 101, which nobody has asked for, Node.js ends the socket without a response and without an error.
      sent.on('close', () => hasResponse || reject(new Refusal({ cause: 'not-a-hub' })));
      signal.addEventListener('abort', giveUp);
      sent.end(body);
    });
    return answer.finally(() => signal.removeEventListener('abort', giveUp)); // it would keep the response as long as the signal
  }

  function open(connection: Connection): Transport {
    const outgoing: (string | Uint8Array)[] = [];
    let unsent = 0; // in bytes
    let isOpen = true;
    let wake = (): void => {};
    /** Whether this was a hub until now. */
    let hasAnswered = false;

    /** One request at a time: the hub gets messages in order, and texts before the bytes that follow them. */
    async function carry(): Promise<void> {
      // A hub that still knows this client would not make an offer, and would send messages kept for the previous
      // connection.
      await call('POST', 'disconnect');
      check(await call('POST', 'connect'));
      let pause = SHORTEST_PAUSE;
      for (;;) {
        for (const data of outgoing.splice(0)) {
          check(await call('POST', 'send_message', formOf(data)));
          unsent -= costOf(data.length);
          pause = SHORTEST_PAUSE;
        }
        if (!isOpen) break;
        const messages = await poll();
        hasAnswered = true;
        if (messages.length > 0) pause = SHORTEST_PAUSE;
        for (const data of messages) {
          await new Promise(setImmediate); // one message, then whatever else waits in the event loop
          if (!isOpen) break;
          connection.received(data);
        }
        connection.arriving(0);
        if (!isOpen || outgoing.length > 0) continue;
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pause);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        pause = Math.min(2 * pause, pingEvery);
      }
      await call('POST', 'disconnect');
    }

    /** The hub's messages for the client: texts in the handshake, and bytes afterwards. */
    async function poll(): Promise<(string | Uint8Array)[]> {
      if (!connection.isReady()) return stringsOf(check(await call('GET', 'get_messages')).messages);
      const answer = check(
        await call('GET', 'get_binary_messages', {}, budget.responseWhenReady, (bytes) =>
          connection.arriving(bytes),
        ),
      );
      return stringsOf(answer.b64_messages).map((text) => Buffer.from(text, 'base64'));
    }

    earlier = earlier.then(carry).catch((error: unknown) => {
      if (!(error instanceof Refusal) || (hasAnswered && 'cause' in error.closing)) connection.closed();
      else connection.closed({ ...error.closing, retryAfter: readRetryAfter(error.retryAfter) });
    });
    if (given.socket?.agent === undefined) earlier = earlier.then(() => agent.destroy()); // the sockets that are kept for the next request
    return {
      write(data) {
        if (!isOpen) return;
        outgoing.push(data);
        unsent += costOf(data.length);
        wake();
      },
      unsent: () => unsent,
      close() {
        isOpen = false;
        wake();
      },
    };
  }

  return clientOnNode(given, { open, place });
}

/** One function, so that a socket with many requests has it once. */
const ignore = (): void => {};

/** The status of a response, and the members that a hub's JSON object can have. */
interface Answer {
  readonly status: number;
  readonly retryAfter?: string | undefined;
  /** Whether a server in front of the hub wants a login: hubs ask for none. */
  readonly wantsLogin: boolean;
  readonly error?: unknown;
  readonly messages?: unknown;
  readonly b64_messages?: unknown;
}

/** The hub refused a request, or none came to it. */
class Refusal extends Error {
  readonly closing: { code: number } | { status: number; platformCode: string } | Finding;
  readonly retryAfter: string | undefined;

  constructor(closing: Refusal['closing'], retryAfter?: string) {
    super('the hub refused a request');
    this.closing = closing;
    this.retryAfter = retryAfter;
  }
}

function read({ statusCode: status, headers }: http.IncomingMessage, body: Buffer): Answer {
  let members: unknown;
  try {
    if (lengthOutsideStrings(body) <= MAX_OUTSIDE_STRINGS) members = JSON.parse(body.toString());
  } catch {
    // A proxy answered with a page. The status says what happened.
  }
  const { error, messages, b64_messages } = (members ?? {}) as Partial<Answer>;
  const wantsLogin = headers['www-authenticate'] !== undefined;
  return { status: status!, retryAfter: headers['retry-after'], wantsLogin, error, messages, b64_messages };
}

/**
 * Throws if a response shows that the connection has ended. A hub that knows no connection of this client, with the status 409
 * or a status of success, has ended it: on a WebSocket that is a close with the code 1000.
 */
function check(answer: Answer): Answer {
  const { status, retryAfter, wantsLogin, error } = answer;
  if (status === 409 || (status === 200 && error !== undefined)) throw new Refusal({ code: 1000 });
  if (status !== 200) {
    const platformCode = `HTTP_${status}${wantsLogin ? '_LOGIN' : ''}`;
    throw new Refusal({ status, platformCode }, retryAfter);
  }
  return answer;
}

function stringsOf(list: unknown): string[] {
  const isOfHub =
    Array.isArray(list) && list.length <= MAX_MESSAGES && list.every((item) => typeof item === 'string');
  if (!isOfHub) throw new Refusal({ cause: 'not-a-hub' });
  return list as string[];
}

function formOf(data: string | Uint8Array): Record<string, string> {
  if (typeof data === 'string') return { message: data };
  return { message: Buffer.from(data).toString('base64'), binary: '1' };
}
