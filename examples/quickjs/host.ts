/**
 * A program around QuickJS, here npm's quickjs-emscripten. It provides the socket, the storage, the time and the randomness, and
 * passes on incoming messages. To ask the hub whose command `hub` wrote a folder:
 *
 *   node --import tsx examples/quickjs/host.ts hub "What time is it?"
 *
 * The keyring is stored in that folder, as for `ask` and `chat`.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  authorizedUrl,
  buildUtterance,
  derivePsk,
  parseIdentity,
  readHubEvent,
  selectEndpoint,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { getQuickJS, type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten';
import WebSocket from 'ws';

export interface HostOptions {
  /** Holds `connection`, as `hub-protocol-cli provision` writes it, and `keyring`, once there is one. */
  store: Map<string, string>;
  /** The identity's password. The client requests the PSK, which only the host has the memory to derive. */
  password: string;
  /** Opens a socket to the hub, in place of the last one. */
  open: () => void;
  send: (data: string | Uint8Array) => void;
  close: () => void;
  /** Called with each line of the client's log. */
  say: (text: string) => void;
}

export interface Client {
  received(data: string | Uint8Array): void;
  send(value: object): void;
  /** The socket was closed, or could not be opened. */
  closed(code?: number): void;
  stop(): void;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const FILES: { readonly [name: string]: string } = {
  'client.js': path('client.js'),
  'hub-protocol.link.js': path('../../dist/hub-protocol.link.js'),
};

export async function startClient({ store, password, open, send, close, say }: HostOptions): Promise<Client> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setModuleLoader((name) => readFileSync(FILES[name]!, 'utf8'));
  const context = runtime.newContext();

  const fromEngine = (handle: QuickJSHandle): string | Uint8Array =>
    context.typeof(handle) === 'string'
      ? context.getString(handle)
      : context.getArrayBuffer(handle).consume(({ value }) => value.slice());
  const toEngine = (data: string | Uint8Array | undefined): QuickJSHandle => {
    if (data === undefined) return context.undefined;
    return typeof data === 'string' ? context.newString(data) : newArrayBuffer(context, data);
  };
  const call = (method: string, ...handles: QuickJSHandle[]): void => {
    const client = context.getProp(context.global, 'client');
    const result = context.callMethod(client, method, handles);
    client.dispose();
    context.unwrapResult(result).dispose();
    for (const handle of handles) handle.dispose();
  };

  let connection = 0;
  let timer: NodeJS.Timeout | undefined;
  const host: { readonly [name: string]: (...handles: QuickJSHandle[]) => QuickJSHandle | undefined } = {
    load: (name) => toEngine(store.get(context.getString(name!))),
    save(name, text) {
      store.set(context.getString(name!), context.getString(text!));
      return undefined;
    },
    random: (length) => toEngine(randomBytes(context.getNumber(length!))),
    now: () => context.newNumber(performance.now()),
    wakeAt(time) {
      clearTimeout(timer);
      if (context.typeof(time!) !== 'number') return undefined;
      timer = setTimeout(() => call('wake'), context.getNumber(time!) - performance.now());
      return undefined;
    },
    open(number) {
      connection = context.getNumber(number!);
      open();
      return undefined;
    },
    send(data) {
      send(fromEngine(data!));
      return undefined;
    },
    close() {
      close();
      return undefined;
    },
    say(text) {
      say(context.getString(text!));
      return undefined;
    },
    // The host has enough memory to derive the PSK. It provides it when the client has returned.
    derivePsk(derivation, nodeId) {
      const number = context.getNumber(derivation!);
      const psk = derivePsk({ crypto: nodeCrypto, password, nodeId: context.getString(nodeId!) });
      queueMicrotask(() => call('derived', context.newNumber(number), toEngine(psk)));
      return undefined;
    },
  };
  const object = context.newObject();
  for (const [name, method] of Object.entries(host)) {
    context.newFunction(name, method).consume((handle) => context.setProp(object, name, handle));
  }
  context.setProp(context.global, 'host', object);
  object.dispose();
  context.unwrapResult(context.evalCode(`import 'client.js';`, 'main.js', { type: 'module' })).dispose();

  return {
    received: (data) => call('received', context.newNumber(connection), toEngine(data)),
    send: (value) => {
      const handle = context.unwrapResult(context.evalCode(`(${JSON.stringify(value)})`));
      call('send', handle);
    },
    closed: (code) =>
      call(
        'closed',
        context.newNumber(connection),
        code === undefined ? context.undefined : context.newNumber(code),
      ),
    stop() {
      clearTimeout(timer);
      context.dispose();
      runtime.dispose();
    },
  };
}

function newArrayBuffer(context: QuickJSContext, bytes: Uint8Array): QuickJSHandle {
  return context.newArrayBuffer(new Uint8Array(bytes).buffer);
}

async function ask(folder: string, text: string): Promise<void> {
  const identity = parseIdentity(readFileSync(`${folder}/identity.json`, 'utf8'));
  const { accessKey, siteId, password } = identity;
  const path = `${folder}/identity.keyring.json`;

  class Files extends Map<string, string> {
    override set(name: string, value: string): this {
      if (name === 'keyring') {
        writeFileSync(`${path}.new`, value, { mode: 0o600 });
        renameSync(`${path}.new`, path); // a power failure leaves the old file or the new one
      }
      return super.set(name, value);
    }
  }
  const store = new Files().set('connection', JSON.stringify({ access_key: accessKey, site_id: siteId }));
  if (existsSync(path)) Map.prototype.set.call(store, 'keyring', readFileSync(path, 'utf8'));

  let socket: WebSocket;
  const client = await startClient({
    ...{ store, password },
    open() {
      const { url } = selectEndpoint(identity, { supported: ['wss'] });
      const own = new WebSocket(authorizedUrl(url, 'quickjs', accessKey), {
        ca: readFileSync(`${folder}/ca.pem`),
      });
      socket = own;
      own.on('message', (data, isBinary) => client.received(isBinary ? (data as Buffer) : String(data)));
      own.on('error', ({ message }) => console.error(message));
      own.on('close', (code) => client.closed(code));
    },
    send: (data) => socket.send(data),
    close: () => socket.close(),
    say(line) {
      const event = readHubEvent(line);
      if (event === undefined) console.log(line);
      if (line.startsWith('ready')) setImmediate(() => client.send(buildUtterance({ requestId: '1', text })));
      if (event?.type === 'speak') console.log(event.data.utterance);
      if (event?.type === 'ovos.utterance.handled') process.exit();
    },
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder = 'hub', text = 'What time is it?'] = process.argv.slice(2);
  await ask(folder, text);
}
