/**
 * A program around QuickJS: it has the socket, the storage and the randomness, and hands over what comes in. Here the
 * engine is npm's quickjs-emscripten.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { getQuickJS, type QuickJSContext, type QuickJSHandle } from 'quickjs-emscripten';

export interface HostOptions {
  /** By the names `identity`, which must be there, and `device`. */
  store: Map<string, string>;
  send: (data: string | Uint8Array) => void;
  say: (text: string) => void;
}

export interface Client {
  connected(): void;
  received(data: string | Uint8Array): void;
  send(value: object): void;
  disconnected(code?: number): void;
  stop(): void;
}

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const FILES: { readonly [name: string]: string } = {
  'client.js': path('client.js'),
  'hub-protocol.js': path('../../dist/hub-protocol.js'),
};

export async function startClient({ store, send, say }: HostOptions): Promise<Client> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setModuleLoader((name) => readFileSync(FILES[name]!, 'utf8'));
  const context = runtime.newContext();

  const take = (handle: QuickJSHandle): string | Uint8Array =>
    context.typeof(handle) === 'string'
      ? context.getString(handle)
      : context.getArrayBuffer(handle).consume(({ value }) => value.slice());
  const give = (data: string | Uint8Array | undefined): QuickJSHandle => {
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

  const { password } = JSON.parse(store.get('identity')!) as { password: string };
  const host: { readonly [name: string]: (...handles: QuickJSHandle[]) => QuickJSHandle | undefined } = {
    load: (name) => give(store.get(context.getString(name!))),
    save(name, text) {
      store.set(context.getString(name!), context.getString(text!));
      return undefined;
    },
    random: (length) => give(randomBytes(context.getNumber(length!))),
    send(data) {
      send(take(data!));
      return undefined;
    },
    say(text) {
      say(context.getString(text!));
      return undefined;
    },
    // The host has the memory to derive it. It answers when the client has done with what it is at.
    derivePsk(nodeId) {
      const psk = derivePsk({ crypto: nodeCrypto, password, nodeId: context.getString(nodeId!) });
      queueMicrotask(() => call('providePsk', give(psk)));
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
    connected: () => call('connected'),
    received: (data) => call('received', give(data)),
    send: (value) => {
      const handle = context.unwrapResult(context.evalCode(`(${JSON.stringify(value)})`));
      call('send', handle);
    },
    disconnected: (code) =>
      call('disconnected', code === undefined ? context.undefined : context.newNumber(code)),
    stop() {
      context.dispose();
      runtime.dispose();
    },
  };
}

function newArrayBuffer(context: QuickJSContext, bytes: Uint8Array): QuickJSHandle {
  return context.newArrayBuffer(bytes.slice().buffer as ArrayBuffer);
}
