/**
 * Prints one line for each event: the time, the side, the action, and the number of bytes. A terminal shows the progress of
 * slow work; elsewhere there are whole lines only.
 */
import { fingerprint } from 'hub-protocol';
import type { Answer, Traced } from 'hub-protocol-client';
import { nameOf } from './message-name.ts';

const isTerminal = process.stdout.isTTY === true;
const hasColor = isTerminal && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, cyan] = [paint(1), paint(2), paint(31), paint(32), paint(36)];

export type Side = 'client' | 'hub' | 'client → hub' | 'hub → client' | '';

/** What a client can be waited for. */
type Name = Extract<Traced, { type: string }>['type'] | Extract<Traced, { do: string }>['do'];

export class Timeline {
  readonly #began = performance.now();
  /** Transport messages in one direction that are not printed yet, combined: a large message takes one line. */
  #burst = { side: '' as Side, count: 0, bytes: 0, at: 0 };
  #ticking: NodeJS.Timeout | undefined;
  #waiting: { name: string; resolve: () => void }[] = [];
  /** How connections began and ended: patterns and error codes. */
  readonly outcome: string[] = [];

  constructor() {
    console.log(
      dim('Each line: seconds since the start, who acts, what happens, and the size of a message.'),
    );
  }

  chapter(title: string): void {
    this.#flush();
    console.log(`\n${bold(title)}`);
  }

  line(side: Side, what: string, detail = ''): void {
    this.#flush();
    this.#print(performance.now(), side, what, detail);
  }

  /** Prints an answer, and a sentence if it is missing or incomplete. */
  answer({ reply, tell }: Answer): void {
    if (reply.text !== '') this.line('hub', `replies: ${reply.text}`);
    if (tell !== undefined) this.line('client', tell);
  }

  /** Prints the reason for waiting. A terminal counts the seconds until the next line. */
  wait(side: Side, what: string): void {
    this.line(side, what);
    if (!isTerminal) return;
    const from = performance.now();
    this.#ticking = setInterval(() => {
      process.stdout.write(
        `\r${' '.repeat(25)}${cyan(`${((performance.now() - from) / 1000).toFixed(1)} s`)}`,
      );
    }, 100);
  }

  /** Runs slow work, with a bar on a terminal. */
  async progress<Result>(
    side: Side,
    what: string,
    run: (onProgress: (progress: number) => void) => Promise<Result>,
  ): Promise<Result> {
    this.line(side, `${what} …`);
    const began = performance.now();
    const result = await run((progress) => {
      if (!isTerminal) return;
      const filled = Math.round(progress * 30);
      const bar = cyan('█'.repeat(filled)) + dim('░'.repeat(30 - filled));
      process.stdout.write(`\r${' '.repeat(25)}${bar} ${Math.round(progress * 100)} %`);
    });
    if (isTerminal) process.stdout.write('\r\x1b[K');
    this.line(side, 'done', `${Math.round(performance.now() - began)} ms`);
    return result;
  }

  /** Waits for an event of a client, or for a decision of its policy. */
  next(name: Name): Promise<void> {
    return new Promise((resolve) => this.#waiting.push({ name, resolve }));
  }

  /** Takes a traced event of a client. */
  event(event: Traced): void {
    this.#show(event);
    if ('type' in event && event.type === 'ready') this.outcome.push(event.pattern);
    if ('type' in event && event.type === 'ended') this.outcome.push(event.error.code);
    const name = 'do' in event ? event.do : event.type;
    for (const one of this.#waiting) if (one.name === name) one.resolve();
    this.#waiting = this.#waiting.filter((one) => one.name !== name);
  }

  #show(event: Traced): void {
    if ('do' in event) {
      if (event.do === 'dial')
        this.line(
          'client',
          event.after === 0 ? 'dials again immediately' : `dials again in ${event.after} ms`,
        );
      if (event.do === 'ask') this.line('client', red('asks a person:'), event.error.message);
    } else if (event.type === 'transmit') this.#message('client → hub', event.data);
    else if (event.type === 'received') this.#message('hub → client', event.data);
    else if (event.type === 'pin')
      this.line('client', green('pin: stores the hub’s key'), fingerprint(event.key));
    else if (event.type === 'psk') this.line('client', green('psk: stores the pre-shared key'));
    else if (event.type === 'psk-suspect')
      this.line('client', red('psk-suspect: derives the pre-shared key again next time'));
    else if (event.type === 'ready') {
      this.line('client', green(`ready: ${event.pattern}, ${event.suite}`), fingerprint(event.hubKey));
    } else if (event.type === 'close') this.line('client', red(`${event.error.code}: closes`));
    else if (event.type === 'ended') this.line('client', `ended: ${event.reason} (${event.error.code})`);
  }

  #message(side: Side, data: string | Uint8Array): void {
    const bytes = Buffer.byteLength(data);
    const name = nameOf(data, side === 'hub → client');
    if (name !== undefined) {
      this.line(side, name, size(bytes));
      return;
    }
    if (this.#burst.side !== side) this.#flush();
    const { count, bytes: before } = this.#burst;
    this.#burst = { side, count: count + 1, bytes: before + bytes, at: performance.now() };
  }

  #flush(): void {
    const { side, count, bytes, at } = this.#burst;
    this.#burst = { side: '', count: 0, bytes: 0, at: 0 };
    if (count === 0) return;
    this.#print(at, side, count === 1 ? 'transport message' : `${count} transport messages`, size(bytes));
  }

  #print(at: number, side: Side, what: string, detail: string): void {
    if (this.#ticking !== undefined) process.stdout.write('\r\x1b[K');
    clearInterval(this.#ticking);
    this.#ticking = undefined;
    const time = `${((at - this.#began) / 1000).toFixed(3)} s`;
    console.log(`${dim(time.padStart(9))}  ${cyan(side.padEnd(12))}  ${what}${detail && `  ${dim(detail)}`}`);
  }
}

function size(bytes: number): string {
  return `${bytes.toLocaleString('en').replace(/,/g, ' ')} B`;
}
