/** Runs a command: from the arguments to the output. */
import { readFileSync } from 'node:fs';
import { didYouMean, printable, table } from 'hub-protocol-judge/internals';
import { Arguments, CannotRun, COMMON_OPTIONS, type Command, EXIT_STATUS, helpOf } from './command.ts';
import { ASK } from './commands/ask.ts';
import { CHAT } from './commands/chat.ts';
import { DOCTOR } from './commands/doctor.ts';
import { EXPLAIN } from './commands/explain.ts';
import { HUB } from './commands/hub.ts';
import { PAIR } from './commands/pair.ts';
import { PROVISION } from './commands/provision.ts';
import { PSK } from './commands/psk.ts';
import { REDACT } from './commands/redact.ts';
import { TOPICS } from './commands/topics.ts';
import { shown } from './shown.ts';

export const COMMANDS: readonly Command[] = [
  HUB,
  ASK,
  CHAT,
  PSK,
  PROVISION,
  PAIR,
  TOPICS,
  REDACT,
  DOCTOR,
  EXPLAIN,
];

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const HELP = `\
hub-protocol COMMAND [arguments]

Commands for HiveMind protocol 3: run a hub to try things on, ask a hub,
provision devices, and find out why they fail.

${table(COMMANDS.map(({ name, summary }) => [name, summary]))}
  hub-protocol COMMAND --help    shows what a command does, with examples
  hub-protocol --version, -v

If it is not installed, type "npx hub-protocol-cli" for "hub-protocol".

No secret is ever an argument. Every command prints JSON with --json, and no
escape codes unless on a terminal.

${EXIT_STATUS}`;

/** The output of a program, and its exit status. */
export interface Outcome {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a command. Everything that it returns is safe for a terminal.
 * @param args - the arguments after the name of the program
 */
export async function main(args: readonly string[]): Promise<Outcome> {
  try {
    const { status, stdout } = await runCommand(args);
    return { status, stdout: printable(stdout), stderr: '' };
  } catch (error) {
    return { status: 2, stdout: '', stderr: printable(`hub-protocol: ${messageOf(error)}\n`) };
  }
}

async function runCommand([name, ...args]: readonly string[]): Promise<Omit<Outcome, 'stderr'>> {
  if (name === '--version' || name === '-v') return { status: 0, stdout: `hub-protocol ${version}\n` };
  if (name === '--help' || name === '-h' || name === 'help') return { status: 0, stdout: helpFor(args[0]) };
  if (name === undefined) {
    throw new CannotRun(`expected a command: ${COMMANDS.map(({ name }) => name).join(', ')}`);
  }
  const command = find(name);
  if (args.includes('--help') || args.includes('-h')) return { status: 0, stdout: helpOf(command) };
  const given = new Arguments(args, { ...command.options, ...COMMON_OPTIONS });
  const { status, text, json } = await command.run(given);
  return { status, stdout: given.flag('json') ? `${JSON.stringify(json, undefined, 2)}\n` : text };
}

function find(name: string): Command {
  const command = COMMANDS.find((command) => command.name === name);
  if (command !== undefined) return command;
  const names = COMMANDS.map((command) => command.name);
  throw new CannotRun(`there is no command ${shown(name)}${didYouMean(name, names)}`);
}

function helpFor(name: string | undefined): string {
  return name === undefined ? HELP : helpOf(find(name));
}

/** The message for an error. An error that is not ours may quote a secret, so only its kind and its place are shown. */
function messageOf(error: unknown): string {
  if (error instanceof CannotRun) return error.message.replace('allowPlaintext: true', '--allow-plaintext');
  const { name, code, message, stack } = error as NodeJS.ErrnoException;
  if (code?.startsWith('ERR_PARSE_ARGS')) {
    const hint = message.includes("'--password'")
      ? 'a password is never an argument, since other users can see those. It is asked for, or read from standard input'
      : 'see --help';
    return `${message.split('. To specify')[0]}: ${hint}`;
  }
  const place = stack?.match(/^ {4}at .*$/gm)?.join('\n') ?? '';
  return `a defect of hub-protocol-cli, please report it: ${name} ${code ?? ''}\n${place}`;
}
