/** Engines with heap-client.js loaded, whose heap is measured with each statement. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { getQuickJS, startMeteredXs } from '../test/engines/engines.ts';

const client = fileURLToPath(new URL('heap-client.js', import.meta.url));

export interface Metered {
  name: string;
  /** Returns the peak of the bytes in use while the statement ran. */
  run(statement: string): Promise<number>;
  /** Returns the bytes in use after a garbage collection. */
  live(): Promise<number>;
  load(file: string): Promise<number>;
  stop(): void;
}

export interface MeteredXs extends Metered {
  /** Passes a transport message to the session, in an ArrayBuffer of its own, as a WebSocket does. */
  give(message: Uint8Array): Promise<void>;
}

/** Starts XS as built for 32-bit microcontrollers. */
export async function meteredXs(): Promise<MeteredXs> {
  let reports = '';
  const engine = await startMeteredXs((text) => {
    reports += text;
  });
  const metered = async (reply: Promise<void>): Promise<[live: number, peak: number]> => {
    await reply;
    for (;;) {
      const report = /^heap live=(\d+) peak=(\d+) slot=16\n/m.exec(reports);
      if (report !== null) {
        reports = reports.slice(report.index + report[0].length);
        return [Number(report[1]), Number(report[2])];
      }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  const run = (statement: string): Promise<[live: number, peak: number]> => metered(engine.run(statement));
  await run(readFileSync(client, 'utf8'));
  return {
    name: 'XS, 32-bit slots',
    run: async (statement) => (await run(statement))[1],
    async live() {
      await run('gc()');
      return (await run('0'))[0];
    },
    load: async (file) =>
      (await run(`import(${JSON.stringify(file)}).then((all) => { globalThis.hubProtocol = all; }); 0`))[1],
    give: async (message) => void (await metered(engine.give(message))),
    stop: engine.stop,
  };
}

/** Starts QuickJS, whose heap is read every 10000 operations. */
export async function meteredQuickJs(): Promise<Metered> {
  const runtime = (await getQuickJS()).newRuntime();
  runtime.setModuleLoader((name) => readFileSync(name, 'utf8'));
  const context = runtime.newContext();
  let peak = 0;
  const used = (): number => {
    const handle = runtime.computeMemoryUsage();
    const bytes = context.getNumber(context.getProp(handle, 'memory_used_size'));
    handle.dispose();
    return bytes;
  };
  const look = (): false => {
    peak = Math.max(peak, used());
    return false;
  };
  runtime.setInterruptHandler(look);
  const run = async (code: string, type: 'global' | 'module' = 'global'): Promise<number> => {
    peak = 0;
    context.unwrapResult(context.evalCode(code, 'code.js', { type })).dispose();
    look();
    return peak;
  };
  await run(readFileSync(client, 'utf8'));
  return {
    name: 'QuickJS',
    run: (statement) => run(statement),
    live: async () => used(),
    load: (file) =>
      run(`import * as all from ${JSON.stringify(file)}; globalThis.hubProtocol = all;`, 'module'),
    stop() {
      context.dispose();
      runtime.dispose();
    },
  };
}
