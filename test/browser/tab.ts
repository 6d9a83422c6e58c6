/** A tab of Chromium, driven over the DevTools protocol: JSON in pipes, with a zero byte after each message. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type Started, startBrowser } from './start-browser.ts';

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly params: { readonly entry: LogEntry; readonly exceptionDetails: ExceptionDetails };
  readonly result: never;
  readonly error?: { readonly message: string };
}
interface LogEntry {
  readonly level: string;
  readonly source: string;
  readonly text: string;
}
interface ExceptionDetails {
  readonly text: string;
  readonly exception?: { readonly description?: string };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const KEYS = {
  Tab: { windowsVirtualKeyCode: 9 },
  Enter: { windowsVirtualKeyCode: 13, text: '\r' },
};

export class Tab implements Browser {
  /** What the page did wrong: exceptions, and breaches of its Content-Security-Policy. */
  readonly problems: string[] = [];
  readonly #chromium: Started;
  #sessionId: string | undefined;
  #waiting: ((answer: Answer) => void)[] = [];

  private constructor(chromium: Started) {
    this.#chromium = chromium;
    let text = '';
    chromium.output.setEncoding('utf8').on('data', (part: string) => {
      const messages = (text + part).split('\0');
      text = messages.pop()!;
      for (const message of messages) this.#receive(JSON.parse(message));
    });
  }

  /** @param flags - for Chromium */
  static async open(...flags: string[]): Promise<Tab> {
    const chromium = startBrowser('chromium', ['--remote-debugging-pipe', ...flags]);
    const tab = new Tab(chromium);
    const target = await tab.call<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
    const session = { targetId: target.targetId, flatten: true };
    tab.#sessionId = (await tab.call<{ sessionId: string }>('Target.attachToTarget', session)).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log']) await tab.call(`${domain}.enable`);
    return tab;
  }

  /** @param script - runs before those of the page, from now on */
  async navigate(url: string, script?: string): Promise<void> {
    if (script !== undefined) await this.call('Page.addScriptToEvaluateOnNewDocument', { source: script });
    await this.call('Page.navigate', { url });
  }

  /** Calls a method of the DevTools protocol. */
  async call<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    const answer = new Promise<Answer>((resolve) => {
      const id = this.#waiting.push(resolve) - 1;
      const message = { id, method, params, sessionId: this.#sessionId };
      this.#chromium.input.write(`${JSON.stringify(message)}\0`);
    });
    const { result, error } = await Promise.race([answer, this.#chromium.ended]);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** The value of an expression in the page, which may be a promise. */
  async evaluate<Value>(expression: string): Promise<Value> {
    const { result, exceptionDetails } = await this.call<{
      result: { value: Value };
      exceptionDetails?: ExceptionDetails;
    }>('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(describe(exceptionDetails));
    return result.value;
  }

  /** What axe finds in the page that somebody cannot see, hear or reach. */
  async violations(): Promise<string[]> {
    await this.evaluate(AXE);
    return this.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
    );
  }

  /** Waits until an expression is true. */
  async until(expression: string, seconds = 120): Promise<void> {
    const limit = performance.now() + 1000 * seconds;
    while (!(await this.#isTrue(expression))) {
      if (performance.now() > limit) throw new Error(`after ${seconds} s it is not true that ${expression}`);
      await sleep(20);
    }
  }

  async #isTrue(expression: string): Promise<boolean> {
    try {
      return await this.evaluate<boolean>(`Boolean(${expression})`);
    } catch (error) {
      if (/navigated/.test((error as Error).message)) return false; // ask the next page
      throw error;
    }
  }

  /** Clicks on an element that can be seen. */
  async click(selector: string): Promise<void> {
    const element = `document.querySelector('${selector}')`;
    await this.until(`${element}?.checkVisibility()`);
    await this.evaluate(`${element}.click()`);
  }

  /** Presses and releases a key. */
  async press(key: 'Tab' | 'Enter'): Promise<void> {
    const event = { key, code: key, ...KEYS[key] };
    await this.call('Input.dispatchKeyEvent', { type: 'keyDown', ...event });
    await this.call('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
  }

  /** Pastes text where the focus is. */
  async paste(text: string): Promise<void> {
    await this.call('Input.insertText', { text });
  }

  async resize(width: number, height: number): Promise<void> {
    await this.call('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }

  async stop(): Promise<void> {
    await this.#chromium.stop();
  }

  #receive(answer: Answer): void {
    const { id, method, params } = answer;
    if (id !== undefined) this.#waiting[id]!(answer);
    if (method === 'Runtime.exceptionThrown') this.problems.push(describe(params.exceptionDetails));
    // A hub that cannot be reached is an error of the network, and expected.
    if (method === 'Log.entryAdded' && params.entry.level === 'error' && params.entry.source !== 'network') {
      this.problems.push(params.entry.text);
    }
  }
}

function describe({ text, exception }: ExceptionDetails): string {
  return exception?.description ?? text;
}
