/** `hub`: runs a hub on this machine, for a first conversation and for tests. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { localhostCertificate } from '../../../examples/certificate.ts';
import { derive } from '../../../examples/derive.ts';
import { startHub } from '../../../examples/hub.ts';
import { printable } from '../../../judge/src/printable.ts';
import { answerTo } from '../answers.ts';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { show } from '../derive.ts';
import { assertPrivate, readFile, writePrivate } from '../files.ts';
import { bytesToHex, fingerprint, hexToBytes, nodeCrypto, randomBytes, utf8ToBytes } from '../protocol.ts';
import { shown } from '../shown.ts';

export const HUB: Command = {
  name: 'hub',
  summary: 'run a hub on this machine, to talk to',
  usage: 'hub [FOLDER] [options]',
  help: `\
Runs a hub on this machine, with TLS, for a first conversation and for tests. It answers a few questions, and repeats
everything else. Only programs on this machine can reach it.

At the first start it makes an identity for one client and the keys of the hub, and stores them in FOLDER, which is "hub"
unless you name another. Start it again with the same folder, and its clients know it. Ctrl+C ends it.

  hub-protocol hub
  hub-protocol ask hub/identity.json "What time is it?"          in another terminal
  hub-protocol hub test/hub --port 6000

FOLDER/identity.json   what a client needs. It is a secret, as every identity is
FOLDER/ca.pem          the certificate authority, which a client has to trust; "ask" and "chat" find it there
FOLDER/hub.json        the keys of the hub: a secret. Remove the folder to start over
`,
  options: {
    port: { type: 'string', argument: 'NUMBER', help: 'the port, at the first start (default 5679)' },
  },
  run: hub,
};

/** The stored state of a hub. Keys are in hex. */
interface Stored {
  readonly port: number;
  readonly accessKey: string;
  readonly psk: string;
  readonly staticKey: string;
  /** The client's key, once it is pinned. */
  readonly clientKey?: string;
  readonly tls: { readonly key: string; readonly cert: string };
}

const DEFAULT_PORT = 5679;
const NODE_ID = 'hub.localhost';
const SITE_ID = 'home';

async function hub(args: Arguments): Promise<Result> {
  const [folder = 'hub', second] = args.positionals;
  if (second !== undefined) throw new CannotRun('expected at most one folder: see --help');
  const path = (name: string): string => join(folder, name);
  if (!existsSync(path('hub.json'))) await create(folder, portOf(args.text('port')));
  else if (args.text('port') !== undefined) {
    throw new CannotRun(`${path('hub.json')} has a port already: leave --port out, or name another folder`);
  }
  let stored = readStored(path('hub.json'));
  const client = {
    psk: hexToBytes(stored.psk)!,
    ...(stored.clientKey && { clientKey: hexToBytes(stored.clientKey)! }),
  };
  const server = await startHub({
    tls: stored.tls,
    port: stored.port,
    nodeId: NODE_ID,
    staticKey: hexToBytes(stored.staticKey)!,
    clients: new Map([[stored.accessKey, client]]),
    pinned() {
      stored = { ...stored, clientKey: bytesToHex(client.clientKey!) };
      writePrivate(path('hub.json'), JSON.stringify(stored), true);
      say(`pinned the client with the key ${fingerprint(client.clientKey!)}`);
    },
    answer(utterance) {
      const answer = answerTo(utterance);
      say(`heard ${shown(utterance)}, and answered ${shown(answer)}`);
      return answer;
    },
    fault: () => say('ended a connection that sent something it could not handle'),
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error;
    throw new CannotRun(
      `port ${stored.port} is in use: end the program that has it, or name another folder and --port`,
    );
  });
  const key = fingerprint(new Uint8Array(nodeCrypto.x25519.publicKey(hexToBytes(stored.staticKey)!)));
  say(`the hub ${NODE_ID} is at ${server.url}, and its key is ${key}\n`);
  say(`the identity of its client is in ${path('identity.json')}. In another terminal:\n`);
  say(`    npx hub-protocol-cli ask ${path('identity.json')} "What time is it?"`);
  say(`    npx hub-protocol-cli chat ${path('identity.json')}\n\nCtrl+C ends the hub.\n`);
  await new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
  await server.stop();
  return { status: 0, text: '', json: {} };
}

function say(text: string): void {
  process.stdout.write(printable(`${text}\n`));
}

function portOf(text = String(DEFAULT_PORT)): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new CannotRun(`--port expects 1 to 65535, got ${text}`);
  return port;
}

/** Makes the keys of a hub and the identity of its client. */
async function create(folder: string, port: number): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = (name: string): string => join(folder, name);
  for (const name of ['identity.json', 'ca.pem', 'hub.json']) assertPrivate(path(name), false);
  const [accessKey, password] = [newSecret(), newSecret()];
  const { ca, ...tls } = await localhostCertificate();
  const salt = nodeCrypto.sha256(utf8ToBytes(NODE_ID));
  const psk = await derive(password, salt, (progress) => show(progress, 'deriving the PSK'));
  const identity = {
    access_key: accessKey,
    password,
    site_id: SITE_ID,
    data_plane_endpoints: { wss: `wss://localhost:${port}` },
  };
  const stored: Stored = {
    port,
    accessKey,
    psk: bytesToHex(psk),
    staticKey: bytesToHex(randomBytes(32)),
    tls,
  };
  writePrivate(path('identity.json'), `${JSON.stringify(identity, undefined, 2)}\n`, false);
  writePrivate(path('ca.pem'), ca, false);
  writePrivate(path('hub.json'), JSON.stringify(stored), false); // last: with it, the folder is complete
}

function newSecret(): string {
  return Buffer.from(randomBytes(18)).toString('base64url');
}

function readStored(path: string): Stored {
  const text = readFile(path, 'the hub');
  try {
    const stored = JSON.parse(Buffer.from(text).toString()) as Stored;
    const keys = [stored.psk, stored.staticKey, stored.clientKey ?? stored.psk].map((key) => hexToBytes(key));
    if (keys.every((key) => key?.length === 32) && typeof stored.accessKey === 'string') return stored;
  } catch {
    // It is not JSON, or lacks a field.
  }
  throw new CannotRun(
    `${path} is not what this command has written: name another folder, or remove this one`,
  );
}
