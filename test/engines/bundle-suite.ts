/** Bundles suite.ts into an ES5 script that sets the global `suite`. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lower } from '../../tools/es5.ts';

const STAND_INS = fileURLToPath(new URL('node-stand-ins.ts', import.meta.url));

/** Replacements for the modules that the adapter imports, as CommonJS. */
const MODULES: { readonly [name: string]: string } = {
  'src/index.ts': 'module.exports = hubProtocol;',
  'src/parts.ts': 'module.exports = hubProtocol;',
  'src/binary.ts': 'module.exports = hubProtocol;',
  'src/crypto/node.ts': '',
  'node:readline': '',
  'node:zlib': '',
  'node:crypto': `exports.createHash = require(${JSON.stringify(STAND_INS)}).createHash;`,
};

export async function bundleSuite(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('suite.ts', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'suite',
    target: 'es2020',
    inject: [STAND_INS],
    define: {
      'import.meta.filename': '"suite"',
      'process.argv': '[]',
      'Object.entries': 'objectEntries',
      'Object.fromEntries': 'fromEntries',
      'Uint8Array.of': 'uint8ArrayOf',
      BigInt: 'bigInt',
      DataView: 'BigIntView',
    },
    logOverride: { 'import-is-undefined': 'silent' },
    plugins: [
      {
        name: 'modules',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^node:/ }, ({ path }) => ({ path, namespace: 'modules' }));
          // The adapter imports the sources: here it tests the single file.
          onResolve({ filter: /\/src\/(?:index|parts|binary|crypto\/node)\.ts$/ }, ({ path }) => ({
            path: path.replace(/^.*\/src\//, 'src/'),
            namespace: 'modules',
          }));
          onLoad({ filter: /./, namespace: 'modules' }, ({ path }) => ({
            contents: MODULES[path]!,
            resolveDir: '/',
          }));
        },
      },
    ],
  });
  return (await lower(outputFiles[0]!.text)).code;
}
