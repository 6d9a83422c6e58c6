/** Plays a client to a hub. */
import { WebSocket } from 'ws';
import { Failure, type Verdict } from '../verdict.ts';
import { JudgeClient } from './client.ts';
import { CLIENT_SCENES } from './client-scenes.ts';
import { type Connection, overWebSocket } from './connection.ts';
import { chooseScenes, type LiveOptions, playScenes } from './play.ts';

export interface ConnectOptions extends LiveOptions {
  /** The URL for an access key, with its authorization. */
  urlOf: (accessKey?: string) => string;
}

/** @throws CannotRun before any connection if one of the requested scenes does not exist */
export async function connectTo(options: ConnectOptions): Promise<Verdict[]> {
  const { urlOf, derivePsk, patience } = options;
  const scenes = chooseScenes(CLIENT_SCENES, options);
  const client = new JudgeClient(derivePsk);
  const connect = (accessKey?: string): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(urlOf(accessKey), {
        handshakeTimeout: patience.message,
        rejectUnauthorized: false,
      });
      const connection = overWebSocket(socket, patience);
      socket.once('open', () => resolve(connection));
      socket.once('error', ({ message }) => {
        if (accessKey !== undefined && /Unexpected server response: 40[13]/.test(message)) {
          connection.isClosed = true; // refused, as it must be
          resolve(connection);
          return;
        }
        const got = `${message}: is the address right?`;
        reject(new Failure({ where: 'connection', expected: 'the hub accepts it', got }));
      });
    });
  return playScenes(scenes, client, connect, options);
}
