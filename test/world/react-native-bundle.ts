/** Bundles a program for React Native and lowers it, as Metro and Babel do for Hermes. */
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';
import { build } from 'esbuild';

/** The modules that an app takes from its global `app`, in place of those of React Native. */
const MODULES = [
  'expo-secure-store',
  'react-native',
  'react-native-argon2',
  'react-native-get-random-values',
  'node:crypto', // of a hub that runs beside the app
];

/**
 * @param path - of the program, below the root of the project
 * @returns a script of ES5 that sets the global `example` to what the program exports
 */
export async function bundleForReactNative(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../${path}`, import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'example',
    platform: 'neutral',
    mainFields: ['main'],
    plugins: [
      {
        name: 'modules of React Native',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: new RegExp(`^(?:${MODULES.join('|')})$`) }, ({ path: name }) => ({
            path: name,
            namespace: 'app',
          }));
          onLoad({ filter: /./, namespace: 'app' }, ({ path: name }) => ({
            contents: `module.exports = app[${JSON.stringify(name)}];`,
          }));
        },
      },
    ],
  });
  const { code } = await swc.transform(outputFiles[0]!.text, {
    configFile: false,
    swcrc: false,
    isModule: false,
    jsc: { target: 'es5', externalHelpers: false },
  });
  return code;
}
