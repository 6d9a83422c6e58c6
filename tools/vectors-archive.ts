/**
 * The vectors for ports in other languages, as a .tar.gz: for each profile its tests as JSON lines, a header of C, the schemas, and a
 * manifest with the SHA-256 of each file. The same sources give the same bytes.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { cHeader, jsonLines, PROFILES, vectorsId } from 'hub-protocol-judge/internals';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}/${path}`, 'utf8');

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

export function vectorsArchive(version: string): Uint8Array {
  const lines = (profile?: (typeof PROFILES)[string]): string =>
    [...jsonLines({ only: undefined, specOnly: false, profile }), ''].join('\n');
  const files: [name: string, text: string][] = [
    ['LICENSE', read('LICENSE')],
    ['README.md', read('vectors/README.md')],
    ['all.jsonl', lines()],
    ...Object.entries(PROFILES).map(([name, profile]): [string, string] => [`${name}.jsonl`, lines(profile)]),
    ...readdirSync(`${ROOT}/vectors/schemas`)
      .sort()
      .map((name): [string, string] => [`schemas/${name}`, read(`vectors/schemas/${name}`)]),
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
