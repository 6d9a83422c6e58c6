/** Builds the single files for firmware: no imports, minified, with a licence banner and a source map. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';
import { build, type Plugin, transform } from 'esbuild';
import { withUniqueCatches } from './catches.ts';
import { assertShortened, shortenedNames } from './compact.ts';
import { documentedNames, fieldsIn } from './declared.ts';
import { lower } from './es5.ts';
import { withFrozenValues } from './frozen.ts';
import { tableOfCodes } from './sentences.ts';
import { isFunction, parseModule, walk } from './syntax.ts';

const root = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The description of each entry, for the first line of its files. */
export const ENTRIES = {
  core: 'the smallest client, without cryptography',
  device: 'a client for devices',
  link: 'a client for devices, with ClientLink',
  identity: 'identities and MQTT topics',
  requests: 'requests and replies',
  binary: 'binary messages',
  psk: 'derivePsk with its cryptography',
  full: 'the whole library',
};

type Entry = keyof typeof ENTRIES;

export interface BundleFile {
  readonly name: string;
  /** The file in bundles/ whose exports it has. */
  readonly entry: Entry;
  /** An ES2020 module, or an ES5 script that sets `module.exports` if there is a module, and otherwise a global. */
  readonly syntax: 'es2020' | 'es5';
  /** Whether errors have no sentences and private members are renamed. */
  readonly isCompact: boolean;
  /** The noble packages in it. */
  readonly noble: string;
  /** Whether it needs BigInt; an ES5 script then has BigInt literals and powers. */
  readonly usesBigInt: boolean;
  /** The global that a script sets, `hubProtocol` by default. */
  readonly global?: string;
}

function fileOf(entry: Entry, syntax: BundleFile['syntax'] = 'es2020'): BundleFile {
  const isCompact = entry !== 'full';
  return {
    name: `hub-protocol${entry === 'device' ? '' : `.${entry}`}${syntax === 'es5' ? '.es5' : ''}.js`,
    ...{ entry, syntax, isCompact },
    noble: isCompact ? '' : 'noble-ciphers, noble-curves, noble-hashes',
    usesBigInt: syntax === 'es2020' && ['device', 'link', 'full'].includes(entry),
    ...(syntax === 'es5' && entry === 'requests' && { global: 'hubProtocolRequests' }),
  };
}

export const FILES: readonly BundleFile[] = [
  ...[fileOf('device'), fileOf('core'), fileOf('device', 'es5'), fileOf('core', 'es5')],
  ...[fileOf('link'), fileOf('link', 'es5'), fileOf('identity')],
  ...[fileOf('requests'), fileOf('requests', 'es5'), fileOf('binary'), fileOf('psk'), fileOf('full')],
];

/** Whether Moddable may preload the file: the modules for devices. `psk` is for a host. */
export const isPreloadable = ({ syntax, isCompact, entry }: BundleFile): boolean =>
  syntax === 'es2020' && isCompact && entry !== 'psk';

/**
 * Functions with a single caller, which the minifier would move into it. XS recreates such a function on each call of the
 * caller, and these are called when a device has the least memory left.
 */
const KEPT_APART = [
  'rowsOf',
  'compress',
  'encode',
  'invert',
  'hmacSha256',
  'writeValue',
  'keysOf',
  'sortByCodePoint',
  'chaChaPolyOf',
];

/** Throws if a function that must stay apart is not in the bundle of `hub-protocol.js` or `hub-protocol.link.js`: it has another name, or is inlined. */
export function assertKeptApart(code: string): void {
  const names = new Set<string>();
  walk(parseModule(code), (node) => {
    const isNamed = node.type === 'FunctionDeclaration' || node.type === 'VariableDeclarator';
    if (isNamed && node.id?.type === 'Identifier') names.add(node.id.name);
    return !isFunction(node); // functions inside of others are not called by name from elsewhere
  });
  const missing = KEPT_APART.filter((name) => !names.has(name));
  if (missing.length > 0)
    throw new Error(
      `KEPT_APART in tools/bundles.ts names what the bundle does not have: ${missing.join(', ')}`,
    );
}

interface Output {
  readonly code: string;
  readonly map: string;
}

const { version } = JSON.parse(readFileSync(root('package.json'), 'utf8')) as { version: string };

