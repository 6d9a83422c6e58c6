/**
 * examples/react-native as an app runs it, lowered as Babel lowers it for Hermes, with stand-ins for the modules of React Native. It
 * connects to the example hub.
 */
import { derivePsk } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { argon2id } from 'hub-protocol/parts';
import { type HubServer, serveHub } from 'hub-protocol-client/hub';
import type { Client } from 'hub-protocol-client/react-native';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebSocket } from 'ws';
import { authority, certificate, certificateKey } from '../interop/certificate.ts';
import { bundleForReactNative } from '../world/react-native-bundle.ts';

const PASSWORD = 'correct horse';
/** A phone, which keeps what is stored. */
class Phone {
  readonly stored: Map<string, string> = new Map();
  derivations = 0;
  #changed: (state: string) => void = () => {};

  /** Starts the app. */
  start(script: string, issued: object): Client {
    const checked = (name: string): string => {
      assert.match(name, /^[\w.-]+$/);
      return name;
    };
    const app = {
      'expo-secure-store': {
        AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: 3,
        getItem: (name: string) => this.stored.get(checked(name)) ?? null,
        setItem: (name: string, text: string) => this.stored.set(checked(name), text),
      },
      'react-native': {
        AppState: {
          addEventListener: (_: string, changed: (state: string) => void) => {
            this.#changed = changed;
          },
        },
      },
      'react-native-argon2': async (password: string, salt: string, options: Record<string, number>) => {
        this.derivations++;
        assert.equal([options.mode, options.saltEncoding], ['argon2id', 'hex']);
        const hash = argon2id({
          crypto: nodeCrypto,
          password: Buffer.from(password),
          salt: Buffer.from(salt, 'hex'),
          passes: options.iterations!,
          memoryKiB: options.memory!,
          parallelism: options.parallelism!,
          length: options.hashLength!,
        });
        return { rawHash: Buffer.from(hash).toString('hex') };
      },
      'react-native-get-random-values': {},
    };
    const Socket = class extends WebSocket {
      constructor(url: string) {
        super(url, { ca: authority });
        this.on('error', () => {}); // `close` follows, as in React Native
      }
    };
    const { connectToHub } = new Function('app', 'WebSocket', `${script}\nreturn example;`)(app, Socket);
    return connectToHub(JSON.stringify(issued));
  }

  /** The app is shown again. */
  show(): void {
    this.#changed('active');
  }
}

const test = suite('the example for React Native');
let script: string;
let hub: HubServer;
let identity: object;
test.before(async () => {
  script = await bundleForReactNative('examples/react-native/hub.ts');
  const psk = derivePsk({ crypto: nodeCrypto, password: PASSWORD, nodeId: 'hub-1' });
  const tls = { key: certificateKey, cert: certificate };
  hub = await serveHub({
    tls,
    nodeId: 'hub-1',
    staticKey: randomBytes(32),
    clients: new Map([['phone 7', { psk }]]),
  });
  identity = { access_key: 'phone 7', password: PASSWORD, data_plane_endpoints: { wss: hub.url } };
});
test.after(() => hub.stop());

const connected = (client: Client): Promise<string> =>
  new Promise((resolve) => client.on('connect', ({ pattern }) => resolve(pattern)));

test('makes first contact with a PSK that the phone derives, asks, and reconnects with the stored keyring', async () => {
  const phone = new Phone();
  const first = phone.start(script, identity);
  const pattern = connected(first);
  assert.match((await first.ask('hello')).reply.text, 'hello');
  assert.is(await pattern, 'XXpsk2');
  first.end();
  const again = phone.start(script, identity);
  assert.is(await connected(again), 'KKpsk0');
  assert.is(phone.derivations, 1);
  assert.equal([...phone.stored.keys()], ['hub-keyring.20.phone.20.7']);
  again.end();
});

test('dials at once when the app is shown while it waits, and not otherwise', async () => {
  const phone = new Phone();
  const client = phone.start(script, { ...identity, data_plane_endpoints: { wss: 'wss://localhost:1' } });
  let dials = 0;
  client.on('connecting', () => dials++);
  phone.show();
  await new Promise((resolve) => client.on('reconnect', resolve));
  assert.is(dials, 1);
  phone.show();
  assert.is(dials, 2);
  client.end();
  phone.show();
  assert.is(dials, 2);
});

test.run();
