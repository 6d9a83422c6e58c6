/** `hub-protocol-judge`: sends the vectors to an adapter, or plays a hub or a client over a WebSocket or MQTT. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Adapter, CannotRun, ProcessAdapter } from './adapter.ts';
import { C_OPERATIONS, cHeader } from './c-header.ts';
import { OPERATIONS } from './checks/checks.ts';
import { didYouMean } from './closest.ts';
import {
  changesSince,
  fixedOf,
  isTestName,
  readKnown,
  resultsIn,
  toJunit,
  withKnown,
  withResults,
} from './known.ts';
import { connectTo } from './live/connect.ts';
import { type Credentials, credentialsOf } from './live/credentials.ts';
import { listen } from './live/listen.ts';
import { connectOverMqtt } from './live/mqtt-connect.ts';
import { BROKER_PASSWORD, listenOverMqtt } from './live/mqtt-listen.ts';
import { BASE } from './live/mqtt-topics.ts';
import type { LiveOptions } from './live/play.ts';
import { HELP, type Options, parseOptions } from './options.ts';
import { printable } from './printable.ts';
import { badgeOf, gapsIn, lineOf, type Profile, profileOf } from './profile.ts';
import { authorizedUrl, derivePsk, nodeCrypto } from './protocol.ts';
import { beginWith, exitStatus, REPORT, toJson, toText, writeReport } from './report.ts';
import { jsonLines, listTasks, readableLines, runVectors } from './run-vectors.ts';
import { traceLines } from './trace.ts';
import type { Verdict } from './verdict.ts';

const NODE_ID = 'judge';
const LONG_WAIT = 120_000; // milliseconds, for a slow peer that derives its key or reads 32 MiB

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** Runs the program with these arguments, and returns its exit status. */
export function main(args: string[]): Promise<number> {
  return judge(args).catch((error) => {
    const isUsage = error instanceof CannotRun || error?.code?.startsWith('ERR_PARSE_ARGS');
    const message = isUsage ? error.message : `defect of the judge, please report it: ${error?.stack}`;
    say(`hub-protocol-judge: ${message}\n`);
    return 2;
  });
}

async function judge(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (options === 'help') return print(HELP);
  if (options === 'version') return print(`hub-protocol-judge ${version}\n`);
  const { connect, listen: listens, mqtt, command } = options;
  if (options.jsonl || options.text) return printLines(options);
  if (options.c) return printHeader(options);
  if (options.trace !== undefined) return printTrace(options.trace);
  if (connect !== undefined) return finish(`hub at ${connect}`, await judgeHub(connect, options), options);
  if (listens) return finish('client', await judgeClient(options), options);
  if (mqtt !== undefined) return finish(`${mqtt} over MQTT`, await judgeOverMqtt(mqtt, options), options);
  return judgeAdapter(command.join(' '), options);
}

async function judgeAdapter(subject: string, options: Options): Promise<number> {
  const { command, only, specOnly, timeout = 30_000, verbose } = options;
  checkOperations(only);
  const [program, ...args] = command;
  const adapter = new ProcessAdapter({ command: program!, args, timeout, verbose });
  let judged: Judged | undefined;
  try {
    const verdicts = await runVectors({
      adapter: only?.every(isTestName) ? showing(adapter) : adapter,
      only,
      isSpecOnly: specOnly,
      profile: options.profile === undefined ? undefined : profileOf(options.profile),
      onProfile: (profile, outside) => {
        judged = { profile, outside };
      },
      onProgress: showProgress,
    });
    return finish(subject, verdicts, options, judged);
  } finally {
    await adapter.stop();
  }
}

/** Shows what is sent, so that it can be typed, and what comes back. */
function showing(adapter: Adapter): Adapter {
  return {
    async send(request) {
      if (request.op !== 'about') print(`${JSON.stringify({ id: 1, ...request })}\n`);
      const response = await adapter.send(request);
      if (request.op !== 'about') print(`  ${JSON.stringify(response)}\n`);
      return response;
    },
    stop: () => adapter.stop(),
  };
}

