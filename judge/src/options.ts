/** The command line: its options, and the text of --help. */
import { parseArgs } from 'node:util';
import { CannotRun } from './adapter.ts';
import { OPERATIONS } from './checks/checks.ts';
import { table } from './printable.ts';

interface Option {
  readonly type: 'string' | 'boolean';
  readonly argument?: string;
  readonly default?: string;
  readonly help: string;
}

const LONGEST_WAIT = 86_400; // seconds; timers of Node take no more than 25 days

const OPTIONS = {
  listen: { type: 'boolean', help: 'play a hub; your client connects to it' },
  connect: { type: 'string', argument: 'URL', help: 'play a client; it connects to your hub' },
  mqtt: {
    type: 'string',
    argument: 'client|hub',
    help: 'over MQTT: play a broker, and a hub to your client or a client to your hub',
  },
  jsonl: { type: 'boolean', help: 'print every vector as one line of JSON, for your own test runner' },
  text: { type: 'boolean', help: 'print vectors for reading: a step a line, with long values cut' },
  trace: {
    type: 'string',
    argument: 'NAME',
    help: 'print what is computed in the handshake of a test, such as handshake-12, value by value',
  },
  c: { type: 'boolean', help: 'print vectors and constants as a header of C, for your own tests' },
  only: {
    type: 'string',
    argument: 'NAME,…',
    help: 'run these operations only, or single tests, such as session-178; in live mode, these scenes',
  },
  profile: {
    type: 'string',
    argument: 'NAME',
    help: 'what your implementation is, if the adapter does not say it: minimal-client, client or hub',
  },
  known: {
    type: 'string',
    argument: 'FILE',
    help: 'failures that are known, one name a line: they do not count',
  },
  junit: { type: 'string', argument: 'FILE', help: 'write the verdicts as JUnit does' },
  timeout: { type: 'string', argument: 'SECONDS', help: 'longest wait for one response (30; live 5)' },
  'spec-only': {
    type: 'boolean',
    help: 'leave out what the protocol leaves open, and compare no error codes',
  },
  port: { type: 'string', argument: 'PORT', help: 'port of --listen and --mqtt (any that is free)' },
  identity: {
    type: 'string',
    argument: 'FILE',
    help: "the client's identity, with access key and password (those that the judge prints)",
  },
  report: {
    type: 'string',
    argument: 'FOLDER',
    default: 'judge-report',
    help: 'folder for judge.json, which holds every verdict',
  },
  verbose: { type: 'boolean', help: 'pass on the standard error of your adapter' },
  version: { type: 'boolean', help: 'print the version' },
  help: { type: 'boolean', help: 'print this' },
} as const satisfies { readonly [name: string]: Option };

/** The options that each mode uses, besides the one that names it. */
const LIVE = 'only spec-only timeout known junit report identity';
const USES: { readonly [mode: string]: string } = {
  listen: `${LIVE} port`,
  connect: LIVE,
  mqtt: `${LIVE} port`,
  jsonl: 'only spec-only profile',
  text: 'only spec-only profile',
  c: 'only profile',
  trace: '',
};
const OF_ADAPTER = 'only spec-only timeout known junit report profile verbose';

/** A start for any adapter: it declines everything. */
const SKELETON = `\
import json, sys
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "declined": True}), flush=True)
`;

const optionRows = Object.entries(OPTIONS).map(([name, option]: [string, Option]) => {
  const { argument = '', default: value, help } = option;
  return [`--${name} ${argument}`.trim(), value === undefined ? help : `${help} (${value})`] as const;
});

export const HELP: string = `\
Tests an implementation of HiveMind protocol 3 and names the mistakes it finds.

  hub-protocol-judge [options] -- COMMAND [ARGUMENT…]
      Starts COMMAND, your adapter, and sends it every test vector.
  hub-protocol-judge --listen [options]
      Plays a hub on loopback, well-behaved and hostile. Your client connects,
      once for each scene.
  hub-protocol-judge --connect URL [options]
      Plays a client, well-behaved and hostile. Your hub listens. Certificates
      are not checked.
  hub-protocol-judge --mqtt client|hub [options]
      The same over MQTT: your client, or your hub, connects to a broker that
      the judge plays too.
  hub-protocol-judge --jsonl [--only NAME,…] [--spec-only] [--profile NAME]
      Prints the vectors, one test a line.
  hub-protocol-judge --text [--only NAME,…] [--spec-only] [--profile NAME]
      Prints the vectors for reading, one step a line.
  hub-protocol-judge --trace NAME
      Prints the values of a handshake, token by token, to compare with yours.
  hub-protocol-judge --c [--only NAME,…] [--profile NAME]
      Prints vectors and constants as a header of C.

Where to begin
  An adapter reads one JSON request per line from its standard input and writes
  one JSON response per line to its standard output. This one declines
  everything:

${SKELETON.replace(/^/gm, '    ').trimEnd()}

  Save it as my_adapter.py and run

    hub-protocol-judge -- python3 my_adapter.py

  Then implement one operation after another, in this order, each with
  --only NAME until it passes:

${table(OPERATIONS.map(({ name, shows }) => [name, shows])).trimEnd()}

  The fields of each request and response are in vectors/README.md, in this
  package and in the repository.

Live mode
  Your side sends back every message it receives, JSON as JSON and binary as
  binary, and keeps its static key and its pins from one connection to the next.
  A client connects again whenever its connection ends; a hub over MQTT stays.

Options
${table(optionRows)}
Exit status
  0  something passed and nothing failed
  1  something failed
  2  nothing could be tested: the command line is wrong, the adapter does not
     start, or it declined everything; or the judge itself has a defect
`;

