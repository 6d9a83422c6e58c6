/** Prints what happens on a connection, one line each: time, direction, message, bytes. Slow work gets a progress bar. */
import type { SessionEvent } from 'hub-protocol';

/** An event of a ClientSession, or a message from the hub. */
export type Observed = SessionEvent | { type: 'received'; data: string | Uint8Array };

const isTerminal = process.stdout.isTTY === true;
const hasColor = isTerminal && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, cyan] = [paint(1), paint(2), paint(31), paint(32), paint(36)];

const LEGEND = `→ to the hub   ← from the hub   ● in the client   ■ in the hub   ✗ the end
Times are in milliseconds since the last line with ○.`;

export class Timeline {
  /** When the present connection began; `undefined` while there is none. */
  #began: number | undefined;
  /** Transport messages in one direction that are not printed yet, so that a large message takes one line. */
  #burst = { arrow: '', count: 0, bytes: 0, at: 0 };

  legend(): void {
    console.log(dim(LEGEND));
  }

  chapter(title: string): void {
    this.#flush();
    console.log(`\n${bold(title)}`);
    this.#began = undefined;
  }

  /** Begins to count the time. */
  start(what: string): void {
    this.#flush();
    this.#began = performance.now();
    this.#print(this.#began, `○ ${what}`, '');
  }

  note(text: string): void {
    this.#line(`  ${text}`, '');
  }

  event(event: Observed): void {
    if (event.type === 'transmit') this.#message('→', event.data);
    else if (event.type === 'received') this.#message('←', event.data);
    else if (event.type === 'pin')
      this.#line(`● ${green('pin: stores the hub’s key')}`, fingerprint(event.key));
    else if (event.type === 'unpin') this.#line(`● ${red('unpin: drops the stored key of the hub')}`, '');
    else if (event.type === 'psk-suspect')
      this.#line(`● ${red('psk-suspect: forgets the pre-shared key')}`, '');
    else if (event.type === 'ready')
      this.#line(`● ${green(`ready: ${event.pattern}, ${event.suite}`)}`, fingerprint(event.hubKey));
    else if (event.type === 'close')
      this.#line(`✗ ${red(`${event.error.code}: closes with ${event.code}`)}`, '');
    else if (event.type === 'ended' && event.reason !== 'dropped') {
      this.#line(`✗ ${red(`ended: ${event.reason} (${event.error.code}), retry: ${event.retry}`)}`, '');
      this.note(event.error.message);
    }
  }

  /** Runs slow work. On a terminal it draws a bar meanwhile; the line with its duration is printed at the end. */
  async progress<Result>(
    where: 'client' | 'hub',
    what: string,
    run: (onProgress: (progress: number) => void) => Promise<Result>,
  ): Promise<Result> {
    this.#flush();
    const began = performance.now();
    const result = await run((progress) => {
      if (!isTerminal) return;
      const filled = Math.round(progress * 30);
      const bar = cyan('█'.repeat(filled)) + dim('░'.repeat(30 - filled));
      process.stdout.write(`\r             ${bar} ${Math.round(progress * 100)} % ${dim(what)}`);
    });
    if (isTerminal) process.stdout.write('\r\x1b[K');
    this.#line(`${where === 'hub' ? '■' : '●'} ${what}`, `took ${Math.round(performance.now() - began)} ms`);
    return result;
  }

  #message(arrow: string, data: string | Uint8Array): void {
    const bytes = Buffer.byteLength(data);
    const name = nameOf(data);
    if (name !== undefined) {
      this.#line(`${arrow} ${name}`, size(bytes));
      return;
    }
    if (this.#burst.arrow !== arrow) this.#flush();
    const { count, bytes: before } = this.#burst;
    this.#burst = { arrow, count: count + 1, bytes: before + bytes, at: performance.now() };
  }

  #flush(): void {
    const { arrow, count, bytes, at } = this.#burst;
    this.#burst = { arrow: '', count: 0, bytes: 0, at: 0 };
    if (count === 0) return;
    const what = count === 1 ? 'transport message' : `${count} transport messages`;
    this.#print(at, `${arrow} ${what}`, size(bytes));
  }

  #line(what: string, detail: string): void {
    this.#flush();
    this.#print(performance.now(), what, detail);
  }

  #print(at: number, what: string, detail: string): void {
    const time = this.#began === undefined ? '' : `${(at - this.#began).toFixed(1)} ms`;
    console.log(`  ${dim(time.padStart(11))}  ${what}${detail && `  ${dim(detail)}`}`);
  }
}

/** The name of a cleartext envelope in the protocol; `undefined` for a transport message. */
function nameOf(data: string | Uint8Array): string | undefined {
  let envelope: { msg_type: string; payload: { noise: { msg?: string; pattern?: string } } };
  try {
    envelope = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString()); // MQTT: bytes
  } catch {
    return undefined;
  }
  const { msg_type, payload } = envelope;
  if (msg_type === 'hello') return 'HELLO';
  const { noise } = payload;
  if (noise.msg === undefined) return 'HANDSHAKE, the offer';
  return noise.pattern === undefined ? 'Noise message' : `Noise message 1, ${noise.pattern}`;
}

function size(bytes: number): string {
  return `${bytes.toLocaleString('en').replace(/,/g, ' ')} B`;
}

/** The first bytes of a public key. */
function fingerprint(key: Uint8Array): string {
  return `${Buffer.from(key).toString('hex').slice(0, 16)}…`;
}