/** What an implementation is, and how many tests do not apply to it. */
interface Judged {
  readonly profile: Profile;
  readonly outside: number;
}

function judgeHub(connect: string, options: Options): Promise<Verdict[]> {
  const credentials = credentialsOf(options.identity);
  const urlOf = (accessKey: string = credentials.accessKey): string =>
    authorizedUrl(connect, NODE_ID, accessKey, { allowPlaintext: true });
  return connectTo({ ...liveOptions(options, credentials), urlOf });
}

function judgeClient(options: Options): Promise<Verdict[]> {
  const credentials = credentialsOf(options.identity);
  const { accessKey, shown } = credentials;
  const onListening = (url: string): void => {
    print(
      `a hub for your client: ${url}\n  access key ${shown.accessKey}\n  password   ${shown.password}\n\n`,
    );
    say('waiting for your client to connect\n');
  };
  const { port } = options;
  return listen({ ...liveOptions(options, credentials), port, nodeId: NODE_ID, accessKey, onListening });
}

function judgeOverMqtt(subject: 'client' | 'hub', options: Options): Promise<Verdict[]> {
  const credentials = credentialsOf(options.identity);
  const { accessKey, shown } = credentials;
  const common = { ...liveOptions(options, credentials), port: options.port, accessKey };
  if (subject === 'hub') {
    const onListening = (url: string): void => {
      print(`a broker for your hub: ${url}\n  subscribe to ${BASE}/+/in and ${BASE}/+/status\n`);
      print(`  its client has the access key ${shown.accessKey}\n  and the password ${shown.password}\n\n`);
      say('waiting for your hub to subscribe\n');
    };
    return connectOverMqtt({ ...common, onListening });
  }
  const onListening = (url: string): void => {
    const mqtt = {
      endpoint: url,
      username: shown.accessKey,
      password: BROKER_PASSWORD,
      topic_prefix: `${BASE}/${shown.accessKey}`,
    };
    const identity = {
      access_key: shown.accessKey,
      password: shown.password,
      site_id: 'judge',
      protocols: { wss: false, mqtt: true },
      mqtt,
    };
    print(`a broker, and a hub behind it, for a client with this identity:\n${JSON.stringify(identity)}\n\n`);
    say('waiting for your client to connect\n');
  };
  return listenOverMqtt({ ...common, nodeId: NODE_ID, onListening });
}

function liveOptions(
  { only, specOnly, timeout: message = 5000 }: Options,
  { password }: Credentials,
): LiveOptions {
  const patience = { message, long: Math.max(message, LONG_WAIT) };
  return {
    derivePsk: (nodeId) => derivePsk({ crypto: nodeCrypto, password, nodeId }),
    only,
    isSpecOnly: specOnly,
    patience,
    onStart: showScene,
    onVerdict: showVerdict,
  };
}

function checkOperations(only: readonly string[] | undefined): void {
  const names = OPERATIONS.map(({ name }) => name);
  const unknown = only?.find((name) => !names.includes(name) && !isTestName(name));
  if (unknown === undefined) return;
  throw new CannotRun(`there is no operation ${unknown}${didYouMean(unknown, names)}`);
}

/** Writes at the speed of the reader, until it stops reading: the lines are some megabytes. */
async function printLines({ only, specOnly, text, profile: name }: Options): Promise<number> {
  checkOperations(only);
  const printed = { only, specOnly, profile: name === undefined ? undefined : profileOf(name) };
  for (const line of text ? readableLines(printed) : jsonLines(printed)) {
    if (!process.stdout.writable) break;
    if (!process.stdout.write(printable(`${line}\n`))) await once(process.stdout, 'drain').catch(() => {});
  }
  return 0;
}

/** Those operations that have vectors in C; @throws CannotRun for another. */
function printHeader({ only, profile }: Options): 0 {
  const unknown = only?.find((name) => !C_OPERATIONS.some((operation) => operation === name));
  if (unknown !== undefined) throw new CannotRun(`--c has no ${unknown}${didYouMean(unknown, C_OPERATIONS)}`);
  return print(cHeader(version, only, profile === undefined ? undefined : profileOf(profile)));
}

