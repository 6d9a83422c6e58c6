/**
 * The vectors for ports in other languages, as a .tar.gz: for each profile its tests as JSON lines, a header of C, the schemas, the
 * pages from which a port is written, and a manifest with the SHA-256 of each file. The same sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { cHeader, jsonLines, PROFILES, vectorsId } from 'hub-protocol-judge/internals';
import { manifestOf } from './parts.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

/** What a port is written from, at the same places as in this repository, so that the pages lead to each other. */
const PAGES = [
  'docs/guides/porting.md',
  ...['https', 'identity', 'mqtt', 'policy', 'ports', 'protocol', 'requests', 'sessions'].map(
    (name) => `docs/reference/${name}.md`,
  ),
  'judge/README.md',
  'vectors/README.md',
  'vectors/aliases/identity.json',
  'vectors/tables.json',
];

const begin = (version: string): string => `\
# Test vectors of HiveMind protocol 3, for hub-protocol ${version}

Begin with docs/guides/porting.md. The rules are in docs/reference/protocol.md, and vectors/README.md says what each test sends and expects.

| File | Content |
| --- | --- |
| all.jsonl | every test, one a line |
${Object.keys(PROFILES)
  .map((name) => `| ${name}.jsonl | the tests of a port with this profile (judge/README.md, "Profiles") |\n`)
  .join('')}\
| vectors.h | tests and constants as a header of C |
| vectors/schemas/ | JSON schemas of the files from which the lines are made |
| manifest.json | the version of the vectors, and the SHA-256 of each file here |

The judge, which runs the tests on your port and says what is wrong, needs Node.js: npx hub-protocol-judge. These files need nothing.
`;

/** A page, whose links to what the archive does not have lead to the repository, if its address is known, or else nowhere. */
function pageOf(path: string): string {
  const { repository, version } = manifestOf('.');
  const base = repository && `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/v${version}/`;
  return read(path).replace(
    /\[((?:[^[\]]|\[[^\]]*\])+)\]\((?!https?:|#)([^)\s#]+)(#[^)]*)?\)/g,
    (link, text, target, part = '') => {
      const to = posix.join(posix.dirname(path), target);
      if (PAGES.includes(to)) return link;
      return base === undefined ? text : `[${text}](${base}${to}${part})`;
    },
  );
}

export function vectorsArchive(version: string): Uint8Array {
  const lines = (profile?: (typeof PROFILES)[string]): string =>
    [...jsonLines({ only: undefined, specOnly: false, profile }), ''].join('\n');
  const files: [name: string, text: string][] = [
    ['LICENSE', read('LICENSE')],
    ['README.md', begin(version)],
    ...PAGES.map((path): [string, string] => [path, pageOf(path)]),
    ['all.jsonl', lines()],
    ...Object.entries(PROFILES).map(([name, profile]): [string, string] => [`${name}.jsonl`, lines(profile)]),
    ...readdirSync(`${ROOT}/vectors/schemas`)
      .sort()
      .map((name): [string, string] => [`vectors/schemas/${name}`, read(`vectors/schemas/${name}`)]),
    ['vectors.h', cHeader(version)],
  ];
  const manifest = {
    vectors: vectorsId(),
    files: files.map(([name, text]) => ({ name, sha256: sha256(text) })),
  };
  const all = [['manifest.json', `${JSON.stringify(manifest, undefined, 1)}\n`] as const, ...files];
  const entries = all.flatMap(([name, text]) =>
    entryOf(`hub-protocol-vectors-${version}/${name}`, Buffer.from(text)),
  );
  return gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9 });
}

const BLOCK = 512;

/** A file in a tape archive (POSIX ustar). */
function entryOf(name: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): void => {
    header.write(value.toString(8).padStart(length - 1, '0'), at);
  };
  header.write(name, 0);
  octal(0o644, 100, 8); // mode, then owner, group, length and time
  for (const at of [108, 116]) octal(0, at, 8);
  octal(content.length, 124, 12);
  octal(0, 136, 12);
  header.write('        0', 148); // the checksum as blanks, and the type
  header.write('ustar\u000000', 257);
  octal(
    header.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}
