/** Firefox, driven over WebDriver BiDi: JSON over a WebSocket, whose address Firefox prints. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Browser, type Started, startBrowser } from './start-browser.ts';

interface Answer {
  readonly id?: number;
  readonly result: never;
  readonly message?: string;
}

export class Firefox implements Browser {
  readonly #firefox: Started;
  readonly #socket: WebSocket;
  #context = '';
  #calls = 0;

  private constructor(firefox: Started, socket: WebSocket) {
    this.#firefox = firefox;
    this.#socket = socket;
  }

  /** Opens a window that takes any certificate. */
  static async open(): Promise<Firefox> {
    const firefox = startBrowser('firefox', ['--remote-debugging-port', '0']);
    const socket = new WebSocket(`${await Promise.race([addressIn(firefox), firefox.ended])}/session`);
    await once(socket, 'open');
    const window = new Firefox(firefox, socket);
    await window.call('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
    const tree = await window.call<{ contexts: { context: string }[] }>('browsingContext.getTree');
    window.#context = tree.contexts[0]!.context;
    return window;
  }

  async navigate(url: string): Promise<void> {
    await this.call('browsingContext.navigate', { context: this.#context, url, wait: 'none' });
  }

  /** Calls a method of WebDriver BiDi. */
  async call<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    const id = ++this.#calls;
    const answer = new Promise<Answer>((resolve) => {
      const take = (data: Buffer): void => {
        const message = JSON.parse(data.toString()) as Answer;
        if (message.id !== id) return;
        this.#socket.off('message', take);
        resolve(message);
      };
      this.#socket.on('message', take);
    });
    this.#socket.send(JSON.stringify({ id, method, params }));
    const { result, message } = await Promise.race([answer, this.#firefox.ended]);
    if (message !== undefined) throw new Error(`${method}: ${message}`);
    return result;
  }

  async stop(): Promise<void> {
    this.#socket.terminate();
    await this.#firefox.stop();
  }
}

async function addressIn({ output }: Started): Promise<string> {
  let text = '';
  for await (const part of output.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    text += part;
    const address = /WebDriver BiDi listening on (ws:\S+)\n/.exec(text)?.[1];
    if (address !== undefined) {
      output.resume(); // it goes on printing
      return address;
    }
  }
  throw new Error('Firefox did not say where it listens');
}
