/** Reads files, with errors that say what to do, and writes secrets where nobody else can read them. */
import { lstatSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { NotPrivate, replaceFile, writeFileAtomically } from '../../client/src/atomic-file.ts';
import { MAX_FILE, readAtMost } from '../../judge/src/read-file.ts';
import { CannotRun } from './command.ts';
import {
  bytesToUtf8,
  hexToBytes,
  type Identity,
  isJsonObject,
  type Json,
  type Keyring,
  LocalError,
  ownField,
  parseIdentity,
  parseJson,
  parseKeyring,
} from './protocol.ts';

/**
 * Reads a file, or standard input if the path is `-`.
 * @param what - what the file is, for the message: `the identity`
 */
export function readFile(path: string, what: string): Uint8Array {
  let contents: Uint8Array | undefined;
  try {
    contents = readAtMost(path);
  } catch (error) {
    throw new CannotRun(`cannot read ${what}, ${path}: ${reasonOf(error)}`);
  }
  if (contents === undefined) {
    throw new CannotRun(`${path} is longer than ${MAX_FILE / 2 ** 20} MiB, so it is not ${what}`);
  }
  return contents;
}

/** Says why the system refused a file, without quoting anything but the error code. */
export function reasonOf(error: unknown): string {
  if (error instanceof NotPrivate) return 'its file system lets others read every file. Choose another';
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const reasons: { readonly [code: string]: string } = {
    ENOENT: 'there is no such file. Is the path right?',
    EISDIR: 'it is a directory. Name a file in it',
    ENOTDIR: 'a part of its path is not a directory',
    EACCES: 'access denied. Are you its owner?',
    EEXIST: 'there is a file of that name',
    ENOSPC: 'the disk is full. Nothing was changed',
  };
  return reasons[code] ?? code;
}

/** Runs a reader of a file’s contents; what the library refuses, the command cannot use. */
export function readAs<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof LocalError) throw new CannotRun(`${path}: ${error.message} (${error.code})`);
    throw error;
  }
}

export function readIdentityFile(path: string): Identity {
  const contents = readFile(path, 'the identity');
  return readAs(path, () => parseIdentity(contents));
}

/** @param accessKey - of the identity to which the keyring must belong */
export function readKeyringFile(path: string, accessKey: string): Keyring {
  const contents = readFile(path, 'the keyring');
  return readAs(path, () => parseKeyring(contents, accessKey));
}

/** Reads a keyring, whatever identity it belongs to. */
export function readAnyKeyring(path: string): Keyring {
  const contents = readFile(path, 'the keyring');
  const owner = ownerOfKeyring(contents);
  if (owner === undefined) throw new CannotRun(`${path} is not a keyring`);
  return readAs(path, () => parseKeyring(contents, owner));
}

/** The access key in a keyring; `undefined` if it is no keyring. */
export function ownerOfKeyring(contents: Uint8Array): string | undefined {
  let value: Json | undefined;
  try {
    value = parseJson(contents);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value) || ownField(value, 'static_key_is_fresh') === undefined) return undefined;
  const owner = ownField(value, 'access_key');
  if (typeof owner === 'string' && owner !== '') return owner;
  throw new CannotRun('the keyring has no access_key: restore it');
}

/**
 * Reads a key of 32 bytes: in hex, in base64, or as they are.
 * @param what - for messages: `the PSK`
 */
export function readKeyFile(path: string, what: string): Uint8Array {
  const contents = readFile(path, what);
  if (contents.length === 32) return contents;
  const text = (bytesToUtf8(contents) ?? '').trim();
  const key = hexToBytes(text) ?? new Uint8Array(Buffer.from(text, 'base64'));
  if (key.length === 32) return key;
  throw new CannotRun(`${path} is not ${what}: expected 32 bytes, in hex or base64`);
}

const OTHERS = 0o077; // what a mode allows to group and others
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Checks that a secret may be written to this path. Called before anything slow, and again by `writePrivate`.
 * @param mayReplace - whether an existing file may be replaced
 * @returns the path without symbolic links, but for one that leads nowhere
 */
export function assertPrivate(path: string, mayReplace: boolean): string {
  const place = placeOf(path);
  assertOthersMayNotWrite(dirname(place));
  const there = lstatSync(place, { throwIfNoEntry: false });
  if (there === undefined) return place;
  if (!mayReplace) {
    throw new CannotRun(
      `${path} exists. If you mean to replace the file, add --force. Replacing a keyring locks the client out of every ` +
        'hub that has pinned its static key; --keyring keeps that key',
    );
  }
  if (!there.isFile()) throw new CannotRun(`${path} is not a file: choose another path`);
  if ((there.mode & OTHERS) !== 0) {
    throw new CannotRun(
      `others may read ${path}, and may have read its secrets: find out, then chmod 600 it or remove it`,
    );
  }
  return place;
}

/** Where a file is, or would be. */
function placeOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // It is not there yet, or is a link that leads nowhere.
  }
  const directory = dirname(path);
  try {
    return join(realpathSync(directory), basename(path));
  } catch (error) {
    throw new CannotRun(`cannot write to the directory ${directory}: ${reasonOf(error)}`);
  }
}

/** Whoever may write to a directory may put another one in the place of each directory in it. */
function assertOthersMayNotWrite(directory: string): void {
  const { mode } = statSync(directory);
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) {
    throw new CannotRun(
      `others may write to the directory ${directory}, so they could replace the file: chmod go-w it, or choose another`,
    );
  }
  const parent = dirname(directory);
  if (parent !== directory) assertOthersMayNotWrite(parent);
}

/**
 * Writes a secret into a file that only its owner can read. An existing file is replaced in one step, so that a failure
 * leaves the old one.
 * @param before - what the file said when the secret was made from it. If it says something else, it stays
 */
export function writePrivate(path: string, secret: string, mayReplace: boolean, before?: string): void {
  const place = assertPrivate(path, mayReplace);
  let isDone = true;
  try {
    if (before === undefined) writeFileAtomically(place, secret, mayReplace);
    else isDone = replaceFile(place, before, secret);
  } catch (error) {
    throw new CannotRun(`cannot write ${path}: ${reasonOf(error)}`);
  }
  if (!isDone) throw new CannotRun(`another program has changed ${path} meanwhile: run the command again`);
}
