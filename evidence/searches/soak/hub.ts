/** The hub of the soak, in a process of its own: over WebSocket, and over MQTT with a broker in a third process. */
import type { AddressInfo } from 'node:net';
import mqtt from 'mqtt';
import { WebSocketServer } from 'ws';
import { nodeCrypto, randomBytes } from '../../../src/crypto/node.ts';
import { HubSession, type HubSessionEvent } from '../../../src/index.ts';
import { NODE_ID } from '../../../test/world/keys.ts';
import { type Data, Line } from '../../../test/world/line.ts';
import { BASE } from './client.ts';
import { fillCacheOfLengths, memoryInUse } from './memory.ts';
import { check, messageOf } from './messages.ts';

/** What the hub has seen. All but `open` and `memory` only grow. */
export interface HubReport {
  sessions: number;
  ready: number;
  ended: number;
  received: number;
  sent: number;
  /** The sessions that have not ended. */
  open: number;
  memory: number;
}

/** What the hub is told first. */
export interface HubTask {
  readonly psk: string;
  /** The URL of the broker; without it, the hub serves WebSockets. */
  readonly broker?: string;
}

const report: HubReport = { sessions: 0, ready: 0, ended: 0, received: 0, sent: 0, open: 0, memory: 0 };
const staticKey = randomBytes(32);
/** The keys of the clients, by name. */
const pins = new Map<string, Uint8Array>();

/** Accepts a connection. The hub answers each message with one of the same number. */
function accept(
  name: string,
  psk: Uint8Array,
  send: (data: Data) => void,
): Line<HubSessionEvent, HubSession> {
  let received = 0;
  const clientKey = pins.get(name);
  const options = { crypto: nodeCrypto, randomBytes, nodeId: NODE_ID, staticKey, psk, clientKey };
  const line = new Line(new HubSession(options), {
    send,
    see(event: HubSessionEvent) {
      if (event.type === 'pin') pins.set(name, event.key);
      else if (event.type === 'ready') report.ready++;
      else if (event.type === 'message') {
        check(event.kind === 'json' ? event.text : event.bytes, 'client', received);
        report.received++;
        report.sent++;
        line.say(messageOf('hub', received++));
      } else if (event.type === 'close' || event.type === 'dropped')
        throw new Error(`the hub emitted ${event.type}: ${JSON.stringify(event)}`);
    },
  });
  report.sessions++;
  report.open++;
  line.start();
  return line;
}

function close(line: ReturnType<typeof accept>): void {
  line.closed();
  report.ended++;
  report.open--;
}

async function serveWebSockets(psk: Uint8Array): Promise<string> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  server.on('connection', (socket, request) => {
    const end = accept(request.url!, psk, (data) => socket.send(data));
    socket.on('message', (data, isBinary) => end.receive(isBinary ? (data as Buffer) : String(data)));
    socket.on('close', () => close(end));
  });
  await new Promise<void>((resolve) => server.on('listening', resolve));
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function serveMqtt(url: string, psk: Uint8Array): Promise<string> {
  fillCacheOfLengths();
  const connection = await mqtt.connectAsync(url, { reconnectPeriod: 0 });
  const ends = new Map<string, ReturnType<typeof accept>>();
  connection.on('message', (topic, payload) => {
    const [name, kind] = topic.slice(BASE.length + 1).split('/') as [string, string];
    const end = ends.get(name);
    if (kind === 'in' && end !== undefined) end.receive(payload);
    else if (kind === 'in') {
      const write = (data: Data): void =>
        void connection.publish(`${BASE}/${name}/out`, typeof data === 'string' ? data : Buffer.from(data), {
          qos: 1,
        });
      ends.set(name, accept(name, psk, write));
    } else if (end !== undefined) {
      ends.delete(name);
      close(end);
    }
  });
  await connection.subscribeAsync([`${BASE}/+/in`, `${BASE}/+/status`], { qos: 1 });
  return url;
}

process.once('message', async ({ psk, broker }: HubTask) => {
  const key = Buffer.from(psk, 'hex');
  process.send!(await (broker === undefined ? serveWebSockets(key) : serveMqtt(broker, key)));
  process.on('message', async (what) => {
    if (what === 'forget') {
      pins.clear();
      return;
    }
    const memory = await memoryInUse();
    process.send!({ ...report, memory } satisfies HubReport);
  });
});
process.on('disconnect', () => process.exit());
