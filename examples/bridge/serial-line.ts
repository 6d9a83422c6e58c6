/** The bridge's half of a line: asks each device in turn, and asks again when nothing comes. README.md describes the frames. */
import { randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';

const { encode, decode } = createRequire(import.meta.url)('./line.cjs') as {
  encode: (content: string) => string;
  decode: (frame: string) => string | undefined;
};

const BEGIN = 'b';
const MORE = 'm';
const END = 'e';
const QUERY = 'q';
const ALIVE = 'a';
const LOST = 'l';

const FROM_DEVICE = 128;
const HEADER = 4;
const ROOM = 240; // bytes that a device may answer
const LONGEST_FRAME = ROOM + 10;
const PATIENCE = 100; // milliseconds that a device may think before it answers
const BUSY = { first: 50, most: 1000 }; // milliseconds between the questions to a device that does not answer
const IDLE = { first: 5, most: 200 }; // milliseconds between the questions to a device that has nothing to say
const MAX_MESSAGE = 128 * 1024; // bytes, from a device
const MAX_WAITING = 16 * 1024; // bytes for a device, before its sender is asked to pause

type Timer = NodeJS.Timeout | number;

/** What the line needs of a Duplex. */
interface Stream {
  on(event: 'data' | 'close', listener: (bytes: Buffer) => void): unknown;
  write(bytes: Buffer): unknown;
  readonly destroyed: boolean;
}

export interface LineOptions {
  /** Bits a second. */
  readonly baud: number;
  /** A test's clock in place of Node's. */
  readonly clock?: {
    now(): number;
    setTimeout(run: () => void, milliseconds: number): Timer;
    clearTimeout(timer: Timer | undefined): void;
  };
}

/** What a bridge does with a device. Messages have a character for each byte. */
export interface DeviceHandler {
  /** The device or this line has started, so nothing of what was sent before will arrive. */
  begun(): void;
  received(message: string): void;
  /** All that was sent has arrived. */
  drained(): void;
}

/** A device on the line. */
export interface Device {
  /** @returns false if so much waits that the sender must pause until `drained` */
  send(message: string): boolean;
}

export class SerialLine {
  readonly #stream: Stream;
  readonly #baud: number;
  readonly #clock: NonNullable<LineOptions['clock']>;
  readonly #devices: Channel[] = [];
  /** The device that was asked last, until it answers. */
  #asked: Channel | undefined;
  #timer: Timer | undefined;
  #rest = '';

  constructor(stream: Stream, { baud, clock }: LineOptions) {
    this.#stream = stream;
    this.#baud = baud;
    this.#clock = clock ?? { now: () => performance.now(), setTimeout, clearTimeout };
    stream.on('data', (bytes: Buffer) => this.#receive(bytes.toString('latin1')));
    stream.on('close', () => this.#clock.clearTimeout(this.#timer));
  }

  /** Adds a device. `address` is 1 to 127. */
  add(address: number, handler: DeviceHandler): Device {
    const channel = new Channel(address, handler);
    this.#devices.push(channel);
    this.#next();
    return {
      send: (message) => {
        const mayGoOn = channel.send(message);
        this.#next();
        return mayGoOn;
      },
    };
  }

  #receive(bytes: string): void {
    const frames = (this.#rest + bytes).split('\0');
    this.#rest = frames.pop()!.slice(0, LONGEST_FRAME + 1);
    for (const frame of frames) {
      const answer = decode(frame);
      const from = this.#devices.find(({ address }) => answer?.charCodeAt(0) === address + FROM_DEVICE);
      if (answer === undefined || from === undefined) continue;
      const asked = this.#asked;
      this.#asked = from; // nothing is asked before this is done
      const isAnswered = from.take(answer, this.#clock.now());
      this.#asked = isAnswered && asked === from ? undefined : asked;
      this.#next();
    }
  }

  /** Asks the device that has waited longest, or waits until one is to be asked. */
  #next(): void {
    if (this.#asked !== undefined || this.#stream.destroyed) return;
    const [channel] = [...this.#devices].sort((a, b) => a.due - b.due);
    const now = this.#clock.now();
    if (channel!.due > now) {
      this.#wait(channel!.due - now, () => this.#next());
      return;
    }
    this.#asked = channel;
    const question = encode(channel!.question());
    const bits = 10 * (question.length + LONGEST_FRAME);
    this.#wait((bits * 1000) / this.#baud + PATIENCE, () => {
      channel!.missed(this.#clock.now());
      this.#asked = undefined;
      this.#next();
    });
    this.#stream.write(Buffer.from(question, 'latin1'));
  }

  #wait(milliseconds: number, run: () => void): void {
    this.#clock.clearTimeout(this.#timer);
    this.#timer = this.#clock.setTimeout(run, milliseconds);
  }
}

/** What has been said between the bridge and one device. */
class Channel {
  readonly address: number;
  /** When the device is to be asked, on the line's clock. */
  due = 0;
  readonly #handler: DeviceHandler;
  /** Until the device has answered a BEGIN, and when it has not answered a question. */
  #state: 'new' | 'open' | 'silent' = 'new';
  #nonce = '';
  /** The number of the last question, and the question itself, until it is answered. */
  #turn = 0;
  #question: string | undefined;
  /** Bytes that the device takes in one frame. */
  #room = 0;
  #outgoing: string[] = [];
  #incoming = '';
  #pause = 0;

  constructor(address: number, handler: DeviceHandler) {
    this.address = address;
    this.#handler = handler;
    this.#begin();
  }

  send(message: string): boolean {
    this.#outgoing.push(message);
    if (this.#state === 'open') this.due = 0;
    return this.#outgoing.join('').length <= MAX_WAITING;
  }

  question(): string {
    if (this.#state === 'silent') return this.#content(QUERY, ''); // short, since it may wait in the device's buffer
    this.#question ??= this.#next();
    return this.#question;
  }

  /** The device has not answered: it computes, or something was lost. */
  missed(now: number): void {
    if (this.#state === 'open') this.#state = 'silent';
    this.#rest(now, BUSY);
  }

  /** Takes what the device says. @returns whether it answers the last question */
  take(answer: string, now: number): boolean {
    const kind = answer[1];
    const payload = answer.slice(4);
    if (kind === LOST && this.#state !== 'new') {
      this.#begin();
    } else if (kind === BEGIN && this.#state === 'new' && payload === this.#nonce) {
      this.#outgoing = [];
      this.#answered(answer);
      this.#handler.begun();
    } else if (kind === ALIVE && this.#state === 'silent') {
      this.#state = 'open'; // ask the question again
      this.due = 0;
    } else if ((kind === MORE || kind === END) && this.#isAnswer(answer)) {
      const isIdle = kind === END && payload === '' && this.#question!.length === HEADER;
      this.#answered(answer);
      if (isIdle) this.#rest(now, IDLE);
      else this.#pause = 0;
      this.#incoming += payload;
      if (this.#incoming.length > MAX_MESSAGE) this.#begin();
      else if (kind === END) this.#deliver();
    } else {
      return false; // it was said before
    }
    return true;
  }

  #begin(): void {
    this.#state = 'new';
    this.#nonce = randomBytes(4).toString('latin1');
    this.#turn = 0;
    this.#question = this.#content(BEGIN, this.#nonce);
    this.#incoming = '';
    this.due = 0;
  }

  #isAnswer(answer: string): boolean {
    return this.#state !== 'new' && this.#question !== undefined && answer.charCodeAt(2) === this.#turn;
  }

  #answered(answer: string): void {
    this.#state = 'open';
    this.#room = Math.min(answer.charCodeAt(3), ROOM);
    this.#question = undefined;
    this.#turn = (this.#turn + 1) & 255;
    this.due = 0;
  }

  #deliver(): void {
    const message = this.#incoming;
    this.#incoming = '';
    if (message !== '') this.#handler.received(message);
    if (this.#outgoing.length === 0) this.#handler.drained();
  }

  /** A question with as much of the next message as the device takes. */
  #next(): string {
    const [message = ''] = this.#outgoing;
    const part = message.slice(0, this.#room);
    const isEnd = part.length === message.length;
    if (isEnd) this.#outgoing.shift();
    else this.#outgoing[0] = message.slice(this.#room);
    return this.#content(isEnd ? END : MORE, part);
  }

  #content(kind: string, payload: string): string {
    return String.fromCharCode(this.address) + kind + String.fromCharCode(this.#turn, ROOM) + payload;
  }

  #rest(now: number, { first, most }: typeof IDLE): void {
    this.#pause = Math.min(most, Math.max(first, 2 * this.#pause));
    this.due = now + this.#pause;
  }
}
