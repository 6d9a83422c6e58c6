/** Live mode: the scenes played over WebSockets, one connection each. */
import { nodeCrypto } from '../../src/crypto/node.ts';
import { derivePsk } from '../../src/session/psk.ts';
import { CannotRun } from './adapter.ts';
import { Declined, Failed } from './failed.ts';
import type { Verdict } from './judge.ts';
import { CLIENT_SCENES, JudgeClient } from './live-client.ts';
import { HUB_SCENES, JudgeHub } from './live-hub.ts';
import { Line, type Patience } from './live-line.ts';

export interface LiveOptions {
  password: string;
  /** Only the scenes of these names. */
  only?: readonly string[] | undefined;
  patience: Patience;
  onProgress: (done: number, total: number, scene: string) => void;
}

type Ws = typeof import('ws');

/** The library of WebSockets is not among what this package needs, so it may not be there. */
async function loadWs(): Promise<Ws> {
  try {
    return await import('ws');
  } catch {
    throw new CannotRun('live mode needs the package ws: npm install ws');
  }
}

interface AnyScene<Judge> {
  readonly name: string;
  readonly comment: string;
  play(judge: Judge, line: Line): Promise<void>;
}

/** Plays every scene on a connection of its own. */
async function playAll<Judge>(
  all: readonly AnyScene<Judge>[],
  judge: Judge,
  connect: () => Promise<Line>,
  { only, onProgress }: LiveOptions,
): Promise<Verdict[]> {
  const unknown = only?.find((wanted) => !all.some(({ name }) => name === wanted));
  if (unknown !== undefined) {
    throw new CannotRun(`there is no scene ${unknown}: there are ${all.map(({ name }) => name).join(', ')}`);
  }
  const scenes = only === undefined ? all : all.filter(({ name }) => only.includes(name));
  const verdicts: Verdict[] = [];
  for (const { name, comment, play } of scenes) {
    onProgress(verdicts.length, scenes.length, name);
    const start = performance.now();
    const verdict = (result: Verdict['result'], failure?: Verdict['failure']): void => {
      const milliseconds = Math.round(performance.now() - start);
      verdicts.push({
        capability: 'live',
        name,
        comment: '',
        result,
        milliseconds,
        ...(failure && { failure }),
      });
    };
    let line: Line | undefined;
    try {
      line = await connect();
      await play(judge, line);
      verdict('passed');
    } catch (error) {
      if (error instanceof Declined) verdict('declined');
      else if (error instanceof Failed) {
        const { difference, mistake } = error;
        verdict('failed', { difference, cause: mistake ?? comment, isFound: mistake !== undefined });
      } else throw error;
    }
    line?.close(1000);
  }
  onProgress(scenes.length, scenes.length, '');
  return verdicts;
}

export interface ListenOptions extends LiveOptions {
  port: number;
  nodeId: string;
  accessKey: string;
  /** Told when clients may connect. */
  onListening: (url: string) => void;
}

/** Plays a hub to the clients that connect, until all scenes are played. */
export async function listen(options: ListenOptions): Promise<Verdict[]> {
  const { WebSocketServer } = await loadWs();
  const { nodeId, password, patience } = options;
  const hub = new JudgeHub(nodeId, derivePsk({ crypto: nodeCrypto, password, nodeId }));
  const arrived: { line: Line; accessKey: string | undefined }[] = [];
  let wake = (): void => {};
  const server = new WebSocketServer({ host: '127.0.0.1', port: options.port });
  server.on('connection', (socket, request) => {
    arrived.push({ line: new Line(socket, patience), accessKey: accessKeyOf(request.url ?? '') });
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('listening', () => resolve()).once('error', reject);
  });
  const { port } = server.address() as { port: number };
  options.onListening(`ws://127.0.0.1:${port}/`);

  let isGone = false; // who does not come for one scene does not come for the next
  const connect = async (): Promise<Line> => {
    if (arrived.length === 0 && !isGone) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, patience.long);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const next = arrived.shift();
    if (next === undefined) {
      isGone = true;
      const got = `none within ${patience.long / 1000} s`;
      throw new Failed({ where: 'connection', expected: 'one for each scene', got });
    }
    if (next.accessKey === options.accessKey) return next.line;
    next.line.close(1008);
    const expected = '?authorization= with the percent-encoded base64 of <user agent>:<access key>';
    const got = next.accessKey === undefined ? 'none that can be read' : `access key ${next.accessKey}`;
    throw new Failed({ where: 'the URL', expected, got });
  };
  try {
    return await playAll(HUB_SCENES, hub, connect, options);
  } finally {
    for (const socket of server.clients) socket.terminate();
    server.close();
  }
}

/** The access key in a URL's authorization, where raw base64 would have its + read as a space. */
function accessKeyOf(url: string): string | undefined {
  const authorization = new URL(url, 'ws://judge').searchParams.get('authorization');
  const text = authorization === null ? '' : Buffer.from(authorization, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 || authorization!.includes(' ') ? undefined : text.slice(colon + 1);
}

export interface ConnectOptions extends LiveOptions {
  url: string;
}

/** Plays a client to a hub. */
export async function connectTo(options: ConnectOptions): Promise<Verdict[]> {
  const { WebSocket } = await loadWs();
  const { url, password, patience } = options;
  const client = new JudgeClient((nodeId) => derivePsk({ crypto: nodeCrypto, password, nodeId }));
  const connect = (): Promise<Line> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(url, { handshakeTimeout: patience.answer, rejectUnauthorized: false });
      const line = new Line(socket, patience);
      socket.once('open', () => resolve(line));
      socket.once('error', () => {
        const expected = 'the hub to accept it';
        reject(new Failed({ where: 'connection', expected, got: 'it did not: is the address right?' }));
      });
    });
  return playAll(CLIENT_SCENES, client, connect, options);
}
