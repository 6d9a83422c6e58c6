/** Names the mistake behind a PSK. Deriving one takes up to a second, so the PSKs of known mistakes are listed beforehand. */
import type { Vector } from '../vectors.ts';
import type { Causes } from '../verdict.ts';
import { PSK_MISTAKES } from './psk-mistakes.ts';

const KEY_DIGITS = 64;
const LISTED_DIGITS = 32;

const IN_SALT: { readonly [mistake: string]: string } = {
  'node id': 'the salt is the node id itself; it is its SHA-256',
  hexadecimal: 'the salt is the SHA-256 in hexadecimal; it is the 32 bytes',
  half: 'the salt is half of the SHA-256; it is all 32 bytes',
  password: 'the salt is the SHA-256 of the password; it must be the SHA-256 of the node id',
  zeros: 'the salt is zeros; it is the SHA-256 of the node id',
  reversed: 'the bytes of the salt are in reverse order',
  twice: 'the salt is hashed twice; it is the SHA-256 of the node id',
  'SHA-1': 'the salt is the SHA-1 of the node id; it is its SHA-256',
  MD5: 'the salt is the MD5 of the node id; it is its SHA-256',
  'SHA-512': 'the salt is the SHA-512 of the node id; it is its SHA-256',
  '32 bytes of the SHA-512': 'the salt is 32 bytes of the SHA-512 of the node id; it is its SHA-256',
  BLAKE2b: 'the salt is the BLAKE2b of the node id; it is its SHA-256',
  base64: 'the salt is the SHA-256 in base64; it is the 32 bytes',
  'with password': 'the salt is the SHA-256 of node id and password; it must be the SHA-256 of the node id',
  trimmed: 'the node id is trimmed; it is hashed as it came',
  'lower case': 'the node id is hashed in lower case; it is hashed as it came',
  NFC: 'the node id is normalized to NFC; it is hashed as it came',
  NFD: 'the node id is normalized to NFD; it is hashed as it came',
  'first line': 'the node id is taken up to its first line feed; it is hashed as it came',
  'last line feed': 'the line feed at the end of the node id is left out; it is hashed as it came',
  'last line break': 'CR and LF at the end of the node id are left out; it is hashed as it came',
  'trimmed at its end': 'white space at the end of the node id is left out; it is hashed as it came',
  'CR LF': 'CR LF in the node id becomes LF; it is hashed as it came',
  'line feeds': 'the line feeds of the node id are changed; it is hashed as it came',
  'with NUL': 'the node id is hashed with a NUL after it; it is hashed as it came',
  'ends at U+0000': 'the node id ends at U+0000 (a string of C); all of it is hashed',
  'without U+0000': 'U+0000 at the end of the node id is left out; all of it is hashed',
  'BLAKE2b of 16 bytes':
    'the salt is the BLAKE2b of the node id in 16 bytes (those that crypto_pwhash takes); it is the 32 bytes of its SHA-256',
  'with a line feed': 'the node id is hashed with a line feed after it; it is hashed as it came',
  'upper case': 'the node id is hashed in upper case; it is hashed as it came',
  'upper-case hexadecimal': 'the salt is the SHA-256 in upper-case hexadecimal; it is the 32 bytes',
  'UTF-16': 'the node id is encoded as UTF-16; it is encoded as UTF-8',
  '16 bytes, then zeros': 'the salt is half of the SHA-256, then zeros; it is all 32 bytes',
  quoted: 'the node id is hashed with quotation marks; it is hashed as it came',
};

const IN_PASSWORD: { readonly [mistake: string]: string } = {
  trimmed: 'the password is trimmed; it is taken as it is',
  'first line': 'the password is taken up to its first line feed; it is taken as it is',
  'last line feed': 'the line feed at the end of the password is left out; it is taken as it is',
  'last line break': 'CR and LF at the end of the password are left out; it is taken as it is',
  'trimmed at its end': 'white space at the end of the password is left out; it is taken as it is',
  'CR LF': 'CR LF in the password becomes LF; it is taken as it is',
  'lower case': 'the password is taken in lower case; it is taken as it is',
  NFC: 'the password is normalized to NFC; it is taken as it is',
  NFD: 'the password is normalized to NFD; it is taken as it is',
  NFKC: 'the password is normalized to NFKC; it is taken as it is',
  'Latin-1': 'the password is encoded as Latin-1; it is encoded as UTF-8',
  'low bytes': 'of each UTF-16 unit of the password only the low byte is taken; it is encoded as UTF-8',
  'UTF-16': 'the password is encoded as UTF-16; it is encoded as UTF-8',
  'ends at U+0000': 'the password ends at U+0000 (a string of C); it is taken as it is',
  'without U+0000': 'U+0000 at the end of the password is left out; it is taken as it is',
  'with NUL': 'the password has a NUL after it; it is taken as it is',
  hashed: 'the password is hashed first; it is taken as it is',
  'hashed in hexadecimal': 'the password is hashed first, in hexadecimal; it is taken as it is',
  'hashed with SHA-512': 'the password is hashed first, with SHA-512; it is taken as it is',
  base64: 'the password is taken in base64; it is taken as it is',
  'with a line feed': 'the password has a line feed after it; it is taken as it is',
  'upper case': 'the password is taken in upper case; it is taken as it is',
  quoted: 'the password has quotation marks around it; it is taken as it is',
  'big-endian UTF-16': 'the password is encoded as UTF-16, big-endian; it is encoded as UTF-8',
  'after the node id': 'the node id is put before the password; it is taken as it is',
  'before the node id': 'the node id is put after the password; it is taken as it is',
  hexadecimal: 'the password is taken in hexadecimal; it is taken as it is',
};

