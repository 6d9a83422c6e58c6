/** Runs the example for Moddable in Node.js, with stand-ins for Moddable's modules, and a hub for the examples for devices. */
import { type Cipher, createCipheriv, createHash, type Hash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import {
  createKeyring,
  HubSession,
  type HubSessionEvent,
  type Keyring,
  nextSlots,
  parseIdentity,
  serializeChanges,
  serializeKeyring,
  storePsk,
} from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { Assistant } from 'hub-protocol-client/assistant';
import * as assert from 'uvu/assert';
import { connectionOf } from '../../cli/src/connection.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';

export const example = (name: string): string =>
  fileURLToPath(new URL(`../../examples/${name}`, import.meta.url));
export const IDENTITY: Record<'access_key' | 'password' | 'site_id' | 'default_master', string> = {
  access_key: 'kiosk-7',
  password: PASSWORD,
  site_id: 'lobby',
  default_master: 'wss://hub.example',
};
export const CONNECTION: object = connectionOf(parseIdentity(IDENTITY), {
  name: 'kiosk',
  allowPlaintext: false,
});
export { DERIVED as PSK };
/** The hub's static key and PSK, and the client's public key that it has pinned. */
export const home: { hubKey: Uint8Array; psk: Uint8Array; clientKey: Uint8Array | undefined } = {
  hubKey: randomBytes(32),
  psk: DERIVED,
  clientKey: undefined,
};
/** Forgets the client, as for each first contact. */
export function forgetClient(): void {
  home.clientKey = undefined;
}

export interface DeviceHub {
  readonly seen: HubSessionEvent[];
  start(): void;
  receive(data: string | Uint8Array): void;
  sendBinary(bytes: Uint8Array): void;
  typesSeen(): string[];
}

/** A hub at the other end of a connection, which answers over the bus or echoes JSON messages. */
export function hubAt(
  send: (data: string | Uint8Array) => void,
  speaksBus = false,
  onEvent: (event: HubSessionEvent) => void = () => {},
): DeviceHub {
  const { ChaChaPoly } = nodeCrypto.ciphers;
  const options = {
    crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: ChaChaPoly! } },
    nodeId: 'hub-1',
    hello: { name: 'Küche' },
  };
  const hub = new HubSession({
    ...options,
    staticKey: home.hubKey,
    randomBytes,
    psk: DERIVED,
    clientKey: home.clientKey,
  });
  const seen: HubSessionEvent[] = [];
  const assistant = new Assistant(hub);
  const handle = (events: HubSessionEvent[]): void => {
    for (const event of events) {
      seen.push(event);
      if (event.type === 'transmit') send(event.data);
      if (event.type === 'pin') home.clientKey = event.key;
      onEvent(event);
      if (speaksBus) assistant.handle(event).forEach(send);
      else if (event.type === 'message' && event.kind === 'json')
        hub.sendJson({ echo: event.text }).forEach(send);
    }
  };
  return {
    seen,
    start: () => handle(hub.start()),
    receive: (data: string | Uint8Array) => handle(hub.receive(data)),
    sendBinary: (bytes: Uint8Array) => hub.sendBinary(bytes).forEach(send),
    typesSeen: () => seen.map(({ type }) => type),
  };
}

/** Waits for queued callbacks. */
export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

/** What the example uses of Moddable's module `crypt`. */
export const crypt: { readonly [name: string]: unknown } = {
  Digest: class {
    private readonly hash: Hash;
    constructor(name: string) {
      this.hash = createHash(name);
    }
    write(data: Uint8Array): void {
      this.hash.update(data);
    }
    close(): ArrayBuffer {
      return new Uint8Array(this.hash.digest()).buffer;
    }
  },
  StreamCipher: class {
    private readonly cipher: Cipher;
    constructor(name: string, key: ArrayBuffer, nonce: ArrayBuffer, counter: number) {
      assert.equal([name, nonce.byteLength, counter], ['ChaCha', 12, 0]);
      const start = Buffer.concat([new Uint8Array(4), new Uint8Array(nonce)]);
      this.cipher = createCipheriv('chacha20', new Uint8Array(key), start);
      this.decrypt = this.encrypt;
    }
    encrypt(data: Uint8Array, result: Uint8Array): void {
      result.set(this.cipher.update(data));
    }
    decrypt: (data: Uint8Array, result: Uint8Array) => void;
  },
};

