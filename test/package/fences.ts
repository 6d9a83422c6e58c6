/** The JavaScript of README.md and docs/ as strict TypeScript: with types of parameters, and of what the text speaks of. */
import { readdirSync, readFileSync } from 'node:fs';

const ROOT = new URL('../../', import.meta.url);

/** What somebody adds who writes a fence down in TypeScript. */
const ANNOTATIONS: readonly (readonly [javascript: string, typescript: string])[] = [
  ['(length) =>', '(length: number) =>'],
  ['(data) =>', '(data: string | Uint8Array) =>'],
  ['let timer;', 'let timer: ReturnType<typeof setTimeout> | undefined;'],
  ['const orders = [];', 'const orders: Order[] = [];'],
  ['let socket;', 'let socket: WebSocket;'],
  ['run(more)', 'run(more: Order[])'],
  ['const carryOut = {', 'const carryOut: { [order: string]: (order: any) => void } = {'],
  ['let scheduler;', 'let scheduler: RequestScheduler;'],
  ['onReady({ sessionId })', 'onReady({ sessionId }: { sessionId: string })'],
  ['ask(requestId, text)', 'ask(requestId: string, text: string)'],
  ['onMessage({ text })', 'onMessage({ text }: { text: string })'],
  ['carryOut(decisions)', 'carryOut(decisions: RequestDecision[])'],
  ['store(changed)', 'store(changed: Keyring)'],
  ['const pass = (data, to, from)', 'const pass = (data: any, to: any, from: any)'],
  ['(event) => handle(', '(event: any) => handle('],
  ['(frame) =>', '(frame: Uint8Array) =>'],
  [
    'handle({ type, data, text }, side, other)',
    'handle({ type, data, text }: any, side: object, other: object)',
  ],
];

/** What fences use without declaring it, since the text around them says what it is. */
const GIVEN: { readonly [name: string]: string } = {
  accessKey: 'string',
  askPerson: '(error: Error) => void',
  client: 'ClientSession',
  crypto: 'CryptoProvider',
  derive: '(nodeId: string, done: (psk: Uint8Array) => void) => void',
  deviceCrypto: 'CryptoProvider',
  event: 'SessionEvent',
  KeyringFile: 'new (path: string, accessKey: string) => object',
  hmacSha256: "CryptoProvider['hmacSha256']",
  identity: 'Identity',
  keyring: 'Keyring',
  onEvent: '(event: LinkEvent) => void',
  options: 'ClientOptions',
  randomBytes: 'RandomBytes',
  read: '(name: string) => any',
  save: '(keyring: Keyring, done: (error?: Error) => void) => void',
  sha256: "CryptoProvider['sha256']",
  siteId: 'string',
  readFileSync: "(path: string, encoding: 'utf8') => string",
  socket: 'WebSocket',
  startClient:
    '(options: { identity: Identity; keyring: object; ask: (error: Error) => void }) => { ask(text: string): Promise<{ ending: string; reply: Reply }> }',
  store: '(text: string) => void',
  stored: 'string | undefined',
  url: 'string',
  write: '(name: string, text: string) => void',
};

/** What each entry point of the library exports. */
type Exported = { readonly [entry: string]: readonly string[] };

/** Each fence as a module, by the name of a file. */
export function fencesAsTypeScript(exported: Exported): Map<string, string> {
  const modules = new Map<string, string>();
  const shelves = ['docs/reference/', 'docs/evidence/']; // test/docs/examples.test.ts runs the guides
  const documents = shelves.flatMap((shelf) => readdirSync(new URL(shelf, ROOT)).map((name) => shelf + name));
  for (const page of ['README.md', 'client/README.md', ...documents.filter((name) => name.endsWith('.md'))]) {
    const text = readFileSync(new URL(page, ROOT), 'utf8');
    for (const [, language, fence] of text.matchAll(/^```(js|ts)\n(.*?)^```$/gms)) {
      const name = `${page.replace(/\W/g, '-')}-${modules.size}.ts`;
      modules.set(name, asModule(language === 'js' ? annotated(fence!) : fence!, exported));
    }
  }
  return modules;
}

function annotated(fence: string): string {
  return ANNOTATIONS.reduce(
    (code, [javascript, typescript]) => code.split(javascript).join(typescript),
    fence,
  );
}

/** Imports what a fence uses of the library, and declares what is given. */
function asModule(fence: string, exported: Exported): string {
  const used = (code: string) => (name: string) =>
    new RegExp(`(?<!\\w|'|[^.]\\.)${name}\\b(?!: )`).test(code);
  const isDeclared = (name: string): boolean =>
    new RegExp(
      `\\b(?:const|let|function) (?:\\{[^}]*|(?:\\w+, )*)${name}\\b|^import [^;]*\\b${name}\\b[^;]*;`,
      'm',
    ).test(fence);
  const given = Object.keys(GIVEN).filter((name) => used(fence)(name) && !isDeclared(name));
  const declarations = given.map((name) => `declare let ${name}: ${GIVEN[name]};`).join('\n');
  const isMissing = (name: string): boolean => used(fence + declarations)(name) && !isDeclared(name);
  const imports = Object.entries(exported).map(
    ([entry, names]) => `import { ${names.filter(isMissing).join(', ')} } from '${entry}';`,
  );
  return `${imports.join('\n')}\n${declarations}\n${fence}\nexport {};\n`;
}
