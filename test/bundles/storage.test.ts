/**
 * What the examples for devices store, on flash that fails in each step of each write. Whatever it does, the device keeps its
 * static key, sends message 3 only if it will still know the pin, even if one slot is then lost (unless the power failed before), and connects once the flash works
 * again.
 */
import { createKeyring, HubSession, type HubSessionEvent, type Keyring, pinHub } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { bootEspruino, espruinoOnLine, filesOf } from './espruino.ts';
import { EspruinoStorage, FAULTS, Flash, PowerCut } from './flash.ts';
import {
  bundled,
  forgetClient,
  home,
  IDENTITY,
  PSK,
  preferencesOf,
  provisioned,
  startModdable,
} from './moddable.ts';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const STATIC_KEY = new Uint8Array(32).fill(1);
const HUB_KEYS = [new Uint8Array(32).fill(2), new Uint8Array(32).fill(3)];

/** The outcome of one connection, at the hub. */
interface Outcome {
  readonly pattern: string | undefined;
  /** The client's public key. */
  readonly clientKey: string | undefined;
  /** Copies of the flash when message 3 had arrived. */
  readonly atMessage3: Flash[];
  /** What the device says, to its bridge or its log. */
  readonly says: readonly string[];
}

class Watch {
  readonly flash: Flash;
  pattern: string | undefined;
  clientKey: string | undefined;
  readonly atMessage3: Flash[] = [];
  says: string[] = [];

  constructor(flash: Flash) {
    this.flash = flash;
  }

  see(event: HubSessionEvent): void {
    if (event.type !== 'ready') return;
    this.pattern = event.pattern;
    this.clientKey = hex(event.clientKey);
    if (event.pattern === 'XXpsk2') this.atMessage3.push(this.flash.copy());
  }
}

type Connect = () => Promise<Outcome>;

/**
 * A device that starts anew for each connection, as Espruino does when its bridge has lost it.
 * @param losesAnswer - whether the hub's answer to message 1 is lost, with the connection
 */
function espruino(flash: Flash, losesAnswer = false): Connect {
  let toHub: string[] = [];
  let device: ReturnType<typeof espruinoOnLine> | undefined; // until the power is cut
  let watch = new Watch(flash);
  return async () => {
    watch = new Watch(flash);
    toHub = [];
    const hub = new HubSession({
      crypto: { ...nodeCrypto, ciphers: { ChaChaPoly: nodeCrypto.ciphers.ChaChaPoly! } },
      nodeId: 'hub-1',
      staticKey: home.hubKey,
      randomBytes,
      psk: home.psk,
      clientKey: home.clientKey,
    });
    const handle = (events: HubSessionEvent[]): void => {
      for (const event of events) {
        if (event.type === 'pin') home.clientKey = event.key;
        watch.see(event);
        if (event.type === 'transmit' && losesAnswer && hub.state !== 'awaiting-message-1') {
          device!.send('d{"code":1006}');
        } else if (event.type === 'transmit') {
          const { data } = event;
          device!.send(typeof data === 'string' ? `t${data}` : `b${Buffer.from(data).toString('latin1')}`);
        }
        if (event.type === 'close') device!.send('d{"code":1008}');
      }
    };
    try {
      device ??= espruinoOnLine(
        (message) => toHub.push(message),
        flash as EspruinoStorage,
        (...text) => watch.says.push(text.join(' ')),
      );
      device.send('n{"onKkFailure":"replace-pin"}');
      handle(hub.start());
      for (let message = toHub.shift(); message !== undefined; message = toHub.shift()) {
        const body = message.slice(1);
        if (message[0] === 'e') watch.says.push(body);
        else if (message[0] === 't') handle(hub.receive(body));
        else handle(hub.receive(new Uint8Array(Buffer.from(body, 'latin1'))));
      }
    } catch (error) {
      assert.instance(error, PowerCut);
    }
    return watch;
  };
}

/** Takes Node's X25519, since the library's takes most of the time of these tests; examples.test.ts runs that. */
function withNodesX25519(source: string): string {
  const own = /x25519: [\w$]+\.x25519/;
  assert.match(source, own);
  return source.replace(own, 'x25519: modules.x25519');
}

