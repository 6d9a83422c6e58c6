/**
 * A client talks to its hub once, with the keyring in memory: nothing is stored, and without the private key of the client the
 * handshake ends before the hub learns the key, so that it pins none.
 */
import {
  type Answer,
  type Client,
  connect as connectOverWebSocket,
  type KeyringStore,
  type NodeOptions,
} from 'hub-protocol-client';
import { asSentence, causeOfStatus, sentenceOfCause } from 'hub-protocol-client/causes';
import { connect as connectOverHttps } from 'hub-protocol-client/https';
import {
  createKeyring,
  type Envelope,
  findHub,
  fingerprint,
  type Identity,
  JsonNumber,
  type Keyring,
  type NoiseSelection,
  nodeCrypto,
  OFFERED_SUITES,
  ownField,
  parseEnvelope,
  printable,
  RemoteError,
  randomBytes,
  readNodeId,
  readOffer,
  selectNoise,
  storePsk,
  updateKeyring,
} from 'hub-protocol-judge/internals';
import { show } from './derive.ts';
import { DOCTOR_NAME, Fault, type Server } from './reach.ts';
import { shown, shownList } from './shown.ts';
import { LONGEST } from './talk.ts';

/** An envelope, and its text as received. */
export interface Received extends Envelope {
  readonly text: string;
}

/** The hub's messages before the handshake, as far as they came. */
export interface Greeting {
  hello?: Received;
  offer?: Received;
}

export interface Conversation {
  readonly identity: Identity;
  readonly protocol: 'wss' | 'https';
  readonly server: Server;
  readonly allowPlaintext: boolean;
  /** The client's, if there is one. */
  readonly keyring: Keyring | undefined;
  readonly question: string | undefined;
  /** Hides the access key. */
  hide(text: string): string;
  /** Is completed as messages come. */
  readonly greeting: Greeting;
  /** Called when a step has passed. */
  pass(step: string, text: string): void;
}

/** The client waits until this program ends it. */
const NONE = { 'awaiting-hello': LONGEST, 'awaiting-offer': LONGEST, 'awaiting-message-2': LONGEST };
/** The time in which a hub that refuses the client's key ends the connection, in milliseconds. */
const DOUBT = 1000;

/**
 * Talks to the hub until an answer, a refusal or a fault.
 * @throws Fault
 */
export function converse(conversation: Conversation): Promise<void> {
  return new Promise((resolve, reject) => new Talk(conversation, resolve, reject));
}

class Talk {
  readonly #given: Conversation;
  readonly #resolve: () => void;
  readonly #reject: (fault: Fault) => void;
  readonly #store: KeyringStore;
  readonly #client: Client;
  /** The step of which the result is awaited. */
  #awaited: string;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** How the transport has ended. */
  #closing: { readonly code: number | undefined; readonly status: number | undefined } | undefined;