export interface Options {
  readonly jsonl: boolean;
  readonly text: boolean;
  readonly c: boolean;
  /** The name of a test. */
  readonly trace: string | undefined;
  readonly listen: boolean;
  readonly connect: string | undefined;
  /** The side under test over MQTT. */
  readonly mqtt: 'client' | 'hub' | undefined;
  /** The command of the adapter and its arguments. */
  readonly command: readonly string[];
  readonly only: readonly string[] | undefined;
  /** The name of a profile. */
  readonly profile: string | undefined;
  /** The file of known failures, and the one for JUnit. */
  readonly known: string | undefined;
  readonly junit: string | undefined;
  /** Milliseconds, if given. */
  readonly timeout: number | undefined;
  readonly specOnly: boolean;
  readonly port: number;
  /** The file with the identity of the client. */
  readonly identity: string | undefined;
  readonly report: string;
  readonly verbose: boolean;
}

/** @throws CannotRun, and the errors of parseArgs */
export function parseOptions(args: string[]): Options | 'help' | 'version' {
  const parsed = parseArgs({ args, options: OPTIONS, allowPositionals: true, tokens: true });
  const { values, positionals: command, tokens } = parsed;
  if (values.help) return 'help';
  if (values.version) return 'version';
  if (tokens.find(({ kind }) => kind !== 'option')?.kind === 'positional') {
    throw new CannotRun(`unexpected ${command[0]}: write -- before the command of your adapter`);
  }
  const {
    listen = false,
    connect,
    mqtt,
    jsonl = false,
    text = false,
    c = false,
    trace,
    only,
    report,
    verbose = false,
  } = values;
  const named = [connect, mqtt, trace].map((value) => value !== undefined);
  const modes = [listen, jsonl, text, c, ...named, command.length > 0];
  if (modes.filter(Boolean).length !== 1) {
    throw new CannotRun(
      'expected one of -- COMMAND, --listen, --connect URL, --mqtt, --jsonl, --text, --trace NAME and --c: see --help',
    );
  }
  const options = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
  const mode = options.find((name) => name in USES);
  const used = `${mode ?? ''} ${mode === undefined ? OF_ADAPTER : USES[mode]}`.trim().split(' ');
  const idle = options.find((name) => !used.includes(name));
  if (idle !== undefined) {
    const where = mode === undefined ? 'on an adapter' : `with --${mode}`;
    throw new CannotRun(`--${idle} has no effect ${where}: leave it out. These have: --${used.join(', --')}`);
  }
  if (mqtt !== undefined && mqtt !== 'client' && mqtt !== 'hub') {
    throw new CannotRun(`--mqtt expects client or hub, which is what you test, got ${mqtt}`);
  }
  const seconds = values.timeout === undefined ? undefined : Number(values.timeout);
  if (seconds !== undefined && !(seconds > 0 && seconds <= LONGEST_WAIT)) {
    throw new CannotRun(
      `--timeout expects a number of seconds, at most ${LONGEST_WAIT}, got ${values.timeout}`,
    );
  }
  const port = Number(values.port ?? '0');
  if (!(Number.isInteger(port) && port >= 0 && port <= 65535)) {
    throw new CannotRun(`--port expects 0 to 65535, got ${values.port}`);
  }
  return {
    jsonl,
    text,
    c,
    trace,
    listen,
    connect,
    mqtt,
    command,
    only: only?.split(','),
    profile: values.profile,
    known: values.known,
    junit: values.junit,
    timeout: seconds === undefined ? undefined : seconds * 1000,
    specOnly: values['spec-only'] ?? false,
    port,
    identity: values.identity,
    report,
    verbose,
  };
}
