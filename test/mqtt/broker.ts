/** Mosquitto and its accounts. It is started once for all tests of this directory, and ends with their process. */
import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { type Certificate, localhostCertificate } from 'hub-protocol-cli/certificate';
import type { HubClient } from 'hub-protocol-client/hub';
import { type MqttHub, type MqttHubOptions, serveHub } from 'hub-protocol-client/hub/mqtt';
import mqtt, { type IClientOptions, type MqttClient } from 'mqtt';
import { freePort } from '../world/free-port.ts';

export const BASE = 'hivemind/hub-1';
export const NODE_ID = 'hub.example';
export const PASSWORD = 'correct horse';
/** The PSK of every client, so that it is derived only once. */
export const PSK: Uint8Array = derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: NODE_ID });

/** The accounts at the broker, with their passwords. The account of a client has the name of its access key. */
const accounts = new Map(
  ['hub', ...Array.from({ length: 100 }, (_, i) => `kiosk-${i}`)].map((name) => [
    name,
    Buffer.from(randomBytes(12)).toString('hex'),
  ]),
);
const unused = [...accounts.keys()].slice(1);

/** The account of a client that no other test uses. */
export function newAccount(): { username: string; password: string } {
  const username = unused.shift();
  if (username === undefined) throw new Error('the broker has no account left: give it more');
  return { username, password: accounts.get(username)! };
}

export const TLS: Certificate = await localhostCertificate();
export const CA: string = TLS.ca;
export const PORT: number = await freePort();

const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
writeFileSync(join(folder, 'cert.pem'), TLS.cert);
writeFileSync(join(folder, 'key.pem'), TLS.key);
writeFileSync(join(folder, 'accounts'), [...accounts].map((account) => `${account.join(':')}\n`).join(''));
const log = openSync(join(folder, 'log'), 'w');
const script = new URL('mosquitto', import.meta.url).pathname;
const mosquitto = spawn('bash', [script, folder, String(PORT), BASE], { stdio: ['pipe', 'ignore', log] });
mosquitto.unref();
(mosquitto.stdin as Socket).unref();
closeSync(log);
while (!(await isListening())) {
  if (mosquitto.exitCode !== null) throw new Error(readFileSync(join(folder, 'log'), 'utf8'));
  await sleep(20); // if it has to be installed first, this takes a minute
}

const opened: (() => unknown)[] = [];

/** Closes something after the test, however the test ends. What is left open would keep the process alive. */
export function closeLater(close: () => unknown): void {
  opened.push(close);
}

/** For `after.each`. Closes in reverse order. */
export async function closeAll(): Promise<void> {
  while (opened.length > 0) await opened.pop()!();
}

/** The options of a hub whose clients are in memory. */
type StartedOptions = Omit<MqttHubOptions, 'clients'> & { clients: Map<string, HubClient> };

/** Starts a hub at this broker that knows these clients. */
export async function startHub(
  names: string[],
  options: Partial<StartedOptions> = {},
): Promise<MqttHub & StartedOptions> {
  const all: StartedOptions = {
    broker: { url: `mqtts://localhost:${PORT}`, ca: CA, username: 'hub', password: accounts.get('hub')! },
    base: BASE,
    nodeId: NODE_ID,
    staticKey: randomBytes(32),
    clients: new Map(names.map((name) => [name, { psk: PSK }])),
    ...options,
  };
  const hub = await serveHub(all);
  closeLater(hub.stop);
  return { ...all, ...hub };
}

/** Opens a plain connection to the broker (default with the hub's account). */
export async function connectTo(port: number, options: IClientOptions = {}): Promise<MqttClient> {
  const connection = await mqtt.connectAsync(`mqtts://localhost:${port}`, {
    ca: CA,
    username: 'hub',
    password: accounts.get('hub')!,
    reconnectPeriod: 0,
    ...options,
  });
  closeLater(() => connection.stream.destroy());
  return connection;
}

function isListening(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