function printTrace(name: string): 0 {
  const [task] = isTestName(name) ? listTasks([name]) : [];
  const hasHandshake = task?.operation === 'handshake' || task?.operation === 'session';
  const lines = hasHandshake ? traceLines(task!.test) : undefined;
  if (lines === undefined)
    throw new CannotRun(
      `--trace expects a test with a handshake, such as handshake-12 or session-1, got ${name}`,
    );
  return print(`${lines.join('\n')}\n`);
}

function print(text: string): 0 {
  process.stdout.write(printable(text));
  return 0;
}

function say(text: string): void {
  process.stderr.write(printable(text));
}

function finish(subject: string, all: readonly Verdict[], options: Options, judged?: Judged): number {
  const { report: folder, known: knownPath, junit } = options;
  const known = knownPath === undefined ? [] : readKnown(knownPath);
  const verdicts = withKnown(all, known);
  const isSpecOnly = options.specOnly;
  const earlier = resultsIn(join(folder, REPORT), subject, isSpecOnly);
  const run = { judge: version, subject, isSpecOnly, results: withResults(earlier, verdicts) };
  const path = writeReport(folder, toJson(run, verdicts));
  if (junit !== undefined) writeFileSync(junit, toJunit(verdicts));
  const lines = [toText(verdicts).trimEnd(), ''];
  const fixed = fixedOf(verdicts, known);
  if (fixed.length > 0) lines.push(`${knownPath} need not have these, which pass: ${fixed.join(', ')}`);
  const changes = changesSince(earlier, verdicts);
  if (changes !== '') lines.push(changes);
  const gaps = judged === undefined ? [] : gapsIn(verdicts);
  if (judged !== undefined) lines.push(...profileLines(judged, verdicts, gaps, options));
  lines.push(`every verdict: ${path}`, ...beginWith(verdicts));
  print(`${lines.join('\n')}\n`);
  const status = exitStatus(verdicts);
  return status === 0 && gaps.length > 0 ? 1 : status;
}

const MAX_GAPS = 5; // named

/** The line for a README, which a file has too, and what is missing in it. */
function profileLines(
  { profile, outside }: Judged,
  verdicts: readonly Verdict[],
  gaps: readonly Verdict[],
  { report, specOnly, only }: Options,
): string[] {
  const missing = gaps.slice(0, MAX_GAPS).map(({ name }) => name);
  const more = gaps.length > MAX_GAPS ? ', …' : '';
  const lines =
    gaps.length === 0 ? [] : [`declined inside the profile, ${gaps.length}: ${missing.join(', ')}${more}`];
  if (only === undefined) writeFileSync(join(report, 'profile.json'), badgeOf(profile, verdicts, specOnly));
  const rest = outside === 0 ? '' : ` (${outside} tests do not apply)`;
  return [...lines, `${lineOf(profile, verdicts, specOnly)}${rest}`];
}

const CLEAR_LINE = '\r\x1b[K';

/** A progress bar, on a terminal only. */
function showProgress(done: number, total: number, operation: string): void {
  if (!process.stderr.isTTY) return;
  const bar = '█'.repeat(Math.round((20 * done) / total)).padEnd(20, '░');
  process.stderr.write(done === total ? CLEAR_LINE : `${CLEAR_LINE}${bar} ${done}/${total} ${operation}`);
}

function showScene(name: string, number: number, total: number): void {
  if (process.stderr.isTTY) process.stderr.write(`${CLEAR_LINE}${count(number, total)} ${name} …`);
}

/** Scenes take seconds, and a client may wait between connections: each has a line, even if the output is not a terminal. */
function showVerdict({ name, result, reason }: Verdict, number: number, total: number): void {
  const clear = process.stderr.isTTY ? CLEAR_LINE : '';
  process.stderr.write(
    `${clear}${count(number, total)} ${result.padEnd(8)} ${name}${reason ? `: ${reason}` : ''}\n`,
  );
}

function count(number: number, total: number): string {
  return `${String(number).padStart(String(total).length)}/${total}`;
}