/** What the example uses of the preferences. */
interface Preferences {
  get(name: string): string | undefined;
  set(name: string, text: string): unknown;
  readonly isOff?: boolean;
}

export interface Moddable {
  /** What it threw; then it restarts. */
  crashes: unknown[];
  preferences: Preferences;
  sockets: ModdableSocket[];
  traced: string[];
  /** The timers that are set, by how long they run, without those that repeat. */
  timers: { call: () => void; wait: number }[];
  /** Lets the timers of some length fire. */
  fire(wait: (wait: number) => boolean): Promise<void>;
}
interface ModdableSocket {
  options: { url: string; wss?: { socket: { secure: { certificate: { name: string } } } } };
  readyState: number;
  hub: DeviceHub;
  open(): void;
  onopen?(): void;
  onmessage?(event: { data: string | ArrayBuffer }): void;
  onclose?(event: { code: number }): void;
}

/**
 * Starts the Moddable example as at power-up.
 * @param edit - plants a mistake in the program
 */
export async function startModdable(
  preferences: Moddable['preferences'],
  isReachable = true,
  onHubEvent?: (event: HubSessionEvent) => void,
  edit: (source: string) => string = (source) => source,
): Promise<Moddable> {
  const sockets: ModdableSocket[] = [];
  const crashes: unknown[] = [];
  const isOn = (): boolean => preferences.isOff !== true && crashes.length === 0;
  const call = (callback: () => void): void => {
    if (!isOn()) return;
    try {
      callback();
    } catch (error) {
      crashes.push(error);
    }
  };
  class Socket implements ModdableSocket {
    options: ModdableSocket['options'];
    readyState = 0;
    hub: DeviceHub;
    onopen?: () => void;
    onmessage?: (event: { data: string | ArrayBuffer }) => void;
    onclose?: (event: { code: number }) => void;
    constructor(options: ModdableSocket['options']) {
      this.options = options;
      sockets.push(this);
      const bytes = (data: string | Uint8Array) =>
        typeof data === 'string' ? data : new Uint8Array(data).buffer;
      this.hub = hubAt(
        (data) => queueMicrotask(() => call(() => this.onmessage?.({ data: bytes(data) }))),
        true,
        (event) => {
          onHubEvent?.(event);
          if (event.type === 'close') queueMicrotask(() => call(() => this.onclose?.({ code: 1008 })));
        },
      );
      if (isReachable) queueMicrotask(() => this.open());
    }
    open(): void {
      this.readyState = 1;
      this.onopen?.();
      if (this.readyState === 1) this.hub.start();
    }
    send(data: string | Uint8Array): void {
      if (isOn()) queueMicrotask(() => this.hub.receive(data));
    }
    close(): void {
      if (this.readyState === 1) this.readyState = 3; // while it connects, it does nothing
    }
  }
  const traced: string[] = [];
  let timers: Moddable['timers'] = [];
  const repeating: Moddable['timers'] = [];
  const timer = {
    set(call: () => void, wait: number) {
      const own = { call, wait };
      timers.push(own);
      return own;
    },
    clear(own: Moddable['timers'][number]) {
      assert.ok(timers.includes(own), 'a timer that has fired or was cleared');
      timers = timers.filter((one) => one !== own);
    },
    repeat(call: () => void, wait: number) {
      repeating.push({ call, wait });
    },
  };
  const time = { ticks: 2 ** 31 - 5 };
  const modules: { readonly [name: string]: unknown } = {
    preference: {
      get: (domain: string, key: string) => preferences.get(`${domain}/${key}`),
      set: (domain: string, key: string, value: string) => preferences.set(`${domain}/${key}`, value),
    },
    rng: { get: (length: number) => randomBytes(length).buffer },
    timer,
    crypt,
    time,
    Resource: class {
      static exists = () => true;
      readonly name: string;
      constructor(name: string) {
        this.name = name;
      }
    },
    WebSocket: Socket,
    x25519: nodeCrypto.x25519,
  };
  const script = edit(await bundled('main', Object.keys(modules)));
  const device = { network: { wss: { io: 'wss', socket: { io: 'tls' } } } };
  new Function('modules', 'trace', 'device', script)(modules, (text: string) => traced.push(text), device);
  const fire = async (is: (wait: number) => boolean): Promise<void> => {
    const due = timers.filter(({ wait }) => is(wait));
    timers = timers.filter((one) => !due.includes(one));
    time.ticks = (time.ticks + Math.max(0, ...due.map(({ wait }) => wait))) | 0;
    for (const timer of due.concat(repeating.filter(({ wait }) => is(wait)))) call(timer.call);
    await settled();
  };
  await settled();
  return {
    preferences,
    crashes,
    sockets,
    traced,
    fire,
    get timers() {
      return timers;
    },
  };
}

