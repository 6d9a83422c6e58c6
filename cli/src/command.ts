/** The parts of a command: its options, its help, and its result. */
import { parseArgs } from 'node:util';
import { table } from 'hub-protocol-judge/internals';

/** The command line, a file or an input that a command cannot use. The message says what to do next. */
export class CannotRun extends Error {}

export interface Option {
  readonly type: 'string' | 'boolean';
  readonly multiple?: true;
  /** The placeholder for the value in the help. */
  readonly argument?: string;
  readonly help: string;
}

export interface Options {
  readonly [name: string]: Option;
}

/** 0: done. 1: something is wrong, and the result names it. 3: something is wrong, but the command cannot determine what. */
export type Status = 0 | 1 | 3;

/** The result of a command. */
export interface Result {
  readonly status: Status;
  /** For people; ends with a line feed. */
  readonly text: string;
  /** For programs. */
  readonly json: object;
}

/** The arguments of a command, checked against its options. */
export class Arguments {
  readonly positionals: readonly string[];
  readonly #values: { readonly [name: string]: unknown };

  constructor(args: string[], options: Options) {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    this.#values = values;
    this.positionals = positionals;
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }

  texts(name: string): readonly string[] {
    return (this.#values[name] as string[] | undefined) ?? [];
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  /** The one positional argument. */
  only(what: string): string {
    const [first, second] = this.positionals;
    if (first === undefined || second !== undefined) throw new CannotRun(`expected one ${what}: see --help`);
    return first;
  }
}

export interface Command {
  readonly name: string;
  /** One line, for the list of commands. */
  readonly summary: string;
  /** The command line after `hub-protocol`. */
  readonly usage: string;
  /** A description of the command, and examples. */
  readonly help: string;
  readonly options: Options;
  run(args: Arguments): Result | Promise<Result>;
}

/** The options that every command has. */
export const COMMON_OPTIONS: Options = {
  json: { type: 'boolean', help: 'print the result as JSON' },
  help: { type: 'boolean', help: 'print this' },
};

export const EXIT_STATUS: string = `\
Exit status
  0  done, and nothing is wrong
  1  something is wrong, and the output names it
  2  the command could not run: its arguments, a file, or its input
  3  something is wrong, and the command cannot find the cause
`;

export function helpOf({ usage, help, options }: Command): string {
  const rows = Object.entries({ ...options, ...COMMON_OPTIONS }).map(([name, { argument = '', help }]) => {
    return [`--${name} ${argument}`.trim(), help] as const;
  });
  return `hub-protocol ${usage}\n\n${help}\nOptions\n${table(rows)}\n${EXIT_STATUS}`;
}
