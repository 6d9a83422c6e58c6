/** Collects tests as uvu does, so that each can be run by itself, again and again. */

type Handler = (context: object) => unknown;

export interface Test {
  readonly file: string;
  readonly name: string;
  /** Runs the test with its hooks, and rejects if it fails. */
  run(): Promise<void>;
}

export const tests: Test[] = [];
let file = '';

/** Sets the file that the next tests are in. */
export function startFile(name: string): void {
  file = name;
}

type Hook = { (handler: Handler): void; each(handler: Handler): void };

interface Suite {
  (name: string, handler: Handler): void;
  before: Hook;
  after: Hook;
  skip(): void;
  run(): void;
}

export function suite(_name = '', context: object = {}): Suite {
  const [before, beforeEach, afterEach, after]: [Handler[], Handler[], Handler[], Handler[]] = [
    [],
    [],
    [],
    [],
  ];
  const collected: [string, Handler][] = [];
  const hook = (once: Handler[], each: Handler[]): Hook =>
    Object.assign((handler: Handler) => void once.push(handler), {
      each: (handler: Handler) => void each.push(handler),
    });
  const call = async (handlers: readonly Handler[]): Promise<void> => {
    for (const handler of handlers) await handler(context);
  };
  const runOne = async (handler: Handler): Promise<void> => {
    await call(before);
    try {
      await call([...beforeEach, handler]);
    } finally {
      await call([...afterEach, ...after]);
    }
  };
  return Object.assign((name: string, handler: Handler) => void collected.push([name, handler]), {
    before: hook(before, beforeEach),
    after: hook(after, afterEach),
    skip(): void {},
    run(): void {
      for (const [name, handler] of collected) tests.push({ file, name, run: () => runOne(handler) });
      collected.length = 0;
    },
  });
}

export const test: Suite = suite();
