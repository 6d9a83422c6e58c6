/** Plays a client to a hub. */
import { WebSocket } from 'ws';
import { derivePsk, nodeCrypto } from '../protocol.ts';
import { Failure, type Verdict } from '../verdict.ts';
import { JudgeClient } from './client.ts';
import { CLIENT_SCENES } from './client-scenes.ts';
import { Connection } from './connection.ts';
import { chooseScenes, type LiveOptions, playScenes } from './play.ts';

export interface ConnectOptions extends LiveOptions {
  /** With its authorization. */
  url: string;
}

/** @throws CannotRun before any connection if there is no scene of one of the names asked for */
export async function connectTo(options: ConnectOptions): Promise<Verdict[]> {
  const { url, password, patience } = options;
  const scenes = chooseScenes(CLIENT_SCENES, options);
  const client = new JudgeClient((nodeId) => derivePsk({ crypto: nodeCrypto, password, nodeId }));
  const connect = (): Promise<Connection> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { handshakeTimeout: patience.message, rejectUnauthorized: false });
      const connection = new Connection(socket, patience);
      socket.once('open', () => resolve(connection));
      socket.once('error', ({ message }) => {
        const got = `${message}: is the address right?`;
        reject(new Failure({ where: 'connection', expected: 'the hub accepts it', got }));
      });
    });
  return playScenes(scenes, client, connect, options);
}