/** The preferences of a device that was provisioned. */
export function provisioned(staticKey: Uint8Array = randomBytes(32)): Map<string, string> {
  const accessKey = IDENTITY.access_key;
  const fresh = createKeyring({ accessKey, staticKey });
  return preferencesOf(storePsk(fresh, 'hub-1', DERIVED, { isProvisioned: true }));
}

/** The preferences of a device that was provisioned with a keyring. */
export function preferencesOf(keyring: Keyring): Map<string, string> {
  return new Map([
    ['hub/connection', JSON.stringify(CONNECTION)],
    ['hub/keyring', serializeKeyring(keyring)],
    ...nextSlots([], serializeChanges(keyring)).map(({ slot, text }): [string, string] => [
      `hub/slot${slot}`,
      text,
    ]),
  ]);
}
export const isPause = (wait: number): boolean => wait < 2000;

const scripts = new Map<string, string>();

/** Bundles a file of the Moddable example into one script, with its modules taken from `modules`. */
export async function bundled(name: string, names: string[]): Promise<string> {
  const known = scripts.get(name);
  if (known !== undefined) return known;
  const { outputFiles } = await build({
    entryPoints: [
      name.startsWith('hub-')
        ? fileURLToPath(new URL(`../../moddable/${name}.js`, import.meta.url))
        : example(`moddable/${name}.js`),
    ],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'bundle',
    plugins: [
      {
        name: 'modules',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^hub-protocol$/ }, () => ({
            path: fileURLToPath(new URL('../../dist/hub-protocol.link.js', import.meta.url)),
          }));
          onResolve({ filter: /^hub-protocol-requests$/ }, () => ({
            path: fileURLToPath(new URL('../../dist/hub-protocol.requests.js', import.meta.url)),
          }));
          onResolve({ filter: /^hub-(?:crypto|keyring|socket)$/ }, ({ path }) => ({
            path: fileURLToPath(new URL(`../../moddable/${path}.js`, import.meta.url)),
          }));
          onResolve({ filter: new RegExp(`^(?:${names.join('|')})$`) }, ({ path }) => ({
            path,
            namespace: 'modules',
          }));
          onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => ({
            // A class is its own default, whichever way esbuild takes the module for.
            contents: `const given = modules.${path};
              module.exports = Object.assign(given, { __esModule: true, default: given });`,
          }));
        },
      },
    ],
  });
  const script = outputFiles[0]!.text;
  scripts.set(name, script);
  return script;
}
