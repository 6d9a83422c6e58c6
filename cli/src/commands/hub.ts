/** `hub`: runs a hub on this machine, for a first conversation and for tests. */
import { existsSync, lstatSync } from 'node:fs';
import { join } from 'node:path';
import { type HubClient, serveHub } from 'hub-protocol-client/hub';
import {
  bytesToHex,
  fingerprint,
  hexToBytes,
  nodeCrypto,
  printable,
  randomBytes,
} from 'hub-protocol-judge/internals';
import { answerTo } from '../answers.ts';
import { localhostCertificate } from '../certificate.ts';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { deriveWithProgress } from '../derive.ts';
import { assertPrivate, makeFolder, newSecret, readFile, writePrivate } from '../files.ts';
import { shown } from '../shown.ts';

export const HUB: Command = {
  name: 'hub',
  summary: 'run a hub on this machine, to talk to',
  usage: 'hub [FOLDER] [options]',
  help: `\
Runs a hub on this machine, with TLS, for a first conversation and for tests. It
answers a few questions, and repeats everything else. Only programs on this
machine can reach it, and pages that are open here, of any origin: none of them
gets further than its access key.

At the first start it makes an identity for one client and the keys of the hub,
and stores them in FOLDER, which is "hub" unless you name another. Start it
again with the same folder, and its clients know it. Ctrl+C ends it.

  hub-protocol hub
  hub-protocol ask hub/identity.json "What time is it?"
      in another terminal
  hub-protocol hub test/hub --port 6000

FOLDER/identity.json   what a client needs. It is a secret, as every identity is
FOLDER/ca.pem          the certificate authority, which a client has to trust;
                       "ask", "chat" and "doctor" find it there
FOLDER/hub.json        the keys of the hub: a secret. Remove the folder to start
                       over
`,
  options: {
    port: { type: 'string', argument: 'NUMBER', help: 'the port, from now on (default 5679)' },
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
export const NODE_ID = 'hub.localhost';
const SITE_ID = 'home';
/** What an issuer writes into the identities of its clients. This one has no API, from which they could fetch it. */
const AI_DISCLOSURE = {
  en: 'You are talking to a program that stands in for an AI assistant. Its answers can be wrong. Do not rely on them for medical, legal, financial or emergency decisions.',
  fr: 'Vous parlez à un programme qui tient lieu d’assistant IA. Ses réponses peuvent être fausses. Ne vous y fiez pas pour des décisions médicales, juridiques, financières ou urgentes.',
};

async function hub(args: Arguments): Promise<Result> {
  const [folder = 'hub', second] = args.positionals;
  if (second !== undefined) throw new CannotRun('expected at most one folder: see --help');
  const path = (name: string): string => join(folder, name);
  const requested = portOf(args.text('port'));
  let stored = existsSync(path('hub.json')) ? readStored(path('hub.json')) : undefined;
  const port = requested ?? stored?.port ?? DEFAULT_PORT;
  const keys = stored ?? (await newKeys());
  const staticKey = hexToBytes(keys.staticKey)!;
  const clients = new Map<string, HubClient>(); // empty until the files are written
  // Pages of any origin may connect: they are clients too, and learn nothing without the access key.
  const server = await serveHub({
    tls: keys.tls,
    port,
    nodeId: NODE_ID,
    staticKey,
    clients: {
      get: (accessKey) => clients.get(accessKey),
      pin(accessKey, clientKey) {
        const client = clients.get(accessKey)!;
        if (client.clientKey !== undefined) return bytesToHex(client.clientKey) === bytesToHex(clientKey);
        const pinned = { ...stored!, clientKey: bytesToHex(clientKey) };
        writePrivate(path('hub.json'), JSON.stringify(pinned), true);
        client.clientKey = clientKey;
        stored = pinned;
        say(`pinned the client with the key ${fingerprint(clientKey)}`);
        return true;
      },
    },
    answer(utterance) {
      const answer = answerTo(utterance);
      say(`heard ${shown(utterance)}, and answered ${shown(answer)}`);
      return answer;
    },
    onRefused({ code }, state) {
      const remedy = `. To admit it, remove clientKey from ${path('hub.json')}, and start the hub again`;
      sayRefusal(`${reasonOf(code, state)}${code === 'client-key-changed' ? remedy : ''}`);
    },
    onFault(error) {
      if (error instanceof CannotRun) sayRefusal(error.message);
      else say('ended a connection that sent something it could not handle');
    },
  }).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'listen') throw error;
    throw new CannotRun(
      error.code === 'EADDRINUSE'
        ? `port ${port} is in use: end the other hub or program that uses it, or choose another with --port`
        : `cannot listen on port ${port} (${error.code}): choose another with --port`,
    );
  });
  try {
    // A hub that cannot listen writes nothing.
    if (stored === undefined) stored = await create(folder, port, keys as NewKeys);
    else if (stored.port !== port) stored = move(folder, port, stored);
  } catch (error) {
    await server.stop();
    throw error;
  }
  const { accessKey, psk, clientKey } = stored;
  clients.set(accessKey, {
    psk: hexToBytes(psk)!,
    ...(clientKey !== undefined && { clientKey: hexToBytes(clientKey)! }),
  });
  const key = fingerprint(new Uint8Array(nodeCrypto.x25519.publicKey(staticKey)));
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