/** A device that connects again by itself, unless it restarts. */
function moddable(flash: Flash): Connect {
  let device: Awaited<ReturnType<typeof startModdable>> | undefined;
  let watch = new Watch(flash);
  return async () => {
    watch = new Watch(flash);
    if (device === undefined) {
      const see = (event: HubSessionEvent): void => watch.see(event);
      device = await startModdable(flash, true, see, withNodesX25519);
    } else {
      device.sockets.at(-1)!.onclose?.({ code: 1006 }); // unless the session has ended
      await device.fire(() => true);
    }
    watch.says = device.traced;
    if (flash.isOff || device.crashes.length > 0) device = undefined;
    return watch;
  };
}

interface Device {
  readonly name: string;
  readonly boot: (flash: Flash) => Connect;
  /** The storage as provisioned. */
  readonly storage: () => Flash;
  readonly keyring: string;
  readonly slots: readonly string[];
}

const espruinoStorage = (roomOfSlots?: number): EspruinoStorage =>
  new EspruinoStorage(filesOf('kiosk-7', STATIC_KEY, [{ nodeId: 'hub-1', key: PSK }]), roomOfSlots);

const DEVICES: readonly Device[] = [
  {
    name: 'Espruino',
    boot: espruino,
    storage: espruinoStorage,
    keyring: 'hub.keyring',
    slots: ['hub.slot0', 'hub.slot1'],
  },
  {
    name: 'Moddable',
    boot: moddable,
    storage: () => new Flash(provisioned(STATIC_KEY)),
    keyring: 'hub/keyring',
    slots: ['hub/slot0', 'hub/slot1'],
  },
];

/** Connects to a hub that gets a new key, until each has answered. @returns how many writes there were */
async function live({ boot, storage, keyring, slots }: Device, fault?: Flash['fault']): Promise<number> {
  const flash = storage();
  const provisionedKeyring = flash.get(keyring);
  flash.fault = fault;
  forgetClient();
  let connect = boot(flash);
  for (const hubKey of HUB_KEYS) {
    home.hubKey = hubKey;
    let isReady = false;
    for (let attempt = 0; attempt < 6 && !isReady; attempt++) {
      const { pattern, clientKey, atMessage3 } = await connect();
      isReady = pattern !== undefined && !flash.isOff;
      if (pattern !== undefined) assert.is(clientKey, hex(nodeCrypto.x25519.publicKey(STATIC_KEY)));
      for (const lost of [undefined, ...slots]) {
        for (const each of atMessage3) assert.is((await boot(each.copy(lost))()).pattern, 'KKpsk0');
      }
      if (!flash.isOff) continue;
      flash.isOff = false;
      connect = boot(flash);
    }
    assert.ok(isReady, 'it does not connect any more');
  }
  assert.is(flash.get(keyring), provisionedKeyring);
  return flash.writes;
}

for (const device of DEVICES) {
  test(`the ${device.name} example writes both slots when a hub is new or has a new key, and not at each connection`, async () => {
    const changes = device.name === 'Moddable' ? 4 : 3; // and once that a hub has accepted the static key
    assert.is(await live(device), 2 * changes);
    const flash = device.storage();
    forgetClient();
    home.hubKey = HUB_KEYS[0]!;
    const connect = device.boot(flash);
    for (let round = 0; round < 20; round++) assert.ok((await connect()).pattern);
    assert.is(flash.writes, 2 * (changes - 2));
  });

  for (const how of FAULTS) {
    test(`the ${device.name} example survives writes that fail: ${how}`, async () => {
      const count = await live(device);
      for (let at = 1; at <= count; at++) {
        for (const times of at > 1 || how.startsWith('cut') ? [1] : [1, 2])
          await live(device, { at, how, times });
      }
    });
  }
}

for (const device of DEVICES) {
  test(`the ${device.name} example reports why KKpsk0 failed`, async () => {
    const flash = device.storage();
    forgetClient();
    const connect = device.boot(flash);
    home.hubKey = HUB_KEYS[0]!;
    assert.is((await connect()).pattern, 'XXpsk2');
    home.hubKey = HUB_KEYS[1]!;
    const { says } = await connect();
    assert.ok(
      says.some((text) => text.includes('kk-refused')),
      says.join(),
    );
  });
}

