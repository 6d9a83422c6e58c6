/** What npm publishes, used as a stranger would: packed, and installed into an empty folder. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { build } from 'esbuild';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('the tarball');
const root = fileURLToPath(new URL('../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-'));
const inFolder = (...path: string[]): string => join(folder, ...path);
const { NODE_V8_COVERAGE: _, ...env } = process.env;

/** The compiler of this project, and the one that came with the check of types. */
const fromHere = createRequire(import.meta.url);
const COMPILERS = [fromHere, createRequire(fromHere.resolve('@arethetypeswrong/core'))].map((require) =>
  join(require.resolve('typescript/package.json'), '../bin/tsc'),
);

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
}
let packed: Packed;
let tarball: Buffer;
let printed: string;

function run(program: string, ...args: string[]): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)(program, args, { cwd: folder, env, timeout: 60_000 });
}

/** What a compiler says about programs in the folder. */
async function compile(compiler: string, options: object, ...files: string[]): Promise<string> {
  const compilerOptions = {
    strict: true,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: ['node'],
    ...options,
  };
  writeFileSync(inFolder('tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  return run(process.execPath, compiler, '-p', folder).then(
    () => '',
    ({ stdout }) => String(stdout),
  );
}

test.before(async () => {
  const { stdout } = await promisify(execFile)(
    'npm',
    ['pack', '--json', '--silent', '--pack-destination', folder],
    { cwd: root, env },
  );
  packed = Object.values(JSON.parse(stdout.slice(stdout.search(/^[[{]/m))) as Packed[])[0]!;
  tarball = readFileSync(inFolder(packed.filename));
  writeFileSync(inFolder('package.json'), '{ "type": "module", "private": true }');
  const done = await run('npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', packed.filename);
  printed = done.stderr;
  mkdirSync(inFolder('node_modules/@types'));
  for (const name of ['ws', '@types/ws', '@types/node']) {
    symlinkSync(join(root, 'node_modules', name), inFolder('node_modules', name));
  }
  copyFileSync(new URL('first-contact.ts', import.meta.url), inFolder('first-contact.ts'));
});
test.after(() => rmSync(folder, { recursive: true }));

test('takes less than 1.5 MB, and its installation brings noble alone and no warning of its own', () => {
  assert.ok(packed.unpackedSize < 1_500_000, `${packed.unpackedSize}`);
  assert.not.match(printed, /hub-protocol|noble|scripts/);
  assert.not.ok(statSync(inFolder('node_modules/hub-protocol/node_modules'), { throwIfNoEntry: false }));
});

test('publint has nothing to say', async () => {
  const pkgDir = inFolder('node_modules/hub-protocol');
  const { messages, pkg } = await publint({ pkgDir, pack: false });
  assert.equal(
    messages.filter(({ type }) => type !== 'suggestion').map((message) => formatMessage(message, pkg!)),
    [],
  );
});

test('the types of every entry are right, wherever ES modules are resolved by exports', async () => {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  assert.ok(analysis.types);
  // An ES module that require() loads, and resolution without exports, are as documented.
  const problems = (analysis as { problems: { kind: string; resolutionKind?: string }[] }).problems.filter(
    ({ kind, resolutionKind }) => kind !== 'CJSResolvesToESM' && resolutionKind !== 'node10',
  );
  assert.equal(problems, []);
});

test('loads by import and by require, and so does every other entry', async () => {
  const names = [
    '',
    '/noble',
    '/noble-aesgcm',
    '/node',
    '/bundles/hub-protocol.js',
    '/bundles/hub-protocol.full.js',
  ];
  const imports = names.map((name) => `await import('hub-protocol${name}')`).join(';');
  await run(process.execPath, '--input-type=module', '-e', imports);
  const requires = names.map((name) => `require('hub-protocol${name}')`).join(';');
  await run(
    process.execPath,
    '--input-type=commonjs',
    '-e',
    `${requires}; require('hub-protocol/package.json')`,
  );
});

for (const compiler of COMPILERS) {
  const { version } = fromHere(join(compiler, '../../package.json')) as { version: string };
  for (const [module, moduleResolution] of [
    ['nodenext', 'nodenext'],
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ]) {
    test(`a strict program compiles with TypeScript ${version}, ${moduleResolution}`, async () => {
      assert.is(await compile(compiler, { module, moduleResolution }, 'first-contact.ts'), '');
    });
  }

  test(`a copied single file has types with TypeScript ${version}`, async () => {
    for (const name of ['hub-protocol.js', 'hub-protocol.d.ts']) {
      copyFileSync(inFolder('node_modules/hub-protocol/dist', name), inFolder(name));
    }
    writeFileSync(
      inFolder('vendored.ts'),
      `import { ClientSession, deviceCrypto, type SessionEvent } from './hub-protocol.js';
      declare const session: ClientSession, socket: WebSocket;
      const pieces: Uint8Array[] = session.sendJson({ a: [1] });
      session.receive('').forEach((event: SessionEvent) => {
        if (event.type === 'transmit') socket.send(event.data);
      });
      export { deviceCrypto, pieces };`,
    );
    assert.is(await compile(compiler, { module: 'nodenext', noEmit: true }, 'vendored.ts'), '');
  });
}

for (const compiler of COMPILERS) {
  const { version } = fromHere(join(compiler, '../../package.json')) as { version: string };
  test(`what the library hands out and takes needs no cast in a browser, with TypeScript ${version}`, async () => {
    writeFileSync(
      inFolder('no-cast.ts'),
      `import { type Argon2id, type ClientSession, derivePsk, type HandshakeState, type Keyring, type PskOptions,
        type SessionEvent, type Transport } from 'hub-protocol';
      import { randomBytes } from 'hub-protocol/node';
      interface Order { id: number; items: { name: string }[] }
      declare const session: ClientSession, handshake: HandshakeState, transport: Transport, order: Order,
        keyring: Keyring, options: PskOptions, slices: Argon2id, socket: WebSocket;
      socket.onmessage = ({ data }) => {
        const events: SessionEvent[] = session.receive(typeof data === 'string' ? data : new Uint8Array(data));
        for (const event of events) if (event.type === 'transmit') socket.send(event.data);
      };
      session.sendJson(order).forEach((message) => socket.send(message));
      session.streamJson([order]);
      const taken: BufferSource[] = [derivePsk(options), slices.result(), randomBytes(32), keyring.pins[0]!.key,
        handshake.writeMessage(), handshake.readMessage(randomBytes(1)), transport.encrypt(randomBytes(1)),
        transport.decrypt(randomBytes(17)), transport.handshakeHash];
      // @ts-expect-error -- undefined is no JSON
      session.sendJson(undefined);
      export { taken };`,
    );
    assert.is(await compile(compiler, { module: 'nodenext', noEmit: true }, 'no-cast.ts'), '');
  });
}

test('makes first contact over a WebSocket', async () => {
  const { stdout } = await run(process.execPath, 'first-contact.js');
  assert.is(stdout, 'the hub says {"echo":"{\\"say\\":\\"hello\\"}"}\n');
});

test('is bundled for a browser, and what is not used stays out', async () => {
  const bundle = async (contents: string): Promise<number> => {
    const { outputFiles, warnings } = await build({
      stdin: { contents, resolveDir: folder },
      bundle: true,
      minify: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    assert.equal(warnings, []);
    return outputFiles[0]!.contents.length;
  };
  const core = await bundle("export { ClientSession } from 'hub-protocol';");
  const all = await bundle("export * from 'hub-protocol'; export * from 'hub-protocol/noble';");
  assert.ok(core < all / 2, `${core} of ${all} bytes`);
});

test.run();
