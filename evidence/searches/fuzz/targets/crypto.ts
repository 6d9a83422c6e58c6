/**
 * Injected code that lies: cryptography and random numbers that throw, return something of the wrong type or length, or the
 * wrong bytes. A session fails with an error of its own and wipes what it has; it never throws, and a fault
 * that can be recognized costs neither the pin nor the PSK.
 */
import {
  type CryptoProvider,
  HubSession,
  type HubSessionEvent,
  LocalError,
  RemoteError,
} from '../../../../src/index.ts';
import { ClientSession, type SessionEvent } from '../../../../src/parts.ts';
import type { Data } from '../../../../test/world/line.ts';
import type { Random } from '../../../../test/world/random.ts';
import { toyCrypto } from '../../../../test/world/toy-crypto.ts';
import { hostile } from '../hostile.ts';
import { breach, tally } from '../law.ts';

type Event = SessionEvent | HubSessionEvent;

/** Makes results wrong, once in so many calls. */
class Liar {
  /** Whether it has thrown, or returned something that no such function can return. */
  hasFailed = false;
  /** Whether it has returned the wrong bytes. */
  hasLied = false;
  readonly #random: Random;
  readonly #rate: number;

  constructor(random: Random) {
    this.#random = random;
    this.#rate = random.pick([4, 16, 64, 128]);
  }

  say<T>(result: T): T {
    const random = this.#random;
    if (!random.oneIn(this.#rate)) return result;
    if (result instanceof Uint8Array && random.oneIn(2)) {
      this.hasLied = true;
      return random.bytes(result.length) as T;
    }
    this.hasFailed = true;
    if (random.oneIn(2))
      throw random.pick([
        new Error('no'),
        new RemoteError('bad-json', 'x'),
        new TypeError(),
        null,
        'x',
        undefined,
      ]);
    const lie = hostile(random);
    const length = result instanceof Uint8Array ? result.length : -1;
    if (ArrayBuffer.isView(lie) && lie.byteLength === length) this.hasLied = true;
    if (lie === undefined) this.hasLied = true; // which `open` may return
    return lie as T;
  }

  lying(): CryptoProvider {
    const { x25519 } = toyCrypto;
    return {
      sha256: (...parts) => this.say(toyCrypto.sha256(...parts)),
      hmacSha256: (...args) => this.say(toyCrypto.hmacSha256(...args)),
      x25519: {
        publicKey: (key) => this.say(x25519.publicKey(key)),
        sharedSecret: (...keys) => this.say(x25519.sharedSecret(...keys)),
      },
      ciphers: {
        ChaChaPoly: (key) => {
          const cipher = toyCrypto.ciphers.ChaChaPoly!(key);
          return this.say({
            seal: (...args: Parameters<typeof cipher.seal>) => this.say(cipher.seal(...args)),
            open: (...args: Parameters<typeof cipher.open>) => this.say(cipher.open(...args)),
          });
        },
      },
    };
  }
}

export function crypto(random: Random): void {
  const liar = new Liar(random);
  const isClient = random.oneIn(2);
  const psk = random.bytes(32);
  const [clientStatic, hubStatic] = [random.bytes(32), random.bytes(32)];
  const { publicKey } = toyCrypto.x25519;
  const isKk = random.oneIn(2);
  const pins = [{ nodeId: 'hub-1', key: new Uint8Array(publicKey(hubStatic)) }];
  if (random.oneIn(2)) pins.push({ nodeId: 'hub-2', key: new Uint8Array(32).fill(7) }); // nothing is computed ahead then
  const lying = liar.lying();
  const randomBytes = (length: number): Uint8Array => random.bytes(length);
  const made = construct(() => {
    const client = new ClientSession({
      crypto: isClient ? lying : toyCrypto,
      siteId: '',
      randomBytes: isClient ? (length) => liar.say(randomBytes(length)) : randomBytes,
      keyring: {
        staticKey: random.oneIn(2)
          ? clientStatic
          : { publicKey: publicKey(clientStatic), privateKey: clientStatic },
        pins: isKk ? pins : [],
        psks: [{ nodeId: 'hub-1', key: new Uint8Array(psk) }],
      },
    });
    const hub = new HubSession({
      crypto: isClient ? toyCrypto : lying,
      nodeId: 'hub-1',
      staticKey: hubStatic,
      randomBytes: isClient ? randomBytes : (length) => liar.say(randomBytes(length)),
      psk,
      ...(isKk && { clientKey: publicKey(clientStatic) }),
    });
    return { client, hub };
  });
  if (made === undefined) return;
  const { client, hub } = made;
  const queue: [ClientSession | HubSession, Data][] = [];
  const handle = (from: ClientSession | HubSession, events: readonly Event[]): void => {
    const isLiar = (from === client) === isClient;
    for (const event of events) {
      if (event.type === 'transmit') queue.push([from === client ? hub : client, event.data]);
      if (event.type === 'close') {
        const { error } = event;
        if (!(error instanceof LocalError || error instanceof RemoteError))
          breach('close without an error', error);
        if (isLiar && liar.hasFailed && !liar.hasLied && !(error instanceof LocalError)) {
          breach(`a fault of its own code was blamed on the peer: ${error.code}`, error);
        }
        if (!isLiar && error instanceof LocalError)
          breach('a fault of the peer was taken for a local one', error);
      }
      const isDoubt = event.type === 'pin-suspect' || event.type === 'psk-suspect';
      if (isDoubt && isClient && !liar.hasLied) breach(`a fault of its own code led to ${event.type}`);
      if (
        event.type === 'ready' &&
        from === client &&
        'hubKey' in event &&
        !liar.hasLied &&
        !liar.hasFailed
      ) {
        if (Buffer.compare(event.hubKey, publicKey(hubStatic)) !== 0) breach('ready with another hub');
      }
    }
  };
  handle(hub, hub.start());
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    tally.inputs++;
    handle(next[0], received(next[0], next[1]));
    if (queue.length === 0) send(random, random.pick([client, hub]), client, queue, hub);
  }
  handle(client, client.closed(random.pick([1000, 1006, 'timeout'] as const)));
  handle(hub, hub.closed());
}

function construct<T>(make: () => T): T | undefined {
  tally.inputs++;
  try {
    return make();
  } catch (error) {
    if (!(error instanceof LocalError)) breach('a constructor threw no LocalError', error);
    return undefined;
  }
}

function received(session: ClientSession | HubSession, data: Data): readonly Event[] {
  try {
    return session.receive(data);
  } catch (error) {
    return breach(`receive() threw in state ${session.state}`, error);
  }
}

function send(
  random: Random,
  from: ClientSession | HubSession,
  client: ClientSession,
  queue: [ClientSession | HubSession, Data][],
  hub: HubSession,
): void {
  if (random.oneIn(3)) return;
  try {
    for (const data of from.sendBinary(random.bytes(5))) queue.push([from === client ? hub : client, data]);
  } catch (error) {
    if (!(error instanceof LocalError)) breach('sendBinary() threw no LocalError', error);
    const isFinal = error.code === 'crypto-failed' || error.code === 'nonce-exhausted';
    if (isFinal && from.state !== 'failed')
      breach(`sending failed with ${error.code}, and the session is ${from.state}`);
  }
}
