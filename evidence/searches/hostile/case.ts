/**
 * One case: a client, or two with one keyring, whose hub and whose machine behave badly for a while, and then as they should. What must hold is
 * in docs/evidence/searches.md.
 */

import { createKeyring, forgetPsks, type Keyring, parseIdentity, pinHub, storePsk } from 'hub-protocol';
import { nodeCrypto as crypto } from 'hub-protocol/node';
import type { AskEvent, Client, ClientEvent, Derive, NodeOptions } from 'hub-protocol-client';
import { connect as connectByWs } from 'hub-protocol-client';
import { connect as connectInPage } from 'hub-protocol-client/browser';
import { connect as connectByHttps } from 'hub-protocol-client/https';
import { connect as connectByMqtt } from 'hub-protocol-client/mqtt';
import { Random } from '../../../test/world/random.ts';
import { type Menu, Mind, PSK } from './hub.ts';
import { pageSocket, pageSockets } from './page.ts';
import { httpsPeer, mqttPeer, webSocketPeer, works } from './peers.ts';
import { asPeer, leadTo, open, time } from './virtual.ts';

export const TRANSPORTS = ['WebSocket', 'page', 'MQTT', 'HTTPS'] as const;
export type Over = (typeof TRANSPORTS)[number];

export const SECRETS: readonly string[] = [
  'AK-secret-access',
  'PW-secret-password',
  'MQ-secret-account',
  Buffer.from('AK-secret-access').toString('base64').slice(2, 18),
  Buffer.from(PSK).toString('hex'),
];

const identities = {
  WebSocket: { data_plane_endpoints: { wss: 'ws://localhost:1' } },
  page: { data_plane_endpoints: { wss: 'ws://localhost:1' } },
  HTTPS: { protocols: { https: true }, data_plane_endpoints: { https: 'http://localhost:1' } },
  MQTT: {
    mqtt: {
      endpoint: 'mqtt://localhost:1',
      username: 'kiosk',
      password: 'MQ-secret-account',
      topic_prefix: 'hivemind/hub-1',
    },
  },
};

/** How long the client may take to be ready again with an honest hub, in milliseconds: the longest pause, and several attempts. */
const PATIENCE = 3 * 3_600_000;

/** How long after a question it may end a pause, in milliseconds: another may just have ended one. */
const HURRY = 2000;

export function law(holds: boolean, what: string): asserts holds {
  if (holds) return;
  const error = new Error(`broken law: ${what}`);
  broken.push(error.stack!);
  throw error;
}

/** The laws that were broken: the client survives an error that is thrown where it calls. */
export const broken: string[] = [];

works.run = asPeer;

/** What all cases have seen. */
export const seen = { choices: 0, cases: 0, dials: 0, sockets: 0, derivations: 0, ready: 0, answered: 0 };

const WORLD: Menu<
  | 'pass'
  | 'late'
  | 'ask'
  | 'abort'
  | 'mesh'
  | 'send'
  | 'bytes'
  | 'end'
  | 'resume'
  | 'trust'
  | 'full'
  | 'mended'
  | 'tab'
  | 'second'
  | 'listen'
  | 'renew'
  | 'worker'
  | 'loop'
> = {
  pass: 30,
  late: 3,
  ask: 12,
  abort: 2,
  mesh: 2,
  send: 4,
  bytes: 2,
  end: 2,
  resume: 4,
  trust: 2,
  full: 2,
  mended: 3,
  tab: 2,
  second: 1,
  listen: 2,
  renew: 1,
  worker: 4,
  loop: 1,
};

const WORKERS: Menu<'good' | 'late' | 'never' | 'rejects' | 'throws' | 'short' | 'wrong' | 'deaf'> = {
  good: 20,
  late: 2,
  never: 3,
  rejects: 2,
  throws: 1,
  short: 1,
  wrong: 1,
  deaf: 2,
};

const HOW_LONG = [1, 50, 500, 3000, 31_000, 130_000, 700_000];

export class Case {
  readonly #over: Over;
  readonly #random: Random;
  readonly #mind: Mind;
  readonly #clients: Watched[] = [];
  #stored: Keyring;
  #fault: 'none' | 'full' | 'unreadable' = 'none';
  #worker: keyof typeof WORKERS = 'good';
  /** Ends the derivations that do not end by themselves: the link waits for a worker for as long as it runs. */
  readonly #hung: (() => void)[] = [];
  /** How many derivations of each client run. */
  readonly #running: (() => number)[] = [];

