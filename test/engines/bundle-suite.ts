/** Bundles suite.ts into an ES5 script that sets the global `suite`. */
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { lower } from '../../tools/es5.ts';

const STAND_INS = fileURLToPath(new URL('node-stand-ins.ts', import.meta.url));

/** Replacements for the modules that the adapter imports, as CommonJS. */
const MODULES: { readonly [name: string]: string } = {
  'hub-protocol': 'module.exports = hubProtocol;',
  'hub-protocol/parts': 'module.exports = hubProtocol;',
  'hub-protocol/binary': 'module.exports = hubProtocol;',
  'hub-protocol/node': '',
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
          onResolve({ filter: /^(?:hub-protocol|node:)/ }, ({ path }) => ({ path, namespace: 'modules' }));
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
