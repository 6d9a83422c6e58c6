/** Draws the messages between this page and the hub as a sequence, each with its name, size and time. */
import { readHubEvent } from 'hub-protocol';
import { nameOf } from '../message-name.ts';
import { fingerprint, hex } from './fingerprint.js';

/**
 * @import { Traced } from 'hub-protocol-client/browser'
 * @import { PolicyDecision } from 'hub-protocol/parts'
 */

const LONGEST = 300; // rows; the oldest ones go
const SHOWN = 64; // bytes of an encrypted message
const LOST = 1006; // the close code of a connection that ended without a close frame (RFC 6455, section 7.4.1)

const byId = (id) => document.getElementById(id);
const pretty = (json) => JSON.stringify(json, undefined, 2);
const seconds = (milliseconds) => `${(milliseconds / 1000).toFixed(3)} s`;

export class Sequence {
  #connections = 0;
  #began = 0;
  #derivation;
  #isReached = false; // whether the hub has said anything on this connection
  /** The last encrypted message in each direction: what it contains is told after it. */
  #sealed = {};

  /**
   * The drawing function for each type of event and each decision of the policy.
   * @type {{ [what in 'connecting' | Extract<Traced, { type: string }>['type'] | PolicyDecision['do']]?: (what: any) => void }}
   */
  #draw = {
    connecting: () => {
      this.#began = performance.now();
      this.#sealed = {};
      this.#isReached = false;
      this.#note('connection', `Connection ${++this.#connections}`);
    },
    transmit: ({ data }) => this.#message('to-hub', data),
    received: ({ data }) => {
      this.#isReached = true;
      this.#message('from-hub', data);
    },
    sent: ({ envelope }) =>
      unseal(this.#sealed['to-hub'], envelope.payload.type ?? envelope.msg_type, pretty(envelope)),
    message: ({ text }) => {
      if (text === undefined) return; // binary
      unseal(this.#sealed['from-hub'], readHubEvent(text)?.type ?? 'JSON', formatted(text));
    },
    'psk-needed': () => {
      const note = this.#note('work', 'Derives the pre-shared key from the password …');
      this.#derivation = { began: performance.now(), note };
    },
    psk: () => this.#note('good', 'Stores the pre-shared key'),
    'psk-suspect': () => this.#note('bad', 'Derives the pre-shared key again next time'),
    pin: ({ key }) => this.#note('good', `Pins the hub’s key: ${fingerprint(key)}`),
    ready: ({ pattern, suite }) => this.#note('good', `Ready: ${pattern}, ${suite}`),
    ended: ({ code, reason, error }) => {
      if (error.code === 'not-reachable' || (code === LOST && !this.#isReached)) {
        this.#note('bad', 'No hub answers: check the address, whether the hub runs, and its certificate');
        return;
      }
      if (code !== LOST) this.#closing(code);
      const how = code === LOST ? 'The connection is lost' : 'Ended';
      this.#note('bad', `${how}: ${reason === error.code ? reason : `${reason}, ${error.code}`}`);
    },
    dial: ({ after }) =>
      this.#note('policy', after === 0 ? 'Connects again at once' : `Connects again in ${seconds(after)}`),
    ask: () => this.#note('policy', 'Your decision'),
    rest: () => this.#note('policy', 'Rests, until a person connects'),
  };

  /** Takes an event of the client. */
  show(what) {
    this.#draw[what.type ?? what.do]?.(what);
  }

  /** Shows how long the derivation took, when it is over. */
  derived() {
    const { note, began } = this.#derivation;
    note.textContent = `Derives the pre-shared key from the password: ${seconds(performance.now() - began)}`;
  }

  #message(direction, data) {
    const isSealed = typeof data !== 'string';
    const bytes = isSealed ? data : new TextEncoder().encode(data);
    const row = this.#arrow(direction, isSealed ? 'sealed' : 'clear');
    const part = (name) => row.querySelector(name);
    part('.name').textContent = isSealed ? 'Encrypted' : (nameOf(data, direction === 'from-hub') ?? 'Text');
    part('.size').textContent = `${bytes.length.toLocaleString('en').replaceAll(',', ' ')} B`;
    part('pre').textContent = isSealed ? excerpt(bytes) : formatted(data);
    if (!isSealed) return;
    if (direction === 'to-hub' && !this.#sealed[direction]) part('.inside').textContent = 'HELLO';
    this.#sealed[direction] = row;
  }

  /** @param code - of the hub's close frame; `undefined` if this page closed */
  #closing(code) {
    const row = this.#arrow(code === undefined ? 'to-hub' : 'from-hub', 'closing');
    row.querySelector('.name').textContent = 'Close';
    row.querySelector('.inside').textContent = code ?? '';
    row.querySelector('pre').textContent =
      'A close frame of the WebSocket. It does not say what went wrong: the peer learns nothing.';
  }

  #arrow(direction, kind) {
    const row = this.#add('message', direction, kind);
    row.querySelector('.heard').textContent = direction === 'to-hub' ? 'To the hub:' : 'From the hub:';
    return row;
  }

  #note(kind, text) {
    const note = this.#add('note', kind).querySelector('p');
    note.textContent = text;
    return note;
  }

  /** Adds a row. The view follows, unless a person has scrolled back. */
  #add(template, ...classes) {
    const [list, scroll] = [byId('sequence'), byId('scroll')];
    const row = byId(template).content.firstElementChild.cloneNode(true);
    row.classList.add(...classes);
    row.querySelector('time').textContent = seconds(performance.now() - this.#began);
    byId('nothing').hidden = true;
    const follows = scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight < 100;
    list.append(row);
    if (list.childElementCount > LONGEST) list.firstElementChild.remove();
    if (follows) scroll.scrollTop = scroll.scrollHeight;
    return row;
  }
}

/** Shows the contents of an encrypted message. */
function unseal(row, type, content) {
  row.querySelector('.inside').textContent = type;
  row.querySelector('pre').textContent += `\n\nDecrypted:\n${content}`;
}

function formatted(text) {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}

function excerpt(bytes) {
  return hex(bytes.subarray(0, SHOWN)) + (bytes.length > SHOWN ? ' …' : '');
}