function banner({ entry, noble }: BundleFile): string {
  const others = noble === '' ? '' : `; with ${noble} (c) 2022 Paul Miller (paulmillr.com)`;
  const own = `hub-protocol ${version}, ${ENTRIES[entry]}. (c) 2026 the hub-protocol authors`;
  return `/*! ${own}${others}. MIT License, see hub-protocol.LICENSE.txt */\n`;
}

/** Bundles an entry, makes it compact and lowers it, if so configured. Minifying comes last. */
async function bundle(file: BundleFile, source: string): Promise<Output> {
  const { isCompact, syntax, global } = file;
  const module = await bundleModule(source, isCompact, syntax);
  const compacted = isCompact ? await compact(module, namesForUsers(file, source)) : module;
  if (/^bundles\/(?:device|link)\.ts$/.test(source) && isPreloadable(file)) assertKeptApart(compacted.code);
  if (syntax === 'es5') return toScript(compacted, global);
  return isPreloadable(file) ? { ...compacted, code: withFrozenValues(compacted.code) } : compacted;
}

/** Bundles a file with everything it imports into one ES module, not minified. */
export async function bundleModule(
  path: string,
  isForDevices: boolean,
  syntax: BundleFile['syntax'] = 'es2020',
): Promise<Output> {
  const { outputFiles } = await build({
    entryPoints: [root(path)],
    outfile: root('dist/bundle.js'),
    bundle: true,
    minifySyntax: isForDevices, // removes calls of functions that `libraryForDevices` leaves out, and code that depends on them
    write: false,
    sourcemap: 'external',
    legalComments: 'none',
    target: 'es2020',
    format: 'esm',
    plugins: [...(isForDevices ? [libraryForDevices] : []), ...(syntax === 'es5' ? [forOldEngines] : [])],
  });
  const [map, code] = outputFiles!.map(({ text }) => text);
  // The remains of `opaque(Session.prototype, …)`, which minifiers treat as the call of a getter.
  return { code: code!.replace(/^\w+\.prototype;$/gm, ''), map: map! };
}

const TABLE_OF_CODES = tableOfCodes();

/**
 * Leaves out code that devices have no memory for: the sentences of errors, a sixth of the file; the use of the engine's
 * TextEncoder and TextDecoder, which devices lack, and of its JSON, since the library's own code does the same work; and the names that
 * objects with secrets are shown by. Their fields are hidden as everywhere.
 */
const libraryForDevices: Plugin = {
  name: 'library for devices',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/errors-table\.ts$/ }, () => ({
      contents: TABLE_OF_CODES,
      resolveDir: root('src'),
    }));
    onLoad({ filter: /\/src\/engine\.ts$/ }, () => ({
      contents: 'export function encodeByEngine() {} export function decodeByEngine() {}',
    }));
    onLoad({ filter: /\/src\/wire\/engine-json\.ts$/ }, () => ({
      contents:
        'export function parseByEngine() {} export function writeByEngine() {} export function isNoObject() {}',
    }));
    onLoad({ filter: /\/src\/opaque\.ts$/ }, () => ({ contents: 'export function opaque() {}' }));
  },
};

/**
 * The cryptography of ES5 files, whose engines lack BigInt, and some DataView: it uses doubles and bytes. With BigInt,
 * interpreters are several times as fast, so the other files use that.
 */
const forOldEngines: Plugin = {
  name: 'for old engines',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/crypto\/device\.ts$/ }, () => ({
      contents: "export { jsCrypto as deviceCrypto } from './js.ts';",
      resolveDir: root('src/crypto'),
      loader: 'ts',
    }));
    onLoad({ filter: /\/src\/crypto\/keystream-words\.ts$/ }, () => ({
      contents: "export * from './keystream-bytes.ts';",
      resolveDir: root('src/crypto'),
      loader: 'ts',
    }));
  },
};

/**
 * The names visible to users of a single file: the fields in its types. If its source is not its entry, it may export
 * anything that the package does.
 */
