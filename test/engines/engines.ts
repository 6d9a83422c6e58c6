/** The engines of devices: XS as `@agoric/xsnap` builds it, QuickJS in WebAssembly, Hermes, and Duktape. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { runInThisContext } from 'node:vm';
import { getQuickJS } from 'quickjs-emscripten';

export { getQuickJS };

/** Scripts that were loaded once, and statements run after them, in a realm of their own. */
export interface Engine {
  name: string;
  /** Rejects where the statement throws. */
  run(statement: string): Promise<void>;
  stop(): void;
}

/** The path of a file to load: a script, or an ES module whose namespace becomes the global `hubProtocol`. */
export type Source = { script: string } | { module: string };

export type StartEngine = (sources: Source[]) => Promise<Engine>;

const { resolve } = createRequire(import.meta.url);
const folderOf = (name: string): string => dirname(resolve(`${name}/package.json`));

/** A module that makes another one's namespace global. */
const globalizing = (path: string): string =>
  `import * as all from ${JSON.stringify(path)};\nglobalThis.hubProtocol = all;\n`;

export async function startNode(sources: Source[]): Promise<Engine> {
  for (const source of sources) {
    if ('script' in source) runInThisContext(readFileSync(source.script, 'utf8'), source.script);
    else Object.assign(globalThis, { hubProtocol: await import(pathToFileURL(source.module).href) });
  }
  return {
    name: 'Node',
    run: async (statement) => void runInThisContext(statement),
    stop: () => {},
  };
}

export async function startQuickJs(sources: Source[]): Promise<Engine> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setModuleLoader((path) => readFileSync(path, 'utf8'));
  const context = runtime.newContext();
  const run = async (code: string, type: 'global' | 'module' = 'global'): Promise<void> =>
    context.unwrapResult(context.evalCode(code, 'code.js', { type })).dispose();
  for (const source of sources) {
    if ('script' in source) await run(readFileSync(source.script, 'utf8'));
    else await run(globalizing(source.module), 'module');
  }
  return {
    name: 'QuickJS',
    run: (statement) => run(statement),
    stop() {
      context.dispose();
      runtime.dispose();
    },
  };
}

/** The worker as npm installs it; bench/heap.ts has another, which reports its heap on standard error. */
export const XS_WORKER: string = join(
  folderOf('@agoric/xsnap'),
  'xsnap-native/xsnap/build/bin/lin/release/xsnap-worker',
);

/**
 * xsnap's worker takes netstrings on file descriptor 3 and answers on 4: `s` a script's path, `m` a module's, `e` code,
 * `q` the end.
 */
export async function startXs(
  sources: Source[],
  worker: string = XS_WORKER,
  onError: 'inherit' | ((text: string) => void) = 'inherit',
): Promise<Engine> {
  const errors = onError === 'inherit' ? 'inherit' : 'pipe';
  const child = spawn(worker, ['xs'], {
    stdio: ['ignore', 'inherit', errors, 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'ignore'],
  });
  if (onError !== 'inherit') child.stderr!.setEncoding('utf8').on('data', onError);
  const [, , , input, output] = child.stdio as unknown as [
    null,
    null,
    null,
    NodeJS.WritableStream,
    NodeJS.ReadableStream,
  ];
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let received = Buffer.alloc(0);
  output.on('data', (data: Buffer) => {
    received = Buffer.concat([received, data]);
    for (let colon = received.indexOf(':'); colon >= 0; colon = received.indexOf(':')) {
      const end = colon + 1 + Number(received.subarray(0, colon));
      if (received.length < end + 1) return;
      const reply = received.subarray(colon + 1, end).toString();
      received = received.subarray(end + 1);
      if (reply.startsWith('.')) waiting.shift()!.resolve();
      else waiting.shift()!.reject(new Error(`XS: ${reply}`));
    }
  });
  child.on('exit', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('XS ended'));
  });
  const send = (command: string): Promise<void> => {
    input.write(`${Buffer.byteLength(command)}:${command},`);
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-xs-'));
  for (const source of sources) {
    if ('script' in source) {
      await send(`s${source.script}`);
    } else {
      writeFileSync(join(folder, 'module.js'), globalizing(source.module));
      await send(`m${join(folder, 'module.js')}`);
    }
  }
  rmSync(folder, { recursive: true });
  return { name: 'XS', run: (statement) => send(`e${statement}`), stop: () => void input.write('1:q,') };
}

export const startHermes: StartEngine = (sources) =>
  startProgram('Hermes', join(folderOf('hermes-engine-cli'), 'linux64-bin/hermes'), sources);

export const startDuktape: StartEngine = (sources) => startProgram('Duktape', 'duk', sources);

/** An engine that runs one file and ends: each statement is run with all scripts before it. */
async function startProgram(name: string, command: string, sources: Source[]): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const scripts = sources.map((source) => {
    if ('module' in source) throw new Error(`${name} has no modules`);
    return readFileSync(source.script, 'utf8');
  });
  const path = join(folder, 'script.js');
  return {
    name,
    async run(statement) {
      const tried = `try { ${statement}\n print('done'); } catch (error) { print(String(error)); }`;
      writeFileSync(path, [...scripts, tried].join('\n'));
      const { stdout } = await promisify(execFile)(command, [path], { maxBuffer: 1 << 26 });
      if (!/^done$/m.test(stdout)) throw new Error(`${name}: ${stdout || 'ended without a word'}`);
    },
    stop: () => rmSync(folder, { recursive: true }),
  };
}
