/** The engines of devices: XS in two builds, QuickJS and QuickJS-ng in WebAssembly, MicroQuickJS, Hermes, and Duktape. */
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { runInThisContext } from 'node:vm';
import {
  getQuickJS,
  newQuickJSWASMModuleFromVariant,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten';
import { withUniqueCatches } from '../../tools/catches.ts';

export { getQuickJS };

/** A realm with scripts loaded, in which statements can be run. */
export interface Engine {
  name: string;
  /** Rejects if the statement throws. */
  run(statement: string): Promise<void>;
  stop(): void;
}

/** A file to load, by its path: a script, or an ES module whose namespace becomes the global `hubProtocol`. */
export type Source = { script: string } | { module: string };

export type StartEngine = (sources: Source[]) => Promise<Engine>;

const require = createRequire(import.meta.url);
const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));

/** Source code of a module that makes the namespace of another one global. */
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

export const startQuickJs: StartEngine = async (sources) =>
  startWebAssembly('QuickJS', await getQuickJS(), sources);

/** The fork that is maintained by others, with a regular expression engine and a parser of its own. */
export const startQuickJsNg: StartEngine = async (sources) =>
  startWebAssembly('QuickJS-ng', await newQuickJSWASMModuleFromVariant(quickJsNg), sources);

// Required, since its package is apart from ours.
const quickJsNg = require('@jitl/quickjs-ng-wasmfile-release-sync').default as QuickJSSyncVariant;

async function startWebAssembly(name: string, engine: QuickJSWASMModule, sources: Source[]): Promise<Engine> {
  const runtime = engine.newRuntime();
  runtime.setModuleLoader((path) => readFileSync(path, 'utf8'));
  const context = runtime.newContext();
  const run = async (code: string, type: 'global' | 'module' = 'global'): Promise<void> =>
    context.unwrapResult(context.evalCode(code, 'code.js', { type })).dispose();
  for (const source of sources) {
    if ('script' in source) await run(readFileSync(source.script, 'utf8'));
    else await run(globalizing(source.module), 'module');
  }
  return {
    name,
    run: (statement) => run(statement),
    stop() {
      context.dispose();
      runtime.dispose();
    },
  };
}

/** XS as npm installs `@agoric/xsnap`: slots of 32 bytes, strings of UTF-16 units. */
export const startXs: StartEngine = (sources) =>
  startWorker('XS', join(folderOf('@agoric/xsnap'), 'xsnap-native/xsnap'), sources);

const XS_MCU = fileURLToPath(new URL('node_modules/xs-mcu', import.meta.url));

/** XS as Moddable builds it for microcontrollers: slots of 16 bytes, strings of code points (`'😀'.length` is 1). */
export const startXsMcu: StartEngine = (sources) => startWorker('XS 32-bit', XS_MCU, sources);

/** The same build with a heap that starts small; it reports its heap on standard error with each reply. */
export const startMeteredXs = (onError: (text: string) => void): Promise<XsWorker> =>
  startWorker('XS 32-bit', XS_MCU, [], ['-m'], onError);

export interface XsWorker extends Engine {
  /** Calls the global `handleCommand` with an ArrayBuffer. */
  give(bytes: Uint8Array): Promise<void>;
}

/**
 * Starts xsnap's worker, which reads netstrings from file descriptor 3 and replies on 4. The commands: `s` runs a script
 * and `m` a module by its path, `e` evaluates code, `?` passes bytes to `handleCommand`, `q` quits.
 */
