#!/usr/bin/env node
/** `hub-protocol judge`: asks a port for every vector, or plays a hub or a client to it over a WebSocket. */
import { parseArgs } from 'node:util';
import { authorizedUrl } from '../../src/identity/endpoint.ts';
import { CannotRun, ProcessAdapter } from './adapter.ts';
import { judge, type Verdict } from './judge.ts';
import { connectTo, listen } from './live.ts';
import { OPERATIONS } from './questions.ts';
import { hasPassed, toText, writeReports } from './report.ts';

const HELP = `Judges an implementation of protocol 3.

  hub-protocol judge [options] -- COMMAND [ARGUMENT…]
      starts COMMAND, an adapter, and asks it for every vector
  hub-protocol judge --listen [options]
      is a hub on loopback, good and hostile, to your client: one scene for each connection
  hub-protocol judge --connect URL [options]
      is a client, good and hostile, to your hub; certificates are not checked

options
  --only OPERATION,…  of ${OPERATIONS.join(', ')};
                      in live mode the names of scenes
  --timeout SECONDS   for one answer (30; live 5)
  --port PORT         to listen on (any that is free)
  --access-key KEY    of the client (judge)
  --password TEXT     of the client (correct horse battery staple)
  --report FOLDER     where judge.json and judge.xml go (judge-report)
  --verbose           passes the adapter's standard error on

In live mode your side sends back every message it gets, JSON as JSON and binary as binary, keeps its static key and
its pins from one connection to the next, and a client connects again whenever it was closed.

Exits with 0 where something passed and nothing failed, with 1 where not, with 2 where nothing could be judged.
How to write an adapter, and more of live mode: vectors/README.md
`;

const NODE_ID = 'judge';
const LONG = 120_000; // for a slow port that derives its key, or takes in 32 MiB

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      listen: { type: 'boolean', default: false },
      connect: { type: 'string' },
      timeout: { type: 'string' },
      port: { type: 'string', default: '0' },
      'access-key': { type: 'string', default: 'judge' },
      password: { type: 'string', default: 'correct horse battery staple' },
      report: { type: 'string', default: 'judge-report' },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { connect, password, report, verbose } = values;
  const [verb, command, ...args] = positionals;
  const modes = [values.listen, connect !== undefined, command !== undefined].filter(Boolean).length;
  if (values.help || verb !== 'judge' || modes !== 1) {
    (values.help ? process.stdout : process.stderr).write(HELP);
    return values.help ? 0 : 2;
  }
  const only = values.only?.split(',');
  if (command !== undefined) {
    const unknown = only?.find((operation) => !OPERATIONS.includes(operation));
    if (unknown !== undefined) throw new CannotRun(`there is no operation ${unknown}: see --help`);
    const timeout = milliseconds(values.timeout ?? '30');
    const adapter = new ProcessAdapter({ command, args, timeout, verbose });
    try {
      const verdicts = await judge({ adapter, only, onProgress: showProgress });
      return finish([command, ...args].join(' '), verdicts, report);
    } finally {
      await adapter.stop();
    }
  }
  const accessKey = values['access-key'];
  const patience = { answer: milliseconds(values.timeout ?? '5'), long: LONG };
  const common = { password, patience, only, onProgress: showProgress };
  if (connect !== undefined) {
    const url = authorizedUrl(connect, 'judge', accessKey);
    return finish(`a hub at ${connect}`, await connectTo({ ...common, url }), report);
  }
  const onListening = (url: string): void => {
    process.stdout.write(
      `a hub for your client: ${url}\n  access key ${accessKey}\n  password   ${password}\n\n`,
    );
  };
  const options = { ...common, port: Number(values.port), nodeId: NODE_ID, accessKey, onListening };
  return finish('a client', await listen(options), report);
}

function milliseconds(seconds: string): number {
  const value = Number(seconds) * 1000;
  if (!(value > 0)) throw new CannotRun('--timeout expected a number of seconds');
  return value;
}

function finish(subject: string, verdicts: readonly Verdict[], folder: string): number {
  writeReports(folder, subject, verdicts);
  process.stdout.write(`${toText(verdicts)}\nreports: ${folder}/judge.json, ${folder}/judge.xml\n`);
  return hasPassed(verdicts) ? 0 : 1;
}

/** One line that is drawn over itself, for a person at a terminal. */
function showProgress(done: number, total: number, capability: string): void {
  if (!process.stderr.isTTY) return;
  const bar = '█'.repeat(Math.round((20 * done) / total)).padEnd(20, '░');
  process.stderr.write(done === total ? '\r\x1b[K' : `\r\x1b[K${bar} ${done}/${total} ${capability}`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    const isKnown = error instanceof CannotRun || error.code?.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`${isKnown ? error.message : error.stack}\n`);
    process.exitCode = 2;
  },
);