/** Why a client could not connect, in words of this program alone. */
function reasonOf(code: string, state: string): string {
  if (code in REFUSALS) return REFUSALS[code]!;
  if (code !== 'dropped') return `it sent what no client of protocol 3 sends (${code})`;
  return state === 'awaiting-message-3'
    ? 'it left after message 2: its password is wrong, or it was “doctor”, which leaves there'
    : 'it left without a handshake: it only looked, has an older protocol, or refuses this hub';
}

const REFUSALS: { readonly [code: string]: string } = {
  'access-refused': 'this hub does not know its access key',
  'client-key-changed': 'it has another static key than the pinned one',
  'kk-failed': 'its password, its keys or its pin of this hub have changed: the next attempt shows which',
  'protocol-version': 'it has an older protocol: update it',
};

/** The most refusals that are printed in a minute: a client in a loop must not fill the terminal. */
const MOST_REFUSALS = 10;
let refusals = 0;
let refusedSince = Number.NEGATIVE_INFINITY;

function sayRefusal(reason: string): void {
  const now = performance.now();
  if (now - refusedSince > 60_000) [refusals, refusedSince] = [0, now];
  refusals++;
  if (refusals <= MOST_REFUSALS) say(`a client could not connect: ${reason}`);
  if (refusals === MOST_REFUSALS) say('for a minute from the first of these, no more are shown');
}

function say(text: string): void {
  process.stdout.write(printable(`${text}\n`));
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = Number(text);
  if (!Number.isInteger(port) || port < 1 || port > 65535)
    throw new CannotRun(`--port expects 1 to 65535, got ${text}`);
  return port;
}

/** The keys of a hub that listens with them before anything is stored. */
interface NewKeys extends Pick<Stored, 'staticKey' | 'tls'> {
  readonly ca: string;
}

async function newKeys(): Promise<NewKeys> {
  const { ca, ...tls } = await localhostCertificate();
  return { ca, tls, staticKey: bytesToHex(randomBytes(32)) };
}

/** Stores the keys of a hub, and makes the identity of its client. */
async function create(folder: string, port: number, { ca, ...keys }: NewKeys): Promise<Stored> {
  makeFolder(folder);
  const path = (name: string): string => join(folder, name);
  for (const name of ['identity.json', 'ca.pem', 'hub.json']) {
    if (lstatSync(path(name), { throwIfNoEntry: false }) !== undefined)
      throw new CannotRun(`${path(name)} exists, and ${path('hub.json')} does not: name another folder`);
    assertPrivate(path(name), false);
  }
  const [accessKey, password] = [newSecret(), newSecret()];
  const psk = await deriveWithProgress(password, NODE_ID, 'deriving the PSK');
  const identity = {
    access_key: accessKey,
    password,
    site_id: SITE_ID,
    data_plane_endpoints: { wss: addressAt(port) },
    ai_disclosure: AI_DISCLOSURE,
  };
  const stored: Stored = { port, accessKey, psk: bytesToHex(psk), ...keys };
  writePrivate(path('identity.json'), `${JSON.stringify(identity, undefined, 2)}\n`, false);
  writePrivate(path('ca.pem'), ca, false);
  writePrivate(path('hub.json'), JSON.stringify(stored), false); // last: with it, the folder is complete
  return stored;
}

/** Stores another port, also in the identity of the client. */
function move(folder: string, port: number, stored: Stored): Stored {
  const path = join(folder, 'identity.json');
  if (existsSync(path)) {
    const identity = readJson(path, 'the identity');
    const moved = { ...identity, data_plane_endpoints: { wss: addressAt(port) } };
    writePrivate(path, `${JSON.stringify(moved, undefined, 2)}\n`, true);
  }
  const moved = { ...stored, port };
  writePrivate(join(folder, 'hub.json'), JSON.stringify(moved), true);
  say(`the hub has moved from port ${stored.port} to ${port}: copies of its identity have the old address\n`);
  return moved;
}

function addressAt(port: number): string {
  return `wss://localhost:${port}`;
}

function readJson(path: string, what: string): object | undefined {
  const text = Buffer.from(readFile(path, what)).toString();
  try {
    return JSON.parse(text);
  } catch {
    throw damaged(path);
  }
}

/** Reads what this command has stored. */
export function readStored(path: string): Stored {
  const stored = readJson(path, 'the hub') as Stored | null;
  const keys = [stored?.psk, stored?.staticKey, stored?.clientKey ?? stored?.psk];
  const areKeys = keys.every((key) => typeof key === 'string' && hexToBytes(key)?.length === 32);
  if (stored !== null && areKeys && typeof stored.accessKey === 'string') return stored;
  throw damaged(path);
}

function damaged(path: string): CannotRun {
  return new CannotRun(
    `${path} is not what this command has written: name another folder, or remove this one`,
  );
}
