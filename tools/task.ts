/**
 * Runs a task of a script that has several, such as `npm run judge -- python`. Further arguments are passed to the
 * program.
 *
 *     npm run bench -- mcu --least
 *     npm run bench                    the task of the script's own name
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BUILD = 'npm run --silent build';
const PYTHON = 'bash test/interop/python';
const HIVEMIND = 'bash test/interop/hivemind python vectors/generate/binary.py';
const PAGE = `bash test/bundlers/install && ${BUILD} && node test/bundlers/node_modules/vite/bin/vite.js build --logLevel warn examples/page`;
const TSX = 'node --import tsx';

/** The shell's command of each task. By default, runs the task with the name of its script. */
export const TASKS: { readonly [script: string]: { readonly [task: string]: string } } = {
  bench: {
    bench: `bash evidence/scale/install && ${BUILD} && node --expose-gc --import tsx evidence/scale/main.ts`,
    'constant-time': `${BUILD} && ${TSX} evidence/timing/constant-time.ts`,
    engines: `bash test/engines/install && ${BUILD} && ${TSX} evidence/devices/main.ts`,
    linear: `${BUILD} && ${TSX} evidence/timing/linear.ts`,
    nodes: `bash evidence/scale/install && bash test/package/runtimes/install && ${BUILD} && ${TSX} evidence/scale/nodes.ts`,
    mcu: `bash evidence/mcu/install && ${BUILD} && ${TSX} evidence/mcu/main.ts`,
  },
  demo: {
    demo: `${BUILD} && ${TSX} examples/demo.ts`,
    mqtt: `${BUILD} && ${TSX} examples/mqtt/demo.ts`,
    page: `${PAGE} && ${TSX} examples/page/main.ts`,
    'page-build': PAGE,
  },
  docs: {
    docs: `${BUILD} && ${TSX} tools/docs.ts`,
    site: `${PAGE} && bash docs/.vitepress/install && node docs/.vitepress/node_modules/vitepress/bin/vitepress.js build docs && cp -r examples/page/dist docs/.vitepress/dist/playground`,
  },
  judge: {
    judge: `${BUILD} && bash ports/typescript/judge`,
    faults: `${BUILD} && ${TSX} evidence/faults/main.ts`,
    go: `${BUILD} && bash ports/go/judge`,
    python: `${BUILD} && bash ports/python/judge`,
    rules: `${BUILD} && ${TSX} evidence/rules/main.ts`,
  },
  search: {
    explore: `${TSX} evidence/searches/explore/main.ts`,
    fuzz: `${TSX} evidence/searches/fuzz/main.ts`,
    proofs: `cargo build --quiet --release --locked --ignore-rust-version --manifest-path evidence/proofs/verifier/Cargo.toml && ${TSX} evidence/proofs/main.ts`,
    proxy: `${BUILD} && ${TSX} evidence/searches/proxy/main.ts`,
    simulate: `${TSX} evidence/searches/simulate/main.ts`,
    soak: `${BUILD} && node --expose-gc --import tsx evidence/searches/soak/main.ts`,
  },
  vectors: {
    vectors: `${PYTHON} vectors/generate && ${HIVEMIND}`,
    check: `${PYTHON} vectors/generate --check && ${HIVEMIND} --check`,
    external: `${TSX} test/external/main.ts`,
  },
};

if (process.argv[1] === fileURLToPath(import.meta.url)) run(process.argv[2]!, process.argv.slice(3));

function run(script: string, args: readonly string[]): void {
  const tasks = TASKS[script]!;
  const isNamed = args[0] !== undefined && args[0] in tasks;
  const command = tasks[isNamed ? args[0]! : script];
  if (command === undefined || (!isNamed && /^[a-z]/.test(args[0] ?? ''))) {
    const names = Object.keys(tasks).filter((name) => name !== script);
    console.error(`npm run ${script} -- ${args[0] ?? 'TASK'}: the tasks are ${names.join(', ')}`);
    process.exitCode = 2;
    return;
  }
  const child = spawn('bash', ['-c', `${command} "$@"`, script, ...args.slice(isNamed ? 1 : 0)], {
    stdio: 'inherit',
  });
  // A terminal sends Ctrl-C to the program too, which may have to clean up.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  child.on('exit', (status, signal) => {
    process.exitCode = status ?? (signal === null ? 1 : 130);
  });
}