/** The memory, which libraries take in bytes, KiB or MiB. */
function inMemory(value: string): string {
  const hint = value === '64' ? ': the library counts in other units' : '';
  return `Argon2id has ${value} KiB of memory${hint}; it has 65536 KiB, which are 64 MiB`;
}

/** All costs together, which are a library's own if none are given. */
function inCosts(value: string): string {
  const [passes, memory, lanes] = value.split(' ');
  return `Argon2id has a time cost of ${passes}, ${memory} KiB and ${lanes} lanes; it has 3, 65536 KiB and 1`;
}

/** A name of psk-mistakes.ts as a sentence. */
function sentence(name: string): string {
  const [what, value] = name.split(/:? (.*)/) as [string, string];
  const cut = /^first (\d+)$/.exec(value);
  if (cut !== null) return `the node id is cut to ${cut[1]} characters; all of it is hashed`;
  const cutBytes = /^first (\d+) bytes$/.exec(value);
  if (cutBytes !== null) return `the password is cut to ${cutBytes[1]} bytes; it is taken as it is`;
  if (what === 'salt') return IN_SALT[value]!;
  if (what === 'password') return IN_PASSWORD[value]!;
  if (what === 'passes') return `Argon2id has a time cost of ${value}; it has 3`;
  if (what === 'memory') return inMemory(value);
  if (what === 'lanes') return `Argon2id has ${value} lanes; it has 1`;
  if (what === 'costs') return inCosts(value);
  if (what === 'arguments') return 'password and salt are swapped';
  if (what === 'data') return 'Argon2id has the node id as its associated data; it has none';
  if (what === 'hashed') return 'it is hashed; it is what Argon2id returns';
  if (what === 'length') return `Argon2id is asked for ${value} bytes; it is asked for 32`;
  if (what === 'version') return 'the version of Argon2id is 0x10; it is 0x13';
  if (what === 'swapped') return 'password and node id are swapped';
  return `the algorithm is ${what === 'argon2i' ? 'Argon2i' : 'Argon2d'}; it is Argon2id`;
}

const toHex = (text: string): string => Buffer.from(text).toString('hex');

/** Whether the right PSK rules out that white space is left out: then it would be another one. */
export function refutesPsk({ password, nodeId }: Vector, cause: string): boolean {
  const text = String(cause.includes('password') ? password : nodeId);
  if (/ is trimmed;/.test(cause)) return text.trim() !== text;
  return /white space at the end of/.test(cause) && text.trimEnd() !== text;
}

/** The known mistake that makes `got` the PSK of some vector. */
export function mistakesInPsk(right: string, got: unknown): Causes {
  if (typeof got !== 'string') return [];
  const listed = PSK_MISTAKES.find((mistake) => mistake.startsWith(`${got.slice(0, LISTED_DIGITS)} `));
  if (listed !== undefined)
    return listed
      .slice(LISTED_DIGITS + 1)
      .split(' | ')
      .map((name) => `psk: ${sentence(name)}`);
  if (got.length !== KEY_DIGITS) return [`psk: it has ${got.length / 2} bytes; it has 32`];
  const inDigits = PSK_MISTAKES.find(
    (mistake) => mistake.endsWith(' length 16') && got.startsWith(toHex(mistake.slice(0, LISTED_DIGITS))),
  );
  if (inDigits !== undefined) return ['psk: it is the hexadecimal form of 16 bytes; it is 32 bytes'];
  const digits = Buffer.from(right.slice(0, KEY_DIGITS / 2)).toString('hex');
  if (got === digits) return ['psk: it is 32 digits of its own hexadecimal form; it is the 32 bytes'];
  const reversed = right.replace(/^.*$/, (digits) => digits.match(/../g)!.reverse().join(''));
  return got === reversed ? ['psk: its bytes are in reverse order'] : [];
}
