/** The programs of README.md, docs/reference/install.md and sessions.md, as modules and scripts, for browsers, and with a single file. */
import { readFileSync } from 'node:fs';

const fences = ['README.md', 'docs/reference/install.md', 'docs/reference/sessions.md']
  .map((page) => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'))
  .flatMap((text) => [...text.matchAll(/^```(?:js|ts)\n(.*?)^```$/gms)])
  .map(([, code]) => code!);
const fenceWith = (text: string): string => fences.find((code) => code.includes(text))!;

/** The complete program, without its types. */
export const PROGRAM: string = fenceWith('onHubEvent')
  .replace(/^import type .*\n/gm, '')
  .replace(/: (?:string \| Uint8Array|\w*SessionEvent|void)(?=[ )])/g, '');

/** A client over WebSocket, which exports nothing and defines `converse`. */
export const CLIENT: string = readFileSync(new URL('programs/client.js', import.meta.url), 'utf8').replace(
  '// The shell of docs/reference/sessions.md',
  () => fenceWith('new ClientLink'),
);

/** The line that brings Node's cryptography. */
const NODE_CRYPTO = "import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';";

/** Another beginning of the program. */
const beginningWith = (text: string): string =>
  fences.find((code) => !code.includes('function') && code.includes(text))!;

/** The complete program as it begins elsewhere. */
const program = (beginning: string): string =>
  beginningWith(beginning) + PROGRAM.replace(/^import .*\n/gm, '');
export const SCRIPT: string = program('require(');
export const BROWSER_PROGRAM: string = program("'hub-protocol/js'");
export const SINGLE_FILE_PROGRAM: string = program("'./hub-protocol.full.js'");

/** With noble's cryptography and the randomness of the platform. */
export function withNoble(code: string): string {
  return withJs(code)
    .replace("{ jsCrypto } from 'hub-protocol/js'", "{ nobleCrypto as crypto } from 'hub-protocol/noble'")
    .replace(/^import \{ nobleBlake2b .*\nconst crypto = .*\n/m, '');
}

/** With the library's own cryptography, and noble's BLAKE2b. */
export function withJs(code: string): string {
  const [, , ...lines] = beginningWith("'hub-protocol/js'").split('\n');
  return code.replace(NODE_CRYPTO, lines.join('\n'));
}

/** With cryptography of the user's own, which has no Argon2id: the PSK was derived elsewhere. */
export function withOwnCrypto(code: string): string {
  return code
    .replace(NODE_CRYPTO, "import { crypto, randomBytes } from './own-crypto.js';")
    .replace(/derivePsk\(\{.*?\}\)/g, 'new Uint8Array(32)');
}

/** With the single file that has everything. */
export function withSingleFile(code: string): string {
  return withNoble(code)
    .replace("'hub-protocol'", "'./hub-protocol.full.js'")
    .replace(
      "{ nobleCrypto as crypto } from 'hub-protocol/noble'",
      "{ nobleCryptoWithAesGcm as crypto } from './hub-protocol.full.js'",
    );
}

/** With `require` in place of `import`. */
export function asCommonJs(code: string): string {
  return code.replace(
    /^import (\{.*?\}|\w+) from ('.*?');$/gms,
    (_, names: string, from: string) => `const ${names.replace(/ as /g, ': ')} = require(${from});`,
  );
}
