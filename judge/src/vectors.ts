/** The vector files. The build copies them into this package. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const DIRECTORY = new URL('../vectors/', import.meta.url);

/** One test of a file. Its further fields depend on the type of its group. */
export interface Vector {
  readonly tcId: number;
  readonly comment: string;
  readonly flags: readonly string[];
  /** `acceptable`: the protocol leaves the outcome open, and the other fields are this library's choice. */
  readonly result: 'valid' | 'invalid' | 'acceptable';
  /** Why this library refuses the input, if it does. */
  readonly error?: string;
  /** Codes that are as good, since the input has several faults. */
  readonly otherErrors?: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the schema of each file holds the fields of each type
  readonly [field: string]: any;
}

export interface VectorGroup {
  readonly type: string;
  readonly source: readonly string[];
  /** In handshakes and sessions. */
  readonly pattern?: string;
  readonly suite?: string;
  readonly tests: readonly Vector[];
}

export interface VectorFile {
  readonly description: string;
  /** The program that writes the file, unless it was copied by hand. */
  readonly generator?: string;
  readonly notes: { readonly [flag: string]: string };
  readonly numberOfTests: number;
  readonly testGroups: readonly VectorGroup[];
}

/** The names of all files, without `.json`. */
export function vectorFiles(): string[] {
  return readdirSync(DIRECTORY)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length));
}

/** Each file is read once. */
const read = new Map<string, VectorFile>();

export function readVectorFile(name: string): VectorFile {
  const known = read.get(name);
  if (known !== undefined) return known;
  const file: VectorFile = JSON.parse(readFileSync(new URL(`${name}.json`, DIRECTORY), 'utf8'));
  read.set(name, file);
  return file;
}

/** What tells one state of the vectors from another: their version, and the SHA-256 of all files in the order of their names. */
export interface VectorsId {
  readonly version: string;
  readonly sha256: string;
}

let id: VectorsId | undefined;

export function vectorsId(): VectorsId {
  if (id !== undefined) return id;
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const hash = createHash('sha256');
  for (const name of vectorFiles().sort()) hash.update(readFileSync(new URL(`${name}.json`, DIRECTORY)));
  id = { version, sha256: hash.digest('hex') };
  return id;
}

let codes: ReadonlySet<string> | undefined;

/** The codes of all refusals in the vectors. */
export function refusalCodes(): ReadonlySet<string> {
  codes ??= new Set(
    vectorFiles().flatMap((name) => {
      const text = readFileSync(new URL(`${name}.json`, DIRECTORY), 'utf8');
      return [...text.matchAll(/"error":\s*"([^"]+)"/g)].map(([, code]) => code!);
    }),
  );
  return codes;
}

/** The rules that name a flag, a type of group or a tcId, by file and name. */
type Rules = { readonly [file: string]: { readonly [name: string]: readonly string[] } };

let rules: Rules | undefined;

function readRules(): Rules {
  try {
    return JSON.parse(readFileSync(new URL('../dist/rules.json', import.meta.url), 'utf8'));
  } catch {
    return {}; // the sources without a build
  }
}

/** The rules of docs/reference/protocol.md that a vector tests. The build writes them from the page. */
export function rulesOf(file: string, type: string, { tcId, flags }: Vector): string[] {
  rules ??= readRules();
  const own = rules[file] ?? {};
  return [...new Set([String(tcId), ...flags, type].flatMap((name) => own[name] ?? []))];
}