  constructor(given: Conversation, resolve: () => void, reject: (fault: Fault) => void) {
    const { identity, protocol, keyring, allowPlaintext, server, question } = given;
    this.#given = given;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#store = inMemory(keyring, identity.accessKey);
    this.#awaited = upgradeOf(protocol);
    const options: NodeOptions = {
      identity,
      socket: server.socket,
      allowPlaintext,
      userAgent: DOCTOR_NAME,
      keyring: this.#store,
      session: { patterns: ['XXpsk2'] }, // a failed KKpsk0 does not say why
      policy: { deadlines: NONE },
      requests: { deadlines: { idle: LONGEST } },
      // Asked for before the message with the client's key is made, when the hub has proved that it knows the password.
      sharedSecret: async () => {
        this.#prove(undefined);
        this.#end();
        throw new Error('the handshake ends here');
      },
    };
    this.#client = (protocol === 'https' ? connectOverHttps : connectOverWebSocket)(options);
    this.#client.on('trace', ({ what }) => {
      if (!('type' in what)) return; // a decision of the policy
      if (what.type === 'received') this.#receive(what.data);
      else if (what.type === 'psk-needed' || what.type === 'transmit') this.#begin();
      else if (what.type === 'pin') this.#prove(what.key);
      else if (what.type === 'ended') this.#closing = what;
    });
    this.#client.on('deriving', ({ progress }) => {
      show(progress, 'deriving the pre-shared key');
      this.#wait(); // this machine works, and the hub waits
    });
    this.#client.on('connect', ({ hubKey }) => {
      this.#prove(hubKey);
      if (question !== undefined) this.#awaited = 'answer';
      else this.#wait(DOUBT, () => this.#admit());
    });
    const fail = (event: { error: Error & { code?: string }; advice: string }): void => this.#fail(event);
    this.#client.on('close', fail).on('ask', fail);
    this.#client.on(
      'disclosure',
      ({ text = 'The identity has no text in English that says that an AI answers.' }) =>
        console.error(printable(text)),
    );
    if (question !== undefined) {
      this.#client.ask(question, { timeout: LONGEST }).then(
        (answer) => this.#answer(answer),
        () => {}, // `close` says why
      );
    }
    this.#wait();
  }

  #end(fault?: Fault): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    show(1, '');
    this.#client.end();
    if (fault === undefined) this.#resolve();
    else this.#reject(fault);
  }

  #wait(time: number = this.#given.server.timeout, then = (): void => this.#end(this.#late())): void {
    clearTimeout(this.#timer);
    if (!this.#isOver) this.#timer = setTimeout(then, time);
  }

  /** A step has passed, and another result is awaited. */
  #pass(step: string, text: string, next: string): void {
    if (this.#isOver) return;
    this.#given.pass(step, text);
    this.#awaited = next;
    this.#wait();
  }

  #receive(data: string | Uint8Array): void {
    const { protocol, greeting, hide, pass } = this.#given;
    this.#open(protocol);
    if (this.#awaited !== 'greeting' && this.#awaited !== 'protocol') return;
    read(data, greeting);
    const nodeId = nodeIdOf(greeting);
    if (nodeId === undefined) return;
    pass('greeting', `the hub is ${shown(hide(nodeId))}`);
    if (this.#awaited === 'greeting') this.#pass('access key', 'the hub greets this client', 'protocol');
  }

  #open(protocol: 'wss' | 'https'): void {
    const upgrade = upgradeOf(protocol);
    const what = protocol === 'wss' ? 'WebSockets' : 'requests';
    if (this.#awaited === upgrade) this.#pass(upgrade, `the server accepts ${what}`, 'greeting');
  }

  #begin(): void {
    if (this.#awaited === 'protocol') this.#pass('protocol', offerText(this.#given), 'password');
  }

  /** The hub has proved that it knows the password, and its key is not another than the pinned one. */
  #prove(key: Uint8Array | undefined): void {
    if (this.#awaited !== 'password') return;
    const { keyring, greeting } = this.#given;
    const pin = keyring && findHub(keyring.pins, nodeIdOf(greeting)!);
    const shownKey = fingerprint(pin?.key ?? key!);
    this.#pass('password', 'the hub has the same', 'pin');
    const text = pin === undefined ? 'none yet, and this command adds none' : 'as before';
    this.#pass('pin', `${text}; the hub’s key is ${shownKey}`, 'session');
  }

  #admit(): void {
    this.#accept();
    this.#end();
  }

  #accept(): void {
    this.#given.pass('session', 'the hub accepts this client and its key');
  }

  #answer({ ending, tell, advice, reply }: Answer): void {
    if (this.#isOver) return;
    this.#accept();
    if (tell === undefined) this.#given.pass('answer', shown(this.#given.hide(reply.text)));
    this.#end(tell === undefined ? undefined : new Fault(ending, `${tell} ${advice}`, { step: 'answer' }));
  }

  #fail({ error, advice }: { error: Error & { code?: string }; advice: string }): void {
    if (this.#isOver) return;
    const { code = 'other', message } = error;
    const { protocol, server, pass } = this.#given;
    const { code: closeCode, status } = this.#closing ?? {};
    if (closeCode !== undefined && closeCode !== LOST) this.#open(protocol);
    if (code === 'hub-key-changed') pass('password', 'the hub has the same');
    const step = stepOf(code, status) ?? this.#awaited;
    const finding = status === undefined ? undefined : causeOfStatus(status);
    const { platformCode } = error as { platformCode?: string };
    const text = finding
      ? sentenceOfCause(finding, server.place)
      : this.#sentence(step, code, message, advice, status);
    this.#end(new Fault(finding?.cause ?? code, text, { step, platformCode }));
  }

  #sentence(step: string, code: string, message: string, advice: string, status: number | undefined): string {
    const { keyring, greeting } = this.#given;
    const own = fingerprint(this.#store.load().staticKey.publicKey!);
    // Without a keyring, the client's key was made for this command alone: no operator will see it.
    const told = keyring === undefined && advice.includes(own) ? asSentence(message) : advice;
    if (code === 'hub-key-changed') return `${told} “ask” and “chat” ask you whether to.`;
    if (code === 'protocol-version') return `${told} ${versionsOf(greeting)}`;
    if (status !== undefined && !told.includes(`HTTP ${status}`))
      return `${told} The server answered with HTTP ${status}.`;
    if (step !== 'greeting' || code === 'dropped') return told;
    return `${told} This may not be a hub: check the address.`;
  }

  #late(): Fault {
    const step = this.#awaited;
    if (step === 'answer') this.#accept(); // a hub that refuses the key does not wait
    const time = `within ${this.#given.server.timeout / 1000} s`;
    return new Fault('timeout', LATE[step]!(time), { step });
  }
}