async function startWorker(
  name: string,
  build: string,
  sources: Source[],
  flags: string[] = [],
  onError?: (text: string) => void,
): Promise<XsWorker> {
  const errors = onError === undefined ? 'inherit' : 'pipe';
  const child = spawn(join(build, 'build/bin/lin/release/xsnap-worker'), ['xs', ...flags], {
    stdio: ['ignore', 'inherit', errors, 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'ignore'],
  });
  if (onError !== undefined) child.stderr!.setEncoding('utf8').on('data', onError);
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
  child.on('exit', (code) => {
    const why = code === OUT_OF_MEMORY ? 'ran out of memory' : `ended with ${code}`;
    for (const { reject } of waiting.splice(0)) reject(new Error(`XS ${why}`));
  });
  input.on('error', () => {}); // `exit` follows, and says why
  const send = (command: string, data: string | Uint8Array): Promise<void> => {
    const bytes = Buffer.from(data);
    input.write(Buffer.concat([Buffer.from(`${1 + bytes.length}:${command}`), bytes, Buffer.from(',')]));
    return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
  };
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-xs-'));
  for (const source of sources) {
    if ('script' in source) {
      await send('s', source.script);
    } else {
      writeFileSync(join(folder, 'module.js'), globalizing(source.module));
      await send('m', join(folder, 'module.js'));
    }
  }
  rmSync(folder, { recursive: true });
  return {
    name,
    run: (statement) => send('e', statement),
    give: (bytes) => send('?', bytes),
    stop: () => void input.write('1:q,'),
  };
}

const OUT_OF_MEMORY = 11; // the worker's exit code for it

const HERMES = join(folderOf('hermes-engine-cli'), 'linux64-bin');

export const startHermes: StartEngine = (sources) => startProgram('Hermes', join(HERMES, 'hermes'), sources);

/** Compiles a script to optimized bytecode, as an app has it, and runs that. Returns what it prints. */
export async function runHermesBytecode(script: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const [source, bytecode] = [join(folder, 'script.js'), join(folder, 'script.hbc')];
  writeFileSync(source, script);
  const run = promisify(execFile);
  await run(join(HERMES, 'hermesc'), ['-O', '-w', '-emit-binary', '-out', bytecode, source]);
  const { stdout } = await run(join(HERMES, 'hermes'), ['-b', bytecode]);
  rmSync(folder, { recursive: true });
  return stdout;
}

export const startDuktape: StartEngine = (sources) => startProgram('Duktape', 'duk', sources);

/** A subset of ES5. The catch variables of the suite get unique names, as those of the ES5 files have. */
export const startMicroQuickJs: StartEngine = (sources) =>
  startProgram('MicroQuickJS', MICRO_QUICKJS, sources, {
    flags: ['--memory-limit', String(1 << 28)],
    prepare: withUniqueCatches,
    // The suite needs these, as it is bundled and lowered.
    before: `Object.assign = function (target) {
        for (var i = 1; i < arguments.length; i++)
          if (arguments[i]) for (var name in arguments[i]) target[name] = arguments[i][name];
        return target;
      };
      Object.getOwnPropertyNames = Object.keys;
      Object.getOwnPropertyDescriptor = function () { return undefined; };
      Object.prototype.propertyIsEnumerable = Object.prototype.hasOwnProperty;`,
  });

const MICRO_QUICKJS = fileURLToPath(
  new URL('node_modules/micro-quickjs/rmquickjs-sys/mquickjs/mqjs', import.meta.url),
);

interface ProgramOptions {
  flags?: string[];
  /** Code that runs before all scripts. */
  before?: string;
  /** Is applied to each script. */
  prepare?: (code: string) => string;
}

/** An engine that runs one file and exits: each statement runs in a new process, after all scripts. */
async function startProgram(
  name: string,
  command: string,
  sources: Source[],
  { flags = [], before = '', prepare = (code) => code }: ProgramOptions = {},
): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
  const scripts = sources.map((source) => {
    if ('module' in source) throw new Error(`${name} has no modules`);
    return prepare(readFileSync(source.script, 'utf8'));
  });
  const path = join(folder, 'script.js');
  return {
    name,
    async run(statement) {
      const tried = `try { ${statement}\n print('done'); } catch (error) { print(String(error)); }`;
      writeFileSync(path, [before, ...scripts, tried].join('\n'));
      const { stdout } = await promisify(execFile)(command, [...flags, path], { maxBuffer: 1 << 26 });
      if (!/^done$/m.test(stdout)) throw new Error(`${name}: ${stdout || 'no output'}`);
    },
    stop: () => rmSync(folder, { recursive: true }),
  };
}
