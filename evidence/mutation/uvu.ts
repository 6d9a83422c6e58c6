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
  let before: Handler[] = [];
  let beforeEach: Handler[] = [];
  let afterEach: Handler[] = [];
  let after: Handler[] = [];
  let collected: [string, Handler][] = [];
  const hook = (once: () => Handler[], each: () => Handler[]): Hook =>
    Object.assign((handler: Handler) => void once().push(handler), {
      each: (handler: Handler) => void each().push(handler),
    });
  const call = async (handlers: readonly Handler[]): Promise<void> => {
    for (const handler of handlers) await handler(context);
  };
  /** Runs a test with the hooks that its file has so far. What was made when the file was loaded stays. */
  const withHooks = (handler: Handler): (() => Promise<void>) => {
    const [first, last] = [
      [...before, ...beforeEach],
      [...afterEach, ...(before.length > 0 ? after : [])],
    ];
    return async () => {
      try {
        await call([...first, handler]);
      } finally {
        await call(last);
      }
    };
  };
  return Object.assign((name: string, handler: Handler) => void collected.push([name, handler]), {
    before: hook(
      () => before,
      () => beforeEach,
    ),
    after: hook(
      () => after,
      () => afterEach,
    ),
    skip(): void {},
    run(): void {
      for (const [name, handler] of collected) tests.push({ file, name, run: withHooks(handler) });
      // All files share `test`: the hooks of this one are not those of the next.
      [collected, before, beforeEach, afterEach, after] = [[], [], [], [], []];
    },
  });
}

export const test: Suite = suite();
