/**
 * Builds everything that is published: the library (dist/, by the compiler), the single files (dist/hub-protocol*.js), the
 * client, with its worker in a file without imports, and two programs that include the library, each in one file: the commands,
 * with a copy of the worker, and the judge, with a copy of the vectors.
 *
 *     npm run build        about 4 s; nothing if no input changed since
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { buildBundles, FILES } from './bundles.ts';
import { exportsOf } from './declared.ts';
import { IN_NODE } from './parts.ts';
import { PAGE, referencesOf, rulesOf } from './protocol-rules.ts';

/** The modules of the core in dist/ that the package exports. */
const CORE_ENTRIES: readonly string[] = ['index', 'parts', 'recording', 'binary'];
/** The providers of cryptography in dist/ that the package exports. */
const PROVIDERS: readonly string[] = ['crypto/noble', 'crypto/noble-aesgcm', 'crypto/node', 'crypto/js'];
/** The type files in dist/ that the package needs in addition to the single files' types. */
export const TYPES: readonly string[] = ['types', ...CORE_ENTRIES, ...PROVIDERS];

const root = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The worker of the client in Node.js. */
export const WORKER = 'derive-worker-on-node.js';

/** The library, for programs that include it. */
const LIBRARY = {
  'hub-protocol/binary': root('src/binary.ts'),
  'hub-protocol/node': root('src/crypto/node.ts'),
  'hub-protocol/parts': root('src/parts.ts'),
  'hub-protocol': root('src/index.ts'),
};

/** The inputs of a build: files, and folders with everything in them. */
const INPUTS = [
  ...['src', 'bundles', 'judge/src', 'judge/package.json', 'cli/src', 'cli/package.json', 'vectors', 'tools'],
  ...['client/src', 'client/package.json', 'client/tsconfig.json'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'docs/reference/protocol.md'],
];
/** The folders that a build replaces. */
const OUTPUTS = ['dist', 'client/dist', 'judge/dist', 'cli/dist'].map(root);
/** The hash of the inputs, kept with the output. */
const STAMP = root('dist/.inputs');

const inputs = hashOf(INPUTS);
const isBuilt = [STAMP, ...OUTPUTS].every((path) => existsSync(path));
if (!isBuilt || readFileSync(STAMP, 'utf8') !== inputs) {
  for (const folder of OUTPUTS) rmSync(folder, { recursive: true, force: true });
  await buildAll();
  writeFileSync(STAMP, inputs);
}

async function buildAll(): Promise<void> {
  // The core is compiled alone, with fewer libraries than the providers, whose output includes it again.
  await compile('src/tsconfig.json');
  await Promise.all([
    compile('src/crypto/tsconfig.json'),
    compile('src/crypto/tsconfig.node.json'),
    compile('bundles/tsconfig.json'),
  ]);
  await writeDeclarations();
  await Promise.all([buildBundles(root('dist')), buildClient()]);
  await Promise.all([buildProgram('judge'), buildProgram('cli')]);
  cpSync(root(`client/dist/${WORKER}`), root(`cli/dist/${WORKER}`));
  copyVectors();
  writeRules();
}

/** The hash of files, and of the contents of folders. */
function hashOf(paths: readonly string[]): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const isFolder = statSync(root(path)).isDirectory();
    const files = isFolder ? readdirSync(root(path), { recursive: true, encoding: 'utf8' }) : [''];
    for (const file of files.sort()) {
      const whole = root(path) + (file && `/${file}`);
      if (statSync(whole).isFile()) hash.update(`${path} ${file}\n`).update(readFileSync(whole));
    }
  }
  return hash.digest('hex');
}

