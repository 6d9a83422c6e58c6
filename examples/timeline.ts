/** Draws what happens on a connection: step, direction, bytes, milliseconds; and a bar for what takes long. */
import type { SessionEvent } from 'hub-protocol';

type Observed = SessionEvent | { type: 'received'; data: string | Uint8Array };

const isTerminal = process.stdout.isTTY === true;
const hasColor = isTerminal && process.env.NO_COLOR === undefined;
const paint = (code: number) => (text: string) => (hasColor ? `\x1b[${code}m${text}\x1b[0m` : text);
const [bold, dim, red, green, cyan] = [paint(1), paint(2), paint(31), paint(32), paint(36)];

export class Timeline {
  #started = performance.now();
  /** Transport messages in one direction that are not printed yet, so that a large message takes one line. */
  #burst = { arrow: '', count: 0, bytes: 0, at: 0 };

  legend(): void {
    console.log(dim('→ to the hub   ← from the hub   ● at the client   ✗ refused'));
  }

  chapter(title: string): void {
    this.#flush();
    console.log(`\n${bold(title)}`);
    this.start();
  }

  /** Sets the clock of the lines that follow to zero. */
  start(): void {
    this.#started = performance.now();
  }

  note(text: string): void {
    this.#line('  ', text, '');
  }

  event(event: Observed): void {
    if (event.type === 'transmit') this.#wire('→', event.data);
    else if (event.type === 'received') this.#wire('←', event.data);
    else if (event.type === 'pin')
      this.#line('● ', green('pin: the hub’s key is stored'), fingerprint(event.key));
    else if (event.type === 'unpin') this.#line('● ', red('unpin: the stored key is dropped'), '');
    else if (event.type === 'psk-suspect')
      this.#line('● ', red('the stored pre-shared key is forgotten'), '');
    else if (event.type === 'ready')
      this.#line('● ', green(`ready: ${event.pattern}, ${event.suite}`), fingerprint(event.hubKey));
    else if (event.type === 'close')
      this.#line('✗ ', red(`${event.error.code}: the client closes with ${event.code}`), '');
    else if (event.type === 'ended' && event.reason !== 'dropped') {
      this.#line('✗ ', red(`ended: ${event.reason} (${event.error.code}), try again: ${event.retry}`), '');
      this.note(event.error.message);
    }
  }

  /** Runs something long that tells its progress: a bar on a terminal, one line elsewhere. */
  async progress<T>(what: string, run: (onProgress: (progress: number) => void) => Promise<T>): Promise<T> {
    this.#flush();
    const began = performance.now();
    const result = await run((progress) => {
      if (!isTerminal) return;
      const filled = Math.round(progress * 30);
      const bar = cyan('█'.repeat(filled)) + dim('░'.repeat(30 - filled));
      process.stdout.write(`\r             ${bar} ${Math.round(progress * 100)} % ${dim(what)}`);
    });
    if (isTerminal) process.stdout.write('\r\x1b[K');
    this.#line('● ', what, `${Math.round(performance.now() - began)} ms`);
    return result;
  }

  #wire(arrow: string, data: string | Uint8Array): void {
    const bytes = Buffer.byteLength(data);
    if (typeof data === 'string') {
      this.#line(`${arrow} `, name(data), size(bytes));
      return;
    }
    if (this.#burst.arrow !== arrow) this.#flush();
    this.#burst = {
      arrow,
      count: this.#burst.count + 1,
      bytes: this.#burst.bytes + bytes,
      at: performance.now(),
    };
  }

  #flush(): void {
    const { arrow, count, bytes, at } = this.#burst;
    this.#burst = { arrow: '', count: 0, bytes: 0, at: 0 };
    if (count > 0)
      this.#print(
        at,
        `${arrow} `,
        count === 1 ? 'transport message' : `${count} transport messages`,
        size(bytes),
      );
  }

  #line(mark: string, what: string, detail: string): void {
    this.#flush();
    this.#print(performance.now(), mark, what, detail);
  }

  #print(at: number, mark: string, what: string, detail: string): void {
    const ms = (at - this.#started).toFixed(1).padStart(8);
    console.log(`  ${dim(`${ms} ms`)}  ${mark}${what}${detail && `  ${dim(detail)}`}`);
  }
}

/** A cleartext envelope by its step in the protocol. */
function name(envelope: string): string {
  const { msg_type, payload } = JSON.parse(envelope);
  if (msg_type === 'hello') return 'HELLO';
  const { noise } = payload;
  if (noise.msg === undefined) return 'HANDSHAKE, the offer';
  return noise.pattern === undefined ? 'Noise message' : `Noise message 1, ${noise.pattern}`;
}

function size(bytes: number): string {
  return `${bytes.toLocaleString('en').replace(/,/g, ' ')} B`;
}

function fingerprint(key: Uint8Array): string {
  return `${Buffer.from(key).toString('hex').slice(0, 16)}…`;
}
