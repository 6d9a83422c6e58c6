/** A bridge between a device on a serial line and its hub. README.md describes the roles and the lines. */
import { createInterface } from 'node:readline';
import type { Duplex } from 'node:stream';
import { authorizedUrl, type Closing, selectEndpoint } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { ConnectionPolicy, type PolicyDecision, type SessionEvent } from 'hub-protocol/parts';
import { type Client, keepAlive, type NodeOptions } from 'hub-protocol-client';
import WebSocket from 'ws';

export interface BridgeOptions
  extends Pick<NodeOptions, 'identity' | 'ca' | 'allowPlaintext' | 'pingEvery' | 'policy'> {
  line: Duplex; // the serial one
  /** Called with an error code when a person must act. `resume` connects again. */
  ask: (code: string) => void;
  /** Called with events of the device, decisions of the policy, and ignored lines of the device, for a log. */
  observe?: (what: SessionEvent | PolicyDecision | { type: 'ignored'; line: string }) => void;
}

const BYTES = /^(?:[0-9a-f]{2})+$/;
/** The end of a connection whose session was lost when the device restarted. */
const LOST = { type: 'ended', retry: 'now', reason: 'dropped', error: { code: 'dropped' } } as SessionEvent;

export function startBridge(options: BridgeOptions): Pick<Client, 'end' | 'resume'> {
  const { line, identity, observe, ca, allowPlaintext, pingEvery } = options;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  const authorized = authorizedUrl(url, 'bridge', identity.accessKey, { allowPlaintext }); // not to be logged
  const policy = new ConnectionPolicy({ randomBytes, ...options.policy });
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined; // for the deadline, then for the pause

  const tell = (text: string): void => {
    if (!line.write(`${text}\n`)) socket?.pause();
  };
  const hangUp = (own: WebSocket | undefined, closing: Closing): void => {
    if (own === undefined || own !== socket) return;
    socket = undefined;
    own.terminate();
    tell(`disconnected ${JSON.stringify(closing)}`); // the device answers with an `ended` event
  };
  const waitFor = (state: string): void => {
    clearTimeout(timer);
    const wait = policy.deadline(state, performance.now());
    if (wait !== undefined) timer = setTimeout(() => hangUp(socket, 'timeout'), wait);
  };
  const take = (event: SessionEvent): void => {
    observe?.(event);
    const decision = policy.take(event, performance.now());
    if (decision === undefined) return;
    observe?.(decision);
    clearTimeout(timer);
    // A person is asked about a certificate too, but nobody waits for that person.
    if (decision.do !== 'rest' && decision.after !== undefined) timer = setTimeout(connect, decision.after);
    if (decision.do === 'ask') options.ask(decision.error.code);
  };

  function connect(): void {
    const dialOptions = policy.begin(performance.now());
    if (dialOptions === undefined) return;
    const own = new WebSocket(authorized, { ca, maxPayload: 256 * 1024 });
    socket = own;
    tell(`connecting ${JSON.stringify(dialOptions)}`);
    keepAlive(own, pingEvery);
    own.on('open', () => tell('connected'));
    own.on('message', (data, isBinary) => {
      if (own !== socket) return;
      const message = lineOf(data as Buffer, isBinary);
      if (message === undefined) hangUp(own, {});
      else tell(message);
    });
    own.on('unexpected-response', (_, { statusCode }) => hangUp(own, { status: statusCode }));
    own.on('close', (code, reason) => hangUp(own, { code, reason: reason.toString() }));
    waitFor('awaiting-hello');
  }

  createInterface({ input: line }).on('line', (text) => {
    const event = text.startsWith('event ') ? eventIn(text) : undefined;
    if (text === 'start') {
      socket?.terminate();
      socket = undefined;
      if (policy.state === 'idle') connect();
      else if (policy.state === 'connecting' || policy.state === 'ready') take(LOST);
    } else if (event !== undefined) {
      if (event.type === 'close' || event.type === 'psk-needed') socket?.close(1000);
      if (event.type === 'psk-needed') policy.goodbye(); // a device has no memory to derive it
      if (event.type === 'ended') {
        socket?.close(1000); // the device ended the session, if the hub did not
        socket = undefined;
      }
      waitFor(event.state);
      take(event);
      if (event.type === 'psk-needed') options.ask('psk-needed');
    } else if (BYTES.test(text) || text.startsWith('{')) {
      if (socket?.readyState === WebSocket.OPEN)
        socket.send(BYTES.test(text) ? Buffer.from(text, 'hex') : text);
    } else if (text !== '') observe?.({ type: 'ignored', line: text.slice(0, 80) }); // noise on the line
  });
  line.on('drain', () => socket?.resume());
  tell('hello'); // a device that is running answers `start`

  return {
    end() {
      policy.goodbye();
      hangUp(socket, {});
    },
    resume() {
      policy.resume();
      connect();
    },
  };
}

/**
 * The line for a message of the hub. `undefined` for text that is not a JSON object: it could be one of the bridge's own lines,
 * such as `connecting`.
 */
export function lineOf(data: Buffer, isBinary: boolean): string | undefined {
  if (isBinary) return data.toString('hex');
  const text = data.toString();
  const isObject = text.trimStart().startsWith('{') && parsed(text) !== undefined;
  return isObject ? text.replace(/[\r\n\t]/g, ' ').trim() : undefined; // these occur between tokens
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The event in a line, with only its names, since they reach logs. `undefined` if there is none. */
export function eventIn(line: string): (SessionEvent & { state: string }) | undefined {
  const said = parsed(line.slice('event '.length)) as { [name: string]: unknown } | null | undefined;
  const event: { [name: string]: unknown } = {};
  for (const name of ['state', 'type', 'retry', 'reason', 'pattern']) {
    if (isName(said?.[name])) event[name] = said![name];
  }
  const code = (said?.error as { code?: unknown } | null | undefined)?.code;
  if (isName(code)) event.error = { code };
  const isEvent = event.type !== undefined && (event.type !== 'ended' || event.error !== undefined);
  return isEvent ? (event as unknown as SessionEvent & { state: string }) : undefined;
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[\w-]+$/.test(value);
}