/** The close code of a connection that was lost. */
const LOST = 1006;

/** What to say if the result of a step does not come in time. A hub cannot be silent in the others. */
const LATE: { readonly [step: string]: (time: string) => string } = {
  upgrade: (time) =>
    `Neither a WebSocket nor a HELLO ${time}. Is this a hub? Check the port. Some hubs stay silent if they find the password weak.`,
  HTTP: (time) => `No response of a hub ${time}. Check the port and the path.`,
  protocol: (time) =>
    `No HANDSHAKE ${time} after the HELLO: most likely the hub does not speak protocol 3. Update it.`,
  password: (time) => `The hub did not answer the handshake ${time}. Look for the reason in the hub’s log.`,
  answer: (time) => `No answer ${time}. If the hub is slow, wait longer with --timeout.`,
};

/** The step that an error belongs to, whatever has passed. */
function stepOf(code: string, status: number | undefined): string | undefined {
  if (code === 'access-refused' && status === undefined) return 'access key';
  return { 'hub-key-changed': 'pin', 'client-key-refused': 'session' }[code];
}

/** The name of the step in which the server accepts the connection. */
export function upgradeOf(protocol: 'wss' | 'https'): string {
  return protocol === 'wss' ? 'upgrade' : 'HTTP';
}

/** The protocols that a hub without protocol 3 offers. */
function versionsOf({ offer }: Greeting): string {
  const [first, last] = ['min_protocol_version', 'max_protocol_version'].map((name) => {
    const version = offer && ownField(offer.payload, name);
    const number = version instanceof JsonNumber ? version.valueOf() : version;
    return typeof number === 'number' ? number : undefined;
  });
  if (last === undefined) return 'This hub names no version.';
  return first === undefined || first === last
    ? `This hub speaks version ${last}.`
    : `This hub speaks versions ${first} to ${last}.`;
}

/** Keeps a message if it is the HELLO or the HANDSHAKE. If it is neither, the session says so. */
function read(data: string | Uint8Array, greeting: Greeting): void {
  if (typeof data !== 'string') return;
  try {
    const received = { ...parseEnvelope(data), text: data };
    if (received.type === 'hello')
      greeting.hello = received; // the latest counts
    else if (received.type === 'shake') greeting.offer = received;
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
  }
}

export function nodeIdOf({ hello }: Greeting): string | undefined {
  try {
    return hello && readNodeId(hello.payload);
  } catch (error) {
    if (error instanceof RemoteError) return undefined;
    throw error;
  }
}

/** What a hub offers, and what a client chooses of it, as far as both can be read. */
export interface Offers {
  readonly patterns?: readonly string[];
  readonly suites?: readonly string[];
  readonly chosen?: NoiseSelection;
}

export function offersOf(greeting: Greeting, keyring: Keyring | undefined): Offers {
  let offers: Offers = {};
  try {
    if (greeting.offer === undefined) return offers;
    const { patterns, suites } = readOffer(greeting.offer.payload);
    offers = { patterns, suites };
    const pinned = findHub(keyring?.pins ?? [], nodeIdOf(greeting) ?? '') !== undefined;
    return { ...offers, chosen: selectNoise({ patterns, suites }, { suites: OFFERED_SUITES, pinned }) };
  } catch (error) {
    if (error instanceof RemoteError) return offers;
    throw error;
  }
}

function offerText({ greeting, keyring, hide }: Conversation): string {
  const { patterns = [], suites = [], chosen } = offersOf(greeting, keyring);
  const [first, second] = [patterns, suites].map((names) => shownList(names.map(hide)));
  return `version 3, ${first}, ${second}; a client chooses ${chosen?.pattern} with ${chosen?.suite}`;
}

/** A store in memory, with the client's key, its pins, and the PSKs that were provisioned: the others must be right again. */
function inMemory(keyring: Keyring | undefined, accessKey: string): KeyringStore {
  const { privateKey, publicKey = nodeCrypto.x25519.publicKey(privateKey ?? randomBytes(32)) } =
    keyring?.staticKey ?? {};
  const staticKey = privateKey === undefined ? { publicKey } : { privateKey, publicKey };
  let kept = createKeyring({ accessKey, staticKey, crypto: nodeCrypto });
  for (const { nodeId, key } of keyring?.pins ?? []) kept = updateKeyring(kept, { type: 'pin', nodeId, key });
  for (const { nodeId, key, isProvisioned } of keyring?.psks ?? []) {
    if (isProvisioned) kept = storePsk(kept, nodeId, key, { isProvisioned });
  }
  return {
    load: () => kept,
    update(change) {
      kept = change(kept);
    },
  };
}