test('an Espruino sensor wakes a thousand times, and connects unless key or password have just changed or an answer is lost', async () => {
  const flash = espruinoStorage();
  forgetClient();
  const unanswered: number[] = [];
  const expected: number[] = [];
  for (let waking = 0; waking < 1000; waking++) {
    const hasNewKey = waking % 250 === 0;
    const losesAnswer = waking % 50 === 25;
    const hasOtherPassword = waking % 500 === 100;
    if (hasNewKey) home.hubKey = randomBytes(32);
    home.psk = hasOtherPassword ? randomBytes(32) : PSK;
    if ((hasNewKey && waking > 0) || losesAnswer || hasOtherPassword) expected.push(waking);
    const { pattern } = await espruino(flash, losesAnswer)();
    if (pattern === undefined) unanswered.push(waking);
  }
  assert.equal(unanswered, expected);
  assert.is(expected.length, 25);
  assert.is(flash.writes, 2 * 11); // a change for the first contact, and two for each new key and each other password
});

test('the Espruino example reads no pins that were changed in both slots', () => {
  const files = filesOf('kiosk-7', STATIC_KEY, [{ nodeId: 'hub-1', key: PSK }]).map(
    ([name, text]): [string, string] => [name, text.replace(/("key":")../, '$1ff')], // JSON as before
  );
  const start = () => bootEspruino(new EspruinoStorage(files), console.log, console.log);
  assert.throws(start, /slots-unreadable/);
});

test('the Espruino example refuses a change for which a slot has no room', async () => {
  const flash = espruinoStorage(640);
  forgetClient();
  home.hubKey = HUB_KEYS[0]!;
  const connect = espruino(flash);
  assert.is((await connect()).pattern, 'XXpsk2');
  home.hubKey = HUB_KEYS[1]!;
  for (let attempt = 0; attempt < 2; attempt++) {
    const { pattern, says } = await connect();
    assert.is(pattern, undefined);
    if (attempt > 0) assert.match(says.join(), /hub\.slot[01] has no room/);
  }
  assert.is(flash.writes, 2);
});

interface Store {
  keyring: Keyring;
  update(keyring: Keyring): void;
}

const fresh = createKeyring({ accessKey: IDENTITY.access_key, staticKey: STATIC_KEY });
const pinned = pinHub(fresh, 'hub-1', HUB_KEYS[0]!);

async function openStore(flash: Flash): Promise<Store> {
  const preference = {
    get: (_domain: string, name: string) => flash.get(name),
    set: (_domain: string, name: string, text: string) => flash.set(name, text),
  };
  const script = await bundled('hub-keyring', ['preference']);
  const { KeyringStore } = new Function('modules', `${script}; return bundle;`)({ preference });
  return new KeyringStore(IDENTITY.access_key);
}

/** The flash as provisioned. */
const freshFlash = (): Flash =>
  new Flash(
    [...preferencesOf(fresh)].map(([name, text]): [string, string] => [name.slice('hub/'.length), text]),
  );

/** The flash after the first pin, which is in both slots. */
async function withPin(): Promise<Flash> {
  const flash = freshFlash();
  (await openStore(flash)).update(pinned);
  return flash;
}

test('the Moddable example treats a preference that throws as damaged', async () => {
  const flash = await withPin();
  const { get } = flash;
  flash.get = (name) => {
    if (name === 'slot1') throw new Error('damaged');
    return get.call(flash, name);
  };
  assert.is((await openStore(flash)).keyring.pins.length, 1);
});

test('the Moddable example says that no keyring, or neither slot, can be read', async () => {
  for (const lost of [['keyring'], ['slot0', 'slot1']]) {
    const flash = await withPin();
    for (const name of lost) flash.texts.delete(name);
    assert.is(
      (await openStore(flash).catch((error: unknown) => error))?.constructor?.name !== 'KeyringStore',
      true,
    );
  }
});

test.run();
