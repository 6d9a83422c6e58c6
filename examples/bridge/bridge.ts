/** A bridge between devices on a serial line and their hub. README.md describes the roles and the messages. */
import { authorizedUrl, type Closing, selectEndpoint } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { ConnectionPolicy, type PolicyDecision, type SessionEvent } from 'hub-protocol/parts';
import { type Client, keepAlive, type NodeOptions } from 'hub-protocol-client';
import WebSocket from 'ws';
import type { SerialLine } from './serial-line.ts';

export interface BridgeOptions
  extends Pick<NodeOptions, 'identity' | 'socket' | 'allowPlaintext' | 'pingEvery' | 'policy'> {
  line: SerialLine;
  /** The device's on the line, 1 to 127. */
  address: number;
  /** Called with an error code when a person must act. `resume` connects again. */
  ask: (code: string) => void;
  /** Called with events of the device, decisions of the policy, and messages of the device that are ignored, for a log. */
  observe?: (what: SessionEvent | PolicyDecision | { type: 'ignored'; message: string }) => void;
}

/** The end of a connection whose session was lost when the device restarted. */
const LOST = { type: 'ended', retry: 'now', reason: 'dropped', error: { code: 'dropped' } } as SessionEvent;
const MAX_PAYLOAD = 65_552; // bytes: the longest transport message

/** Connects one device of a line. */
export function startBridge(options: BridgeOptions): Pick<Client, 'end' | 'resume'> {
  const { line, address, identity, observe, allowPlaintext, pingEvery } = options;
  const { url } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
  const authorized = authorizedUrl(url, 'bridge', identity.accessKey, { allowPlaintext }); // not to be logged
  const policy = new ConnectionPolicy({ randomBytes, ...options.policy });
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined; // for the deadline, then for the pause

  const device = line.add(address, {
    begun() {
      socket?.terminate();
      socket = undefined;
      if (policy.state === 'idle') connect();
      else if (policy.state === 'connecting' || policy.state === 'ready') take(LOST);
    },
    received(message) {
      const event = message[0] === 'e' ? eventIn(message.slice(1)) : undefined;
      if (event !== undefined) happened(event);
      else if (message[0] === 'b') send(Buffer.from(message.slice(1), 'latin1'));
      else if (message[0] === 't') send(textOf(message.slice(1)));
      else observe?.({ type: 'ignored', message: message.slice(0, 80) });
    },
    drained: () => socket?.resume(),
  });

  const send = (data: Buffer | string): void => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(data);
  };
  const hangUp = (own: WebSocket | undefined, closing: Closing): void => {
    if (own === undefined || own !== socket) return;
    socket = undefined;
    own.terminate();
    device.send(`d${bytesOf(JSON.stringify(closing))}`); // the device answers with an `ended` event
  };
  const waitFor = (state: string): void => {
    clearTimeout(timer);
    const wait = policy.deadline(state, performance.now());
    if (wait === undefined) return;
    const quiet = state === 'ready' ? 60_000 : 0; // an old connection ends when nothing happens
    timer = setTimeout(() => hangUp(socket, 'timeout'), Math.max(wait, quiet));
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
    const own = new WebSocket(authorized, { ca: options.socket?.ca, maxPayload: MAX_PAYLOAD });
    socket = own;
    device.send(`n${bytesOf(JSON.stringify(dialOptions))}`);
    keepAlive(own, pingEvery);
    own.on('message', (data, isBinary) => {
      if (own !== socket) return;
      if (!device.send(`${isBinary ? 'b' : 't'}${(data as Buffer).toString('latin1')}`)) own.pause();
    });
    own.on('unexpected-response', (_, { statusCode }) => hangUp(own, { status: statusCode }));
    own.on('close', (code, reason) => hangUp(own, { code, reason: reason.toString() }));
    waitFor('awaiting-hello');
  }

  const happened = (event: SessionEvent & { state: string }): void => {
    if (event.type === 'close' || event.type === 'psk-needed' || event.type === 'ended') {
      socket?.resume(); // it answers the close
      socket?.close(1000); // the device ended the session, if the hub did not
    }
    if (event.type === 'psk-needed') policy.goodbye(); // a device has no memory to derive it
    if (event.type === 'ended') socket = undefined;
    waitFor(event.state);
    take(event);
    if (event.type === 'psk-needed') options.ask('psk-needed');
  };

  return {
    end() {
      policy.goodbye();
      clearTimeout(timer);
      hangUp(socket, {});
    },
    resume() {
      policy.resume();
      connect();
    },
  };
}

const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');
const textOf = (bytes: string): string => Buffer.from(bytes, 'latin1').toString();

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The event in a message, with only its names, since they reach logs. `undefined` if there is none. */
export function eventIn(text: string): (SessionEvent & { state: string }) | undefined {
  const said = parsed(text) as { [name: string]: unknown } | null | undefined;
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
