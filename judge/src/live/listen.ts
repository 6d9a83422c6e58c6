/** Plays a hub to the clients that connect. */
import { WebSocketServer } from 'ws';
import { CannotRun } from '../adapter.ts';
import { derivePsk, nodeCrypto } from '../protocol.ts';
import { Failure, type Verdict } from '../verdict.ts';
import { Connection } from './connection.ts';
import { JudgeHub } from './hub.ts';
import { HUB_SCENES } from './hub-scenes.ts';
import { chooseScenes, type LiveOptions, playScenes } from './play.ts';

export interface ListenOptions extends LiveOptions {
  port: number;
  nodeId: string;
  accessKey: string;
  /** Called once clients may connect. */
  onListening: (url: string) => void;
}

/** @throws CannotRun before any connection: an unknown scene, or a port that cannot be opened */
export async function listen(options: ListenOptions): Promise<Verdict[]> {
  const { nodeId, password, patience } = options;
  const scenes = chooseScenes(HUB_SCENES, options);
  const hub = new JudgeHub(nodeId, derivePsk({ crypto: nodeCrypto, password, nodeId }));
  const waiting: { connection: Connection; url: string }[] = [];
  let wake = (): void => {};
  const server = await openServer(options.port);
  server.on('connection', (socket, { url = '' }) => {
    waiting.push({ connection: new Connection(socket, patience), url });
    wake();
  });
  const { port } = server.address() as { port: number };
  options.onListening(`ws://127.0.0.1:${port}/`);

  let isGone = false; // a client that misses one scene is not waited for again
  const connect = async (): Promise<Connection> => {
    while (waiting[0]?.connection.isClosed) waiting.shift();
    if (waiting.length === 0 && !isGone) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience.long);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const next = waiting.shift();
    if (next === undefined) {
      isGone = true;
      const got = `none within ${patience.long / 1000} s`;
      throw new Failure({ where: 'connection', expected: 'one for each scene', got });
    }
    checkAuthorization(next.url, options.accessKey, next.connection);
    return next.connection;
  };
  try {
    return await playScenes(scenes, hub, connect, options);
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
}

async function openServer(port: number): Promise<WebSocketServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve).on('error', (error) => {
      reject(new CannotRun(`cannot listen on port ${port}: ${error.message}`));
    });
  });
  return server;
}

function checkAuthorization(url: string, accessKey: string, connection: Connection): void {
  const { got, cause } = readAuthorization(url);
  if (got === accessKey && cause === undefined) return;
  connection.close(1008);
  if (got !== undefined && got !== accessKey) {
    const keys = { expected: JSON.stringify(accessKey), got: JSON.stringify(got) };
    throw new Failure({ where: 'access key', ...keys }, [
      cause === undefined ? OTHER_KEY : `authorization: ${cause}`,
    ]);
  }
  throw new Failure(
    {
      where: 'the URL',
      expected: '?authorization= with the percent-encoded base64 of <user agent>:<access key>',
      got:
        got === undefined ? `${JSON.stringify(url)}, which holds none` : `access key ${JSON.stringify(got)}`,
    },
    cause === undefined ? [] : [`authorization: ${cause}`],
  );
}

const OTHER_KEY =
  'access key: the client has another one than the judge, which takes the one of --access-key; give both the same';

/** The access key in the authorization of a request, and what is wrong with its form. */
function readAuthorization(url: string): { got?: string; cause?: string } {
  const authorization = new URLSearchParams(url.replace(/^[^?]*/, '')).get('authorization');
  if (authorization === null) return {};
  const bytes = Buffer.from(authorization.replace(/ /g, '+'), 'base64');
  const decoded = bytes.toString();
  const colon = decoded.indexOf(':');
  const right = bytes.toString('base64');
  const cause =
    authorization === right
      ? undefined
      : authorization.replace(/ /g, '+') === right
        ? 'its + is not percent-encoded, and means a space then'
        : authorization === right.replace(/=+$/, '')
          ? 'its padding is missing; base64 ends with = here'
          : /[-_]/.test(authorization)
            ? 'it is base64url; it is base64, with + and /'
            : 'it is not base64';
  return { ...(colon >= 0 && { got: decoded.slice(colon + 1) }), ...(cause && { cause }) };
}
