/** The engines of devices, from npm: XS as `@agoric/xsnap` builds it, and QuickJS in WebAssembly. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getQuickJS } from 'quickjs-emscripten';

/** A script that was loaded once, and statements run after it, in a realm of its own. */
export interface Engine {
  name: string;
  /** Rejects where the statement throws. */
  run(statement: string): Promise<void>;
  stop(): void;
}

export async function startQuickJs(script: string): Promise<Engine> {
  const context = (await getQuickJS()).newContext();
  const run = async (code: string): Promise<void> => context.unwrapResult(context.evalCode(code)).dispose();
  await run(readFileSync(script, 'utf8'));
  return { name: 'QuickJS', run, stop: () => context.dispose() };
}

/** xsnap's worker takes netstrings on file descriptor 3 and answers on 4: `s` a script's path, `e` code, `q` the end. */
export async function startXs(script: string): Promise<Engine> {
  const folder = dirname(createRequire(import.meta.url).resolve('@agoric/xsnap/package.json'));
  const worker = join(folder, 'xsnap-native/xsnap/build/bin/lin/release/xsnap-worker');
  const child = spawn(worker, ['bench'], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'pipe', 'ignore', 'ignore', 'ignore', 'ignore'],
  });
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
  await send(`s${script}`);
  return { name: 'XS', run: (statement) => send(`e${statement}`), stop: () => void input.write('1:q,') };
}
