/** The promises of README.md and SECURITY.md, each with the tests and searches that hold it: docs/evidence/status.md. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { code, type Drawn, pageWith, table } from './draw.ts';
import { lastRunOf } from './evidence.ts';

const ROOT = new URL('../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');

/** The sentences of a page's paragraphs, without code, tables, lists and pictures. */
export function sentencesOf(text: string): string[] {
  return text
    .replace(/^```.*?^```$/gms, '')
    .split(/\n{2,}/)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !/^(?:[#|!]|- |<!--)/.test(block))
    .flatMap((block) =>
      block
        .replace(/\n/g, ' ')
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/\*/g, '')
        .split(/(?<=[.:]) (?=[A-Z])/),
    );
}

/** What SECURITY.md says that an attacker cannot do: the column of its tables. */
export function impossibilitiesOf(text: string): string[] {
  const rows: string[] = [];
  let column = -1;
  for (const line of text.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    if (!line.startsWith('|')) column = -1;
    else if (cells.includes('cannot')) column = cells.indexOf('cannot');
    else if (column >= 0 && !/^-+$/.test(cells[column]!) && cells[column] !== '') rows.push(cells[column]!);
  }
  return rows;
}

/** A promise by the beginning of its sentence, or by the row or the bold words of SECURITY.md, and what holds it. */
type Promises = { readonly [promise: string]: readonly string[] };

/**
 * What holds a promise: the name of a test or a part of it, or a program with its path. Programs below evidence/ show when they last
 * ran; tests, and the programs of `.ci/run`, run at every commit.
 */
const README: Promises = {
  'Talk to a HiveMind': [
    'test/package/run',
    'connects, asks over the bus, and reconnects with the pinned key when the hub restarts',
    'test/interop/run',
  ],
  'A client recognises its hub': [
    'evidence/proofs/run',
    'a hub with another key is reported with both fingerprints, before the connection and its answers',
  ],
  'It is tested in Node.js': ['test/package/run', 'test/engines/run', 'test/browser/run', 'test/interop/run'],
  'The core has no dependencies': [
    'imports packages and modules of Node only in providers of cryptography, which the core does not import',
    'the core, lowered to ES5, is ES5 and uses only the built-ins on its list',
    'test/engines/run',
  ],
};

/** Sentences of README.md that promise nothing: instructions, and what a page contains. */
const INSTRUCTIONS =
  /^(?:For kiosks|Status: |Names can |The library has had no |What each promise|Save |No answer|To talk|Next: |Documents|MIT)/;

const SECURITY: Promises = {
  'read or change anything after': ['evidence/proofs/run'],
  'complete a handshake': ['evidence/proofs/run'],
  'make the client drop the pin': [
    'evidence/searches/explore/run',
    'an attacker who spoils one KKpsk0 and knows the password is trusted under replace-pin, but not under keep-pin or pinned-only',
  ],
  'make `HubSession` ready': [
    'a replayed message 1 of KKpsk0 does not make a hub ready',
    'after a replayed message 1, the next message of the attacker ends the session without ready',
  ],
  'test guesses faster than Argon2id': ['refuses memory one byte short of 64 MiB'],
  'learn the client': ['evidence/proofs/run'],
  'test many guesses with one message 2': ['guesses in one message 2 reveal nothing to an impostor'],
  'make the client store anything': [
    'a session that ends before the PSK is proved wipes its copy',
    'a node id over 4096 bytes causes no derivation',
  ],
  'make the client forget a PSK': ['evidence/searches/explore/run'],
  'stop it, or cost it more than time': ['evidence/searches/explore/run', 'evidence/searches/simulate/run'],
  'impersonate the pinned hub': [
    'evidence/proofs/run',
    'looks the pin up under the node id of the HELLO, whatever the HANDSHAKE says',
  ],
  'do so unnoticed': [
    'a hub with another key is reported with both fingerprints, before the connection and its answers',
  ],
  'be trusted under the name': [
    'evidence/proofs/run',
    'the policies of a failed KKpsk0 are what the cases say: replace-pin compares no pin, keep-pin does',
  ],
  'be trusted under any name': [
    'evidence/proofs/run',
    'a client that trusts only pinned hubs connects to no other hub',
  ],
  'Wiping.': [
    'wipes its copy of the ephemeral key once a message of the peer has arrived',
    'a derivation wipes every input and output of BLAKE2b except the tag',
    'the caller may wipe the static key once the session exists',
  ],
  'Constant time.': [
    'evidence/timing/constant-time',
    'compares every byte, wherever the first difference is',
  ],
  'Compressed binary messages': [
    'refuses more than the limit from an inflate that ignores it',
    'refuses a compressed message without inflate',
  ],
  'Randomness.': ['calls randomBytes once, for 32 bytes'],
  'Other code in the program.': ['takes nothing from Object.prototype', ' from Object.prototype'],
  'Isolation.': [
    'no event and no error holds a secret, in bytes, hex or base64',
    'shows no secret of an identity, of its parts, or of an object that contains it',
  ],
  Recordings: ['records the ephemeral key of a failed handshake only if asked to'],
  'Installed packages': [
    'installing the packages brings three packages of noble, and fflate and ws with the client, and runs no script',
  ],
  'Pinned versions': ['every dependency of this project has an exact version'],
  'Refused by a test': [
    'only known development dependencies run an install script',
    'the licence texts of the bundled packages are included',
  ],
  'How to check an installation': ['two builds in different folders give the same bytes'],
  'Not covered': [],
};

const plain = (text: string): string => text.replace(/`/g, '');

/** What a page promises, each with what holds it; `undefined` for a promise without a row. */
export function heldBy(
  promises: readonly string[],
  rows: Promises,
): (readonly [string, readonly string[] | undefined])[] {
  return promises.map((promise) => [
    promise,
    Object.entries(rows).find(([beginning]) => plain(promise).startsWith(plain(beginning)))?.[1],
  ]);
}

export function promisesOfReadme(text: string): string[] {
  return sentencesOf(text).filter((sentence) => !INSTRUCTIONS.test(plain(sentence)));
}

export function promisesOfSecurity(text: string): string[] {
  const bold = Array.from(text.matchAll(/^- \*\*(.*?)\*\*/gm), ([, words]) => words!);
  return [...impossibilitiesOf(text), ...bold];
}

/** The pages, what each promises, and its rows. */
export const PAGES: readonly (readonly [string, (text: string) => string[], Promises])[] = [
  ['README.md', promisesOfReadme, README],
  ['SECURITY.md', promisesOfSecurity, SECURITY],
];

const TESTS = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.includes('node_modules') && !file.startsWith('docs/status'))
  .map((file) => [`test/${file}`, read(`test/${file}`)] as const);
const CI = read('.ci/run');

/** Whether it is a program, and not the name of a test. */
const isProgram = (held: string): boolean => /^(?:npm run |(?:evidence|ports|test|vectors)\/)/.test(held);

/** The files with a test of this name, or the program, if CI or a page of evidence has it. */
export function placesOf(held: string): string[] {
  if (!isProgram(held)) return TESTS.filter(([, code]) => code.includes(held)).map(([file]) => file);
  if (existsSync(new URL(held, ROOT)) && statSync(new URL(held, ROOT)).isDirectory()) return [held];
  return CI.includes(`step ${held}`) || lastRunOf(held) !== undefined ? [held] : [];
}

function shown(held: string): string {
  const [place] = placesOf(held);
  if (place === undefined) throw new Error(`there is no test or program ${held}`);
  const text = isProgram(held) ? code(held) : held.trim();
  return place.startsWith('npm ') ? text : `[${text}](../../${place})`;
}

/** When a program last ran for its page; what CI runs has run at every commit. */
function whenOf(held: readonly string[]): string {
  const dates = held.map((one) => (isProgram(one) && lastRunOf(one)) || 'every commit');
  return [...new Set(dates)].join('; ');
}

export function status(): Drawn {
  const tables = PAGES.map(([page, promisesOf, rows]) => [
    page,
    table(
      ['Promise', 'Held by', 'Last run'],
      heldBy(promisesOf(read(page)), rows).map(([promise, held = []]) => [
        promise,
        held.length === 0 ? 'nothing' : held.map(shown).join('; '),
        held.length === 0 ? '' : whenOf(held),
      ]),
    ),
  ]);
  return pageWith('docs/evidence/status.md', Object.fromEntries(tables));
}
