/** The types of the package in strict programs, with the oldest compiler that it supports, later ones and the newest. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import client from '../../client/package.json' with { type: 'json' };
import manifest from '../../package.json' with { type: 'json' };
import { fencesAsTypeScript } from './fences.ts';
import { emptyFolder, install, run, TOOLS } from './packed.ts';

const test = suite('types');
const packages = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/** Compilers, with the modes that each is tried in. It also checks declarations themselves in the first `full` ones. */
const COMPILERS = [
  { path: `${TOOLS}typescript-5.0/`, modes: ['nodenext'], full: 0 }, // those of Node.js are too new for it
  { path: `${TOOLS}typescript-5.4/`, modes: ['nodenext', 'node16', 'bundler'], full: 1 },
  { path: `${TOOLS}typescript-5.9/`, modes: ['nodenext', 'node16', 'bundler'], full: 0 },
  { path: `${packages}typescript/`, modes: ['nodenext', 'node16', 'bundler'], full: 3 },
];
const folder = emptyFolder('types');
const inFolder = (...path: string[]): string => join(folder, ...path);

test.before(async () => {
  // Only those of Node.js: whatever else a declaration needs, a package of ours must bring.
  const types = `@types/node@${manifest.devDependencies['@types/node']}`;
  await install(folder, 'hub-protocol', 'hub-protocol-client', types);
  for (const name of ['hub-protocol', 'hub-protocol.full'].flatMap((file) => [
    `${file}.js`,
    `${file}.d.ts`,
  ])) {
    copyFileSync(inFolder('node_modules/hub-protocol/dist', name), inFolder(name));
  }
  for (const name of ['no-cast.ts', 'vendored.ts']) {
    copyFileSync(new URL(`programs/${name}`, import.meta.url), inFolder(name));
  }
  const kiosk = readFileSync(new URL('../../examples/kiosk.ts', import.meta.url), 'utf8');
  writeFileSync(inFolder('kiosk.ts'), kiosk);
  writeFileSync(
    inFolder('kiosk-mqtt.ts'),
    kiosk.replace("'hub-protocol-client'", "'hub-protocol-client/mqtt'"),
  );
  const entries = Object.entries(client.exports).filter(([, entry]) => typeof entry === 'object');
  const imports = entries.map(([entry]) => `import '${client.name}${entry.slice(1)}';`);
  writeFileSync(inFolder('entries.ts'), imports.join('\n'));
  const exportsOf = (entry: string): string[] => {
    const types = readFileSync(inFolder('node_modules/hub-protocol/dist', `${entry}.d.ts`), 'utf8');
    return /^export \{ (.*) \} from/m.exec(types)![1]!.split(', ');
  };
  const exported = { 'hub-protocol': exportsOf('index'), 'hub-protocol/parts': exportsOf('parts') };
  for (const [name, code] of fencesAsTypeScript(exported)) writeFileSync(inFolder(name), code);
});

/** What a compiler says about all programs in the folder. */
async function compile(compiler: string, moduleResolution: string, skipLibCheck: boolean): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: ['node'],
    module: moduleResolution === 'bundler' ? 'esnext' : moduleResolution,
    moduleResolution,
    skipLibCheck,
  };
  writeFileSync(inFolder('tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
  return run(folder, process.execPath, [`${compiler}bin/tsc`, '-p', folder]).then(
    () => '',
    ({ stdout }) => String(stdout),
  );
}

for (const { path, modes, full } of COMPILERS) {
  const { version } = JSON.parse(readFileSync(`${path}package.json`, 'utf8')) as { version: string };
  for (const [index, mode] of modes.entries()) {
    test(`strict programs, and the programs in README.md and docs/, compile with TypeScript ${version}, ${mode}`, async () => {
      assert.is(await compile(path, mode, index >= full), '');
    });
  }
}

test.run();
