/**
 * A hub in this page, so that both sides of a session run without a server. `WebSocket` leads to it at its address, and to the
 * network at any other. What a hub stores, its own key and that of its client, is in localStorage.
 */
import { HubSession, readHubEvent } from 'hub-protocol';
import { jsCrypto as crypto } from 'hub-protocol/js';
import { Assistant } from 'hub-protocol-client/assistant';

const ADDRESS = 'wss://hub.invalid'; // a name that no DNS has (RFC 6761, section 6.4)
const NODE_ID = 'hub.example';
const PASSWORD = 'correct horse battery staple';
/** Argon2id of the password at this node id, as `hub-protocol psk --node-id hub.example` prints it. */
const PSK = fromHex('ea4994d64f7a6767e30a416205bebf443cdda04d4ee12fd28d3ee1adf528db82');
const NAME = 'hub-in-page';
const DELAY = 10; // milliseconds on the way
const LOST = 1006; // RFC 6455, section 7.4.1
/** What the hub tells whoever asks for a story, a sentence at a time, until the client says stop. */
const STORY = [
  'Once there was a kiosk.',
  'It asked a hub for the time.',
  'The hub told it.',
  'They still talk.',
];
const SENTENCE = 1500; // milliseconds

const randomBytes = (length) => globalThis.crypto.getRandomValues(new Uint8Array(length));

export class HubInPage {
  isRunning = true;
  /** @type {{ accessKey: string, staticKey: string, clientKey?: string }} */
  #stored = JSON.parse(localStorage.getItem(NAME)) ?? {
    accessKey: toHex(randomBytes(8)),
    staticKey: toHex(randomBytes(32)),
  };
  #sockets = new Set();

  constructor() {
    this.#store({});
    globalThis.WebSocket = new Proxy(WebSocket, {
      construct: (Network, [url]) => (url.startsWith(ADDRESS) ? this.#accept() : new Network(url)),
    });
  }

  /** Of its only client, as issued. */
  get identity() {
    return {
      access_key: this.#stored.accessKey,
      password: PASSWORD,
      site_id: 'lobby',
      data_plane_endpoints: { wss: ADDRESS },
      ai_disclosure:
        'You are talking to a program in this page, in place of an AI assistant. It tells a story, and repeats all else that you say. Do not rely on it for medical, legal, financial or emergency decisions.',
    };
  }

  start() {
    this.isRunning = true;
  }

  stop() {
    this.isRunning = false;
    this.cut();
  }

  /** Drops the connections without a word, as networks do. */
  cut() {
    for (const socket of this.#sockets) socket.lose();
  }

  renewKey() {
    this.#store({ staticKey: toHex(randomBytes(32)) });
    this.cut();
  }

  /** What an operator does for a client that has lost its keyring. */
  forgetClient() {
    this.#store({ clientKey: undefined });
    this.cut();
  }

  #accept() {
    const { staticKey, clientKey } = this.#stored;
    const session = new HubSession({
      ...{ crypto, randomBytes, nodeId: NODE_ID, psk: PSK },
      staticKey: fromHex(staticKey),
      clientKey: clientKey === undefined ? undefined : fromHex(clientKey),
    });
    const socket = new Socket(session, {
      pin: (key) => this.#store({ clientKey: toHex(key) }),
      gone: () => this.#sockets.delete(socket),
    });
    this.#sockets.add(socket);
    if (this.isRunning) socket.open();
    else socket.lose();
    return socket;
  }

  #store(changed) {
    this.#stored = { ...this.#stored, ...changed };
    localStorage.setItem(NAME, JSON.stringify(this.#stored));
  }
}

/** Both ends of a WebSocket: the client's, as far as it is used, and that of the hub's session. */
class Socket {
  binaryType = 'blob';
  bufferedAmount = 0;
  onopen = () => {};
  onmessage = (_message) => {};
  onclose = (_closing) => {};
  #session;
  #assistant;
  #hub;
  #isOpen = true;
  /** Of a story, until the next sentence. */
  #telling;

  constructor(session, hub) {
    this.#session = session;
    this.#assistant = new Assistant(session);
    this.#hub = hub;
  }

  open() {
    this.#later(() => {
      this.onopen();
      this.#handle(this.#session.start());
    });
  }

  /** The client sends. */
  send(data) {
    const sent = typeof data === 'string' ? data : data.slice();
    this.#later(() => this.#handle(this.#session.receive(sent)));
  }

  /** The client closes. */
  close() {
    this.#end(1005);
  }

  lose() {
    this.#end(LOST);
  }

  #handle(events) {
    for (const event of events) {
      if (event.type === 'transmit') this.#deliver(event.data);
      else if (event.type === 'pin') this.#hub.pin(event.key);
      else if (event.type === 'close') this.#end(event.code);
      const request =
        event.type === 'message' && event.kind === 'json' ? readHubEvent(event.text) : undefined;
      if (request?.type === 'mycroft.stop') clearTimeout(this.#telling);
      else if (/\bstory\b/i.test(String(request?.data.utterances)))
        this.#tell(request.payload.context, STORY);
      else for (const message of this.#assistant.handle(event)) this.#deliver(message);
    }
  }

  /**
   * Tells the rest of a story.
   * @param {string[]} sentences
   */
  #tell(context, sentences) {
    const [utterance, ...rest] = sentences;
    if (!this.#isOpen) return;
    const [type, data] = utterance === undefined ? ['ovos.utterance.handled', {}] : ['speak', { utterance }];
    const payload = { type, data, context };
    for (const message of this.#session.sendJson({ msg_type: 'bus', payload })) this.#deliver(message);
    if (utterance !== undefined) this.#telling = setTimeout(() => this.#tell(context, rest), SENTENCE);
  }

  /** @param {string | Uint8Array} sent */
  #deliver(sent) {
    const data = typeof sent === 'string' ? sent : sent.slice().buffer;
    this.#later(() => this.onmessage({ data }));
  }

  #end(code) {
    this.#later(() => {
      this.#isOpen = false;
      this.#hub.gone();
      this.#session.closed(code);
      this.onclose({ code, reason: '' });
    });
  }

  /** After what is on its way already. */
  #later(act) {
    setTimeout(() => this.#isOpen && act(), DELAY);
  }
}

/** @param {Uint8Array} bytes */
function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** @param {string} digits */
function fromHex(digits) {
  return Uint8Array.from(digits.match(/../g), (pair) => Number.parseInt(pair, 16));
}
