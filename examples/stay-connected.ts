/**
 * A client that stays connected, whatever the transport: a session for each connection, the policy's decisions and
 * deadlines, the keyring, and requests. `client.ts` brings a WebSocket, `mqtt/client.ts` an MQTT broker.
 */
import {
  type Bytes,
  ClientSession,
  type Closing,
  ConnectionPolicy,
  type JsonObject,
  type SessionEvent,
  updateKeyring,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import type { Client, ClientOptions } from './client-options.ts';
import { deriveInWorker } from './derive-in-worker.ts';
import { Requests } from './requests.ts';

export interface Connection {
  readonly session: ClientSession;
  received(data: string | Uint8Array): void;
  closed(closing?: Closing): void;
  /** Carries out events, or what `session.start()` returned. */
  run(events: SessionEvent[]): void;
}

export interface Transport {
  /** Writes a message. If that fails, it calls `closed`: the nonce is spent. */
  write(data: string | Uint8Array): void;
  /** Is called when the session is ready. */
  ready?(): void;
  /** Closes. More calls do nothing. */
  close(code: number): void;
}

/** @param open - opens a transport. It calls nothing of the connection before it has returned. */
export function stayConnected(options: ClientOptions, open: (connection: Connection) => Transport): Client {
  const { identity, keyring, observe, trust, derive = deriveInWorker } = options;
  const { siteId, password } = identity;
  const policy = new ConnectionPolicy({ randomBytes, ...options.times });
  let requests: Requests | undefined; // of the connection that is ready
  let hangUp = (): void => {};
  /** Not stored: any server can name a node id. Kept in case the connection is lost before the hub has proved the PSK. */
  let unproved: { nodeId: string; psk: Uint8Array } | undefined;

  function connect(): void {
    const dialOptions = policy.begin(performance.now());
    if (dialOptions === undefined) return; // there is a connection, or the timer that called is an old one
    const session = new ClientSession({
      ...{ crypto, randomBytes, siteId, trust },
      keyring: keyring.load(),
      ...dialOptions,
    });
    let deadline: NodeJS.Timeout | undefined;
    const write = (data: string | Bytes): void => {
      observe?.({ type: 'transmit', data });
      transport.write(data);
    };
    const send = (envelope: JsonObject): void => session.sendJson(envelope).forEach(write);
    const closed = (closing?: Closing): void => run(session.closed(closing));
    const run = (events: SessionEvent[]): void => {
      for (const event of events) {
        keyring.update((stored) => updateKeyring(stored, event)); // before anything more is sent
        if (event.type === 'transmit') write(event.data);
        else observe?.(event);
        if (event.type === 'psk-needed') providePsk(event.nodeId, event.salt);
        else if (event.type === 'psk' || event.type === 'psk-suspect') unproved = undefined;
        else if (event.type === 'ready') {
          requests = new Requests(event.sessionId, send, options.handle);
          transport.ready?.();
        } else if (event.type === 'message' && event.kind === 'json') requests!.receive(event.text);
        else if (event.type === 'close') {
          transport.close(event.code);
          closed();
        } else if (event.type === 'ended') {
          transport.close(1000);
          requests?.closed();
          requests = undefined;
        }
        const decision = policy.take(event, performance.now());
        if (decision !== undefined) observe?.(decision);
        if (decision?.do === 'ask') options.ask(decision.error);
        if (decision?.do === 'dial') {
          const redial = setTimeout(connect, decision.after);
          hangUp = () => clearTimeout(redial);
        }
      }
      clearTimeout(deadline);
      const wait = policy.deadline(session.state, performance.now());
      if (wait !== undefined) deadline = setTimeout(() => closed('timeout'), wait);
    };
    const providePsk = async (nodeId: string, salt: Uint8Array): Promise<void> => {
      try {
        const psk = unproved?.nodeId === nodeId ? unproved.psk : await derive(password, salt);
        unproved = { nodeId, psk };
        run(session.providePsk(psk));
      } catch (error) {
        policy.goodbye();
        closed();
        options.ask(error as Error); // such as: no memory
      }
    };
    hangUp = closed; // without a code: it was not the hub that closed
    const received = (data: string | Uint8Array): void => {
      observe?.({ type: 'received', data });
      run(session.receive(data));
    };
    const transport = open({ session, received, closed, run });
    run([]); // sets the first deadline
  }

  connect();
  return {
    ask: (text) => requests?.ask(text) ?? Promise.reject(new Error('there is no connection that is ready')),
    goodbye() {
      policy.goodbye();
      hangUp();
    },
    resume() {
      policy.resume();
      connect();
    },
  };
}