async function compile(project: string): Promise<void> {
  const child = spawn(process.execPath, [root('node_modules/typescript/bin/tsc'), '-p', root(project)], {
    stdio: 'inherit',
  });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${project} does not compile`);
}

/**
 * Writes one file of types for the entries of the core, which export them from there, one for each provider, and one for each
 * single file, the last without docstrings.
 */
async function writeDeclarations(): Promise<void> {
  const types = root('dist/types.d.ts');
  writeFileSync(types, CORE_ENTRIES.map((entry) => `export * from './${entry}.ts';\n`).join(''));
  const compiled = root('dist/declarations');
  const texts = await Promise.all([
    ...['types', ...PROVIDERS].map((entry) => typesOf(root(`dist/${entry}.d.ts`), entry)),
    ...FILES.map(({ name, entry, syntax, global = 'hubProtocol' }) =>
      typesOf(
        `${compiled}/bundles/${entry}.d.ts`,
        name.slice(0, -'.js'.length),
        syntax === 'es5' ? global : '',
      ),
    ),
  ]);
  rmSync(compiled, { recursive: true });
  for (const [file, text] of texts) writeFileSync(root(`dist/${file}.d.ts`), text);
  for (const entry of CORE_ENTRIES) {
    const names = exportsOf(`${entry}.ts`).map(({ name }) => name);
    writeFileSync(root(`dist/${entry}.d.ts`), `export { ${names.sort().join(', ')} } from './types.js';\n`);
  }
}

/**
 * The types of a module with all that it imports, in one text without imports.
 * @param input - the path of its `.d.ts`
 * @param output - the name of the file for the text
 * @param global - the name under which a script exports them
 */
async function typesOf(input: string, output: string, global = ''): Promise<[output: string, text: string]> {
  const bundle = await rolldown({
    input,
    plugins: [dts({ dtsInput: true, tsconfig: false })],
    experimental: { attachDebugInfo: 'none' },
    checks: { bundlerTimings: false },
    onLog: (_level, { message }) => {
      throw new Error(message); // such as an import that is not found
    },
  });
  const { output: chunks } = await bundle.generate();
  await bundle.close();
  // In object types, the generator leaves comments of one line on the lines of the members around them.
  const code = chunks[0].code
    .replace(/^( *)(\/\*\* .*? \*\/)(?=\S)/gm, '$1$2\n$1')
    .replace(/^( *)(.*;) (\/\*\* .* \*\/)$/gm, '$1$2\n$1$3');
  return [output, global === '' ? code : `${code}\nexport as namespace ${global};\n`];
}

async function buildClient(): Promise<void> {
  await compile('client/tsconfig.json');
  cpSync(root('LICENSE'), root('client/LICENSE'));
  // Without imports, since a bundler copies it as it is, and as a module or not: no manifest beside the copy says what it is.
  await build({
    entryPoints: [root('client/src/derive-worker-on-node.ts')],
    outfile: root(`client/dist/${WORKER}`),
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    alias: LIBRARY,
    banner: { js: 'var require = process.getBuiltinModule;' },
  });
}

async function buildProgram(folder: string): Promise<void> {
  const { metafile } = await build({
    entryPoints: [root(`${folder}/src/cli.ts`)],
    outfile: root(`${folder}/dist/cli.js`),
    bundle: true,
    metafile: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    legalComments: 'inline',
    // One copy of the library, since the commands use its internals.
    alias: {
      ...LIBRARY,
      'hub-protocol-client/hub': root('client/src/hub.ts'),
      'hub-protocol-client/atomic-file': root('client/src/atomic-file.ts'),
      'hub-protocol-client/causes': root('client/src/causes.ts'),
      'hub-protocol-client/sockets': root('client/src/sockets.ts'),
      'hub-protocol-client/https': root('client/src/https.ts'),
      'hub-protocol-client': root('client/src/ws.ts'),
      'hub-protocol-judge/internals': root('judge/src/internals.ts'),
      ...IN_NODE,
    },
    preserveSymlinks: true, // keeps paths in comments independent of where packages are
    // ws is CommonJS and calls require() for the modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);",
    },
  });
  chmodSync(root(`${folder}/dist/cli.js`), 0o755);
  writeFileSync(root(`${folder}/LICENSE`), licencesOf(Object.keys(metafile.inputs)));
}

/** The licence of this project, and the licences of the packages in a program, which must accompany it. */
function licencesOf(inputs: readonly string[]): string {
  const parts = inputs.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
  const byText = new Map<string, string[]>();
  for (const part of [...new Set(parts.filter((part) => part !== undefined))].sort()) {
    const file = readdirSync(root(`node_modules/${part}`)).find((name) => /^licen[cs]e/i.test(name))!;
    const text = readFileSync(root(`node_modules/${part}/${file}`), 'utf8').trim();
    byText.set(text, [...(byText.get(text) ?? []), part.replace('@noble/', 'noble-')]);
  }
  const others = [...byText].map(([text, names]) => `${names.join(', ')}:\n\n${text}\n`);
  return [readFileSync(root('LICENSE'), 'utf8'), ...others].join('\n');
}

/** The rules of the protocol that name each flag, type and tcId of a file of vectors. */
function writeRules(): void {
  const rules: { [file: string]: { [name: string]: string[] } } = {};
  for (const { rule, file, names } of rulesOf(PAGE).flatMap(referencesOf)) {
    const own = rules[file] ?? {};
    rules[file] = own;
    for (const name of names) own[name] = [...(own[name] ?? []), rule];
  }
  writeFileSync(root('judge/dist/rules.json'), JSON.stringify(rules));
}

function copyVectors(): void {
  rmSync(root('judge/vectors'), { recursive: true, force: true });
  cpSync(root('vectors'), root('judge/vectors'), {
    recursive: true,
    filter: (path) => !path.startsWith(root('vectors/generate')) && !path.endsWith('requirements.txt'),
  });
}
