/** Plays a hub to the clients that connect. */
import { WebSocketServer } from 'ws';
import { CannotRun } from '../adapter.ts';
import { show } from '../difference.ts';
import { Failure, type Verdict } from '../verdict.ts';
import { Arrivals } from './arrivals.ts';
import { type Connection, overWebSocket } from './connection.ts';
import { JudgeHub } from './hub.ts';
import { HUB_SCENES } from './hub-scenes.ts';
import { chooseScenes, type LiveOptions, playScenes } from './play.ts';
import { MaskReader } from './websocket-scenes.ts';

export interface ListenOptions extends LiveOptions {
  port: number;
  nodeId: string;
  accessKey: string;
  /** Called once clients may connect. */
  onListening: (url: string) => void;
}

/** @throws CannotRun before any connection: an unknown scene, or a port that cannot be opened */
export async function listen(options: ListenOptions): Promise<Verdict[]> {
  const { nodeId, derivePsk, patience } = options;
  const scenes = chooseScenes(HUB_SCENES, options);
  const arrivals = new Arrivals<{ connection: Connection; url: string }>(patience.long);
  const server = await openServer(options.port);
  server.on('connection', (socket, { url = '', socket: raw }) => {
    const connection = overWebSocket(socket, patience, true);
    const reader = new MaskReader();
    connection.masks = reader.masks;
    raw.on('data', (bytes: Buffer) => reader.push(bytes));
    arrivals.add({ connection, url });
  });
  const { port } = server.address() as { port: number };
  options.onListening(`ws://127.0.0.1:${port}/`);
  const hub = new JudgeHub(nodeId, derivePsk); // takes a second, while the first client connects
  server.on('headers', (headers) => {
    const at = headers.findIndex((header) => header.startsWith(ACCEPT));
    if (hub.spoilsAccept) headers[at] = `${ACCEPT} ${Buffer.alloc(20).toString('base64')}`;
  });

  const connect = async (_accessKey?: string, mayBeGone = false): Promise<Connection> => {
    const { connection, url } = await arrivals.next(mayBeGone ? PAUSES * patience.message : undefined);
    checkAuthorization(url, options.accessKey, connection);
    return connection;
  };
  try {
    return await playScenes(scenes, hub, connect, options);
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
}

/** The wait for a client that may have ended, in waits for a message. */
const PAUSES = 4;
const ACCEPT = 'Sec-WebSocket-Accept:';

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
  const { got, cause } = readAuthorization(url, accessKey);
  const isSwapped = cause === SWAPPED;
  if (got === accessKey && cause === undefined) return;
  connection.close(1008);
  if (got !== undefined && got !== accessKey && !isSwapped) {
    const keys = { expected: JSON.stringify(accessKey), got: JSON.stringify(got) };
    throw new Failure({ where: 'access key', ...keys }, [
      cause === undefined ? OTHER_KEY : `authorization: ${cause}`,
    ]);
  }
  throw new Failure(
    {
      where: 'the URL',
      expected: '?authorization= with the percent-encoded base64 of <user agent>:<access key>',
      got: got === undefined ? `${show(url)}, which holds none` : `access key ${JSON.stringify(got)}`,
    },
    cause === undefined ? [] : [`authorization: ${cause}`],
  );
}

const OTHER_KEY =
  'access key: the client and the judge have different ones; use the one that the judge prints, or pass --identity to the judge';

const SWAPPED = 'the access key comes first; the user agent does';
const NO_USER_AGENT = 'it has no user agent; it is the base64 of <user agent>:<access key>';

/** The access key in the authorization of a request, and the fault in its form. */
export function readAuthorization(url: string, accessKey: string): { got?: string; cause?: string } {
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
        : authorization === withoutPadding(right)
          ? 'its padding is missing; base64 ends with = here'
          : withoutPadding(authorization) === bytes.toString('base64url')
            ? 'it is base64url; it is base64, with + and /'
            : 'it is not base64; it is the base64 of <user agent>:<access key>';
  if (cause === undefined && decoded === accessKey) return { cause: NO_USER_AGENT };
  const isFirst = decoded.startsWith(`${accessKey}:`);
  if (cause === undefined && isFirst && decoded.slice(colon + 1) !== accessKey) return { cause: SWAPPED };
  return { ...(colon >= 0 && { got: decoded.slice(colon + 1) }), ...(cause && { cause }) };
}

/** A regular expression would take time that grows with the square of the padding. */
function withoutPadding(base64: string): string {
  let { length } = base64;
  while (base64[length - 1] === '=') length--;
  return base64.slice(0, length);
}