export function namesForUsers(file: BundleFile, source: string = sourceOf(file)): Set<string> {
  if (source === sourceOf(file)) return fieldsIn(`dist/${file.name.replace(/\.js$/, '.d.ts')}`);
  const texts = documentedNames().map(({ kind, code, members }) =>
    kind === 'class'
      ? members.map(({ name, type, signature }) => `${name} ${type} ${signature}`).join()
      : code,
  );
  const code = texts.join().replace(/\/\*[\s\S]*?\*\//g, '');
  return new Set(code.match(/\w+/g));
}

const sourceOf = ({ entry }: BundleFile): string => `bundles/${entry}.ts`;

async function compact({ code, map }: Output, known: ReadonlySet<string>): Promise<Output> {
  const names = shortenedNames(root('src'), code, known);
  const compacted = await transform(withMap(code, map), {
    mangleProps: new RegExp(`^(?:${names.join('|')})$`),
    mangleCache: {}, // then esbuild returns it
    minifySyntax: true,
    treeShaking: true,
    sourcemap: 'external',
    target: 'es2020',
    format: 'esm',
  });
  const shorter = Object.values(compacted.mangleCache ?? {});
  assertShortened(
    compacted.code,
    names.filter((name) => !shorter.includes(name)),
  );
  return compacted;
}

function withMap(code: string, map: string): string {
  const inline = Buffer.from(map).toString('base64');
  return `${code}\n//# sourceMappingURL=data:application/json;base64,${inline}`;
}

/** The end of a bundle. */
const EXPORT = /^export \{\n([\s\S]*)\};\s*$/m;

/** Makes an ES5 script that sets a global to the module's exports. */
export function toScript({ code, map }: Output, global = 'hubProtocol'): Promise<Output> {
  const body = code.replace(EXPORT, (_, list: string) => {
    const fields = list.replace(/(\w+)(?: as (\w+))?/g, (_all, name, as = name) => `${as}: ${name}`);
    const toModule = `if (typeof module === "object" && module.exports) module.exports = ${global};`;
    return `return {\n${fields}};\n})();\n${toModule}\n`;
  });
  return lower(`var ${global} = (function () {${body}`, map);
}

/** Minifies with swc, whose output is 4 % smaller than esbuild's. */
async function minify(file: BundleFile, { code, map }: Output): Promise<swc.Output> {
  const isModule = file.syntax === 'es2020';
  const ecma = isModule ? 2020 : 5;
  return swc.transform(code, {
    inputSourceMap: map,
    sourceMaps: true,
    configFile: false,
    swcrc: false,
    isModule,
    jsc: {
      target: 'es2020', // for the parser: BigInt literals and powers stay, even in scripts
      minify: {
        // collapse_vars uses some variables before their declaration, when Espruino does not know them yet.
        compress: {
          ecma,
          passes: 6,
          join_vars: isModule,
          collapse_vars: isModule,
          keep_fargs: false, // removes arguments that only sentences would have shown
          const_to_let: !isPreloadable(file),
          top_retain: isPreloadable(file) ? KEPT_APART : null,
        },
        mangle: { toplevel: isModule },
        ecma,
        module: isModule,
      },
    },
    minify: true,
  });
}

/**
 * Writes a single file, and its source map.
 * @param source - the entry, if it differs from the file's
 */
export async function writeBundle(
  file: BundleFile,
  folder: string,
  source: string = sourceOf(file),
): Promise<void> {
  const { code, map } = await minify(file, await bundle(file, source));
  const lines = banner(file);
  const shifted = JSON.parse(map!) as { mappings: string; file?: string };
  shifted.mappings = `;${shifted.mappings}`; // the banner's line
  shifted.file = file.name;
  // No comment names the map: XS would look for it and its sources, and reject the file if they are missing.
  writeFileSync(
    `${folder}/${file.name}`,
    `${lines}${(file.syntax === 'es5' ? withUniqueCatches(code) : code).trimEnd()}\n`,
  );
  writeFileSync(`${folder}/${file.name}.map`, JSON.stringify(shifted));
}

export async function buildBundles(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await Promise.all(FILES.map((file) => writeBundle(file, folder)));
  const licences = [root('LICENSE'), root('node_modules/@noble/hashes/LICENSE')];
  writeFileSync(
    `${folder}/hub-protocol.LICENSE.txt`,
    licences
      .map((path) => readFileSync(path, 'utf8').trim())
      .join('\n\nnoble-ciphers, noble-curves and noble-hashes:\n\n')
      .concat('\n'),
  );
}
