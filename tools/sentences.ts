/** Calls the functions of src/errors-table.ts with marked arguments, to write the device variants. */
import { readFileSync } from 'node:fs';
import { LocalError, RemoteError } from '../src/errors.ts';
import * as table from '../src/errors-table.ts';

/** A stand-in for an argument of any type: as text it is the mark. Its members are stand-ins, and its result is itself again. */
export function standIn(mark: string): unknown {
  const members = new Map<string | symbol, unknown>([[Symbol.toPrimitive, () => mark]]);
  const itself: unknown = new Proxy(() => itself, {
    get: (_, key) => {
      if (!members.has(key)) members.set(key, standIn(`${mark}.${String(key)}`));
      return members.get(key);
    },
  });
  return itself;
}

type Make = (...all: unknown[]) => unknown;

interface Made {
  readonly name: string;
  readonly make: Make;
  readonly arguments: readonly unknown[];
  readonly error: LocalError | RemoteError;
}

/** Calls every function that makes an error. `mark` gives the text of the argument at an index. */
function makeAll(mark: (index: number) => string): Made[] {
  return Object.entries(table).flatMap(([name, make]: [string, unknown]) => {
    if (typeof make !== 'function') return [];
    const all = Array.from({ length: make.length }, (_, index) => standIn(mark(index)));
    const error: unknown = make(...all);
    const isError = error instanceof LocalError || error instanceof RemoteError;
    return isError ? [{ name, make: make as Make, arguments: all, error }] : [];
  });
}

/** The error of a function on devices, as JavaScript: with its code, and the argument that its sentence starts with. */
function withoutSentence({ error, arguments: all }: Made): string {
  const written = (value: unknown): string =>
    typeof value === 'function' ? String(value) : JSON.stringify(value);
  const [, about] = /^"([\w.]+)" /.exec(String(error.message)) ?? [];
  const isParameter = all.some((each) => String(each) === about);
  const message = isParameter
    ? `"${error.code}: " + ${about}`
    : JSON.stringify(about === undefined ? '' : `${error.code}: ${about}`);
  const details = Object.entries(error)
    .filter(([field]) => !['name', 'code', 'message'].includes(field))
    .map(([field, value]) => `${field}: ${written(value)}`);
  const given = [written(error.code), message];
  if (details.length > 0) given.push(`{ ${details.join(', ')} }`);
  if (error.cause !== undefined) given.push(written(error.cause));
  return `new ${error.name}(${given.join(', ').replace(/, ""$/, '')})`;
}

/**
 * The source of the module that replaces src/errors-table.ts on devices: its functions make errors without sentences. An
 * error whose sentence starts with the quoted name of an argument keeps the name. Functions that make the same error from an
 * argument are one function; the minifier inlines the others. Each function is on the same line as in the table, for the
 * source map.
 */
export function tableOfCodes(): string {
  const table = readFileSync(new URL('../src/errors-table.ts', import.meta.url), 'utf8').split('\n');
  const lines = table.map(() => '');
  const place = (name: string, statement: string): void => {
    lines[table.findIndex((line) => line.includes(` ${name} = (`) || line.includes(` ${name}(`))] +=
      statement;
  };
  lines[0] = "import { LocalError, RemoteError } from './errors.ts';";
  place('kindOf', 'export function kindOf() {}');
  const shared = new Map<string, string>();
  for (const made of makeAll((index) => `p${index}`)) {
    const { name } = made;
    const result = withoutSentence(made);
    const parameters = made.arguments.map(String);
    while (parameters.length > 0 && !new RegExp(`\\b${parameters.at(-1)}\\b`).test(result)) parameters.pop();
    const source = `(${parameters.join(', ')}) { return ${result}; }`;
    const same = shared.get(source);
    if (same === undefined) {
      place(name, `export function ${name}${source}`);
      if (parameters.length > 0) shared.set(source, name);
    } else place(name, `export { ${same} as ${name} };`);
  }
  return lines.join('\n');
}