  constructor(over: Over, seed: number) {
    this.#over = over;
    this.#random = new Random(seed);
    this.#mind = new Mind(this.#random, (delay, run) => time.after(delay, () => asPeer(run)));
    const mind = this.#mind;
    const staticKey = mind.randomBytes(32);
    this.#stored = createKeyring({ accessKey: 'AK-secret-access', staticKey, crypto });
    const peer = over === 'WebSocket' ? webSocketPeer : over === 'MQTT' ? mqttPeer : httpsPeer(mind);
    leadTo(() => {
      const how = mind.isHonest ? 'serve' : mind.choose({ serve: 30, refuse: 2, silence: 1 });
      return how === 'serve' ? (end) => asPeer(() => peer(end, mind)) : how;
    });
    Object.assign(globalThis, { WebSocket: over === 'page' ? pageSocket(() => this.#mind) : undefined });
  }

  async run(): Promise<void> {
    seen.cases++;
    this.#start();
    const steps = 10 + this.#random.below(50);
    for (let i = 0; i < steps; i++) {
      await this.#act(this.#mind.choose(WORLD));
      await time.settle();
      for (const client of this.#clients) client.check();
    }
    await this.#mend();
    for (const client of this.#clients) await this.#recover(client);
    for (const client of this.#clients) client.end();
    await this.#finish();
    seen.choices += this.#mind.choices;
  }

  readonly #keyring = {
    load: (): Keyring => {
      if (this.#fault === 'unreadable') throw Object.assign(new Error('EIO'), { code: 'EIO' });
      return this.#stored;
    },
    update: (change: (stored: Keyring) => Keyring): void => {
      const changed = change(this.#stored);
      if (changed === this.#stored) return;
      if (this.#fault !== 'none') throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      this.#stored = changed;
    },
  };

  /** The worker of one client. */
  #derivation(): Derive {
    let running = 0;
    this.#running.push(() => running);
    return (
      _password: string,
      _salt: Uint8Array,
      onProgress: (progress: number) => void,
      signal: AbortSignal,
    ): Promise<Uint8Array> => {
      const how = this.#worker;
      seen.derivations++;
      if (how === 'throws') throw new Error('there is no worker');
      running++;
      law(running === 1, 'one derivation runs at a time');
      return new Promise((resolve, reject) => {
        let isOver = false;
        const end = (settle: () => void): void => {
          if (isOver) return;
          isOver = true;
          running--;
          settle();
        };
        if (how !== 'deaf') signal.addEventListener('abort', () => end(() => reject(signal.reason)));
        onProgress(0.5);
        if (how === 'never') this.#hung.push(() => end(() => reject(new Error('the worker was ended'))));
        const after = how === 'late' ? 100_000 : how === 'never' ? 1e12 : 1000;
        const psk =
          how === 'wrong' ? new Uint8Array(32).fill(3) : how === 'short' ? new Uint8Array(3) : PSK.slice();
        time.after(after, () =>
          end(() => (how === 'rejects' ? reject(new Error('the worker failed')) : resolve(psk))),
        );
      });
    };
  }

  #start(): Watched {
    const identity = parseIdentity({
      access_key: 'AK-secret-access',
      password: 'PW-secret-password',
      site_id: 'lobby',
      ...identities[this.#over],
    });
    const derive = this.#derivation();
    const options: NodeOptions = {
      identity,
      keyring: this.#keyring,
      allowPlaintext: true,
      derive,
      session: { crypto, randomBytes: this.#mind.randomBytes },
    };
    const start = {
      WebSocket: connectByWs,
      MQTT: connectByMqtt,
      HTTPS: connectByHttps,
      page: connectInPage as (options: NodeOptions) => Client,
    }[this.#over];
    const client = new Watched(start(options));
    this.#clients.push(client);
    return client;
  }

  /** What a person, a program, or the machine does. */
  async #act(what: keyof typeof WORLD): Promise<void> {
    const random = this.#random;
    const client = random.pick(this.#clients);
    switch (what) {
      case 'pass':
        return time.pass(random.pick(HOW_LONG));
      case 'late':
        return time.pass(random.pick(HOW_LONG), true);
      case 'ask':
        return client.ask('hello');
      case 'abort':
        return client.ask('hello', {
          signal: AbortSignal.timeout(random.pick(HOW_LONG)),
          timeout: random.pick(HOW_LONG),
        });
      case 'mesh':
        return client.mesh(random.oneIn(2));
      case 'send':
        return client.try(() =>
          client.it.send({ msg_type: 'bus', payload: { type: 'x', data: {}, context: {} } }),
        );
      case 'bytes':
        return client.try(() => client.it.sendBytes(new Uint8Array(random.pick([1, 70_000])), 'file'));
      case 'end':
        return client.end();
      case 'resume':
        return client.resume();
      case 'trust':
        return client.trust();
      case 'full':
        this.#fault = random.pick(['full', 'unreadable']);
        return;
      case 'mended':
        this.#fault = 'none';
        return;
      case 'tab': {
        const key = crypto.x25519.publicKey(this.#mind.randomBytes(32) as never);
        if (random.oneIn(3)) this.#stored = pinHub(this.#stored, 'hub-1', new Uint8Array(key));
        else if (random.oneIn(2)) this.#stored = storePsk(this.#stored, 'hub-1', this.#mind.randomBytes(32));
        else this.#stored = forgetPsks(this.#stored);
        return;
      }
      case 'second':
        if (this.#clients.length < 2 && this.#fault !== 'unreadable') this.#start();
        return;
      case 'listen':
        return client.actWhen(
          random.pick(['connecting', 'connect', 'close', 'reconnect', 'ask', 'message', 'deriving', 'speak']),
          random.pick(['end', 'resume', 'ask', 'send', 'resume']),
        );
      case 'renew':
        client.it.newConversation();
        return client.try(() => client.it.spoken());
      case 'worker':
        this.#worker = this.#mind.choose(WORKERS);
        return;
      default:
        return client.loop();
    }
  }

  async #mend(): Promise<void> {
    this.#mind.isHonest = true;
    this.#fault = 'none';
    this.#worker = 'good';
    for (const end of this.#hung.splice(0)) end();
    for (const end of [...this.#mind.ends]) end();
    for (const client of this.#clients) client.acts.clear();
    await time.settle();
  }

  /** The person does what the sentences say. */
  async #recover(client: Watched): Promise<void> {
    const limit = time.now + PATIENCE;
    if (client.it.state === 'ended') client.resume();
    let isAnswered = false;
    let waiting = false;
    while (!isAnswered) {
      law(
        time.now < limit,
        `with an honest hub the client works again, but it is ${client.it.state} because of ${client.causes.slice(-8)}`,
      );
      if (client.it.state === 'asking') {
        const code = client.asked?.error === undefined ? '' : (client.asked.error as { code?: string }).code;
        if (code === 'hub-key-changed') client.trust();
        else {
          if (code === 'psk-differs') this.#stored = forgetPsks(this.#stored);
          client.resume();
        }
      }
      if (!waiting) {
        waiting = true;
        client
          .asking(() => client.it.ask('hello'))
          .then(
            ({ reply, ending }) => {
              waiting = false;
              isAnswered = ending === 'handled' && reply.text === 'You said: hello';
            },
            () => {
              waiting = false;
            },
          );
      }
      await time.pass(this.#random.pick([100, 1000, 10_000]));
      client.check();
    }
    seen.answered++;
  }

  async #finish(): Promise<void> {
    await time.pass(150_000);
    for (const client of this.#clients) client.checkEnd();
    law(
      this.#running.every((count) => count() === 0),
      'after end nothing is derived',
    );
    law(time.clients === 0, `after end no timer is set, but: ${time.shown}`);
    law(open.size === 0 && pageSockets.size === 0, 'after end no socket is open');
    time.clear();
  }
}

/** A client whose events are held to the laws. */
class Watched {
  readonly it: Client;
  asked: AskEvent | undefined;
  /** The codes of what has ended its connections, and of what a person was asked. */
  readonly causes: string[] = [];
  /** What to do in listeners, by the event. */
  readonly acts = new Map<string, 'end' | 'resume' | 'ask' | 'send'>();
  #phase: 'new' | 'connecting' | 'ready' | 'closed' | 'ended' = 'new';
  /** It does not dial earlier. */
  #dueAt = 0;
  /** Whether the program or the person has asked for a connection since the last one. */
  #isWished = true;
  /** A question may end a pause, at once. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #questions = 0;

  constructor(it: Client) {
    this.it = it;
    const events = [
      'connecting',
      'deriving',
      'connect',
      'disclosure',
      'message',
      'speak',
      'envelope',
      'bytes',
      'close',
      'reconnect',
      'ask',
      'unsent',
      'dropped',
      'new-hub',
      'static-key-fresh',
      'hub-replaced',
      'end',
      'trace',
    ] as const;
    for (const type of events) it.on(type, (event) => this.#hear(event));
  }

  #hear(event: ClientEvent): void {
    const { type } = event;
    if (type === 'close' || type === 'ask') {
      this.causes.push((event.error as { code?: string }).code ?? event.error.message);
    }
    if (type !== 'trace') this.#showsNothing(event);
    law(this.#phase !== 'ended' || type === 'unsent' || type === 'trace', `after end comes no ${type}`);
    this.#follow(event);
    const act = this.acts.get(type);
    if (act === undefined || type === 'trace') return;
    this.acts.delete(type);
    if (act === 'end') this.end();
    else if (act === 'resume') this.resume();
    else if (act === 'ask') this.ask('hello');
    else this.try(() => this.it.send({ msg_type: 'bus', payload: { type: 'x', data: {}, context: {} } }));
  }

  #follow(event: ClientEvent): void {
    switch (event.type) {
      case 'connecting':
        seen.dials++;
        law(this.#phase === 'new' || this.#phase === 'closed', 'there is one connection');
        law(
          this.#isWished || time.now - this.#askedAt <= HURRY || time.now >= this.#dueAt,
          'it dials when the policy says',
        );
        this.#isWished = false;
        this.#phase = 'connecting';
        seen.sockets = Math.max(seen.sockets, open.size, pageSockets.size);
        return;
      case 'connect':
        seen.ready++;
        law(this.#phase === 'connecting', 'what is ready was connecting');
        this.#phase = 'ready';
        return;
      case 'message':
      case 'speak':
      case 'bytes':
      case 'envelope':
        law(this.#phase === 'ready', `${event.type} comes on a connection that is ready`);
        return;
      case 'close':
        law(this.#phase === 'connecting' || this.#phase === 'ready', 'what closes was open');
        this.#phase = 'closed';
        return;
      case 'reconnect':
        law(event.after >= 0 && event.after <= 600_000, 'a pause has its limit');
        this.#dueAt = time.now + event.after - 1;
        return;
      case 'ask':
        this.asked = event;
        this.#dueAt = time.now + event.after - 1;
        return;
      case 'end':
        this.#phase = 'ended';
        return;
      default: // nothing follows from the others
    }
  }

  /** No sentence and no error has a secret. */
  #showsNothing(event: ClientEvent): void {
    const { advice, error } = event as { advice?: string; error?: Error };
    const shown = `${advice} ${error?.message} ${error?.stack}`;
    law(!SECRETS.some((secret) => shown.includes(secret)), `a sentence of ${event.type} has no secret`);
  }

  check(): void {
    const { state } = this.it;
    law(state !== 'ready' || this.#phase === 'ready', 'what is ready was told');
    law(state !== 'ended' || this.#phase === 'ended' || this.#phase === 'new', 'what has ended was told');
  }

  checkEnd(): void {
    law(this.it.state === 'ended', 'end is final');
    law(this.#questions === 0, 'each question ends');
  }

  try(run: () => unknown): void {
    try {
      run();
    } catch (error) {
      law(
        (error as { code?: string }).code !== undefined,
        `a call throws errors of the library only, not ${error}`,
      );
    }
  }

  ask(text: string, options: { signal?: AbortSignal; timeout?: number } = {}): void {
    this.#wait(this.asking(() => this.it.ask(text, options)));
  }

  mesh(isAll: boolean): void {
    this.#wait(this.asking(() => (isAll ? this.it.cascade('hello') : this.it.query('hello'))));
  }

  asking<T>(ask: () => T): T {
    this.#askedAt = time.now;
    return ask();
  }

  #wait(answer: Promise<unknown>): void {
    this.#questions++;
    answer.then(
      () => this.#questions--,
      (error: Error & { advice?: string }) => {
        this.#questions--;
        const shown = `${error?.advice} ${error?.message}`;
        law(!SECRETS.some((secret) => shown.includes(secret)), 'an error of ask has no secret');
      },
    );
  }

  /** Listens to messages, for as long as it is not too slow. */
  async loop(): Promise<void> {
    const wait = async (): Promise<void> => {
      try {
        for await (const _ of this.it) await new Promise<void>((resolve) => time.after(100, resolve));
      } catch (error) {
        if ((error as { code?: string }).code !== 'wrong-state') throw error;
      }
    };
    void wait();
  }

  actWhen(type: string, act: 'end' | 'resume' | 'ask' | 'send'): void {
    this.acts.set(type, act);
  }

  end(): void {
    this.#isWished = false;
    this.it.end();
  }

  resume(): void {
    this.#isWished = true;
    if (this.#phase === 'ended') this.#phase = 'closed';
    this.it.resume();
  }

  trust(): void {
    if (this.it.state !== 'asking' || this.asked?.act !== 'trust') return;
    this.#isWished = true;
    if (this.#phase === 'connecting') this.#phase = 'closed'; // by the change, which does not tell it
    this.it.trust(this.asked);
  }
}
