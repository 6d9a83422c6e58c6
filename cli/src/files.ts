/** Reads files, with errors that say what to do, and writes secrets where nobody else can read them. */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
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
 * Reads a file.
 * @param what - what the file is, for the message: `the identity`
 */
export function readFile(path: string, what: string): Uint8Array {
  try {
    return readFileSync(path === '-' ? 0 : path);
  } catch (error) {
    throw new CannotRun(`cannot read ${what}, ${path}: ${reasonOf(error)}`);
  }
}

/** Says why the system refused a file, without quoting anything but the error code. */
function reasonOf(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  const reasons: { readonly [code: string]: string } = {
    ENOENT: 'there is no such file. Is the path right?',
    EISDIR: 'it is a directory. Name a file in it',
    ENOTDIR: 'a part of its path is not a directory',
    EACCES: 'access denied. Are you its owner?',
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
 */
export function assertPrivate(path: string, mayReplace: boolean): void {
  const directory = dirname(existsSync(path) ? realpathSync(path) : path);
  let mode: number;
  try {
    mode = statSync(directory).mode;
  } catch (error) {
    throw new CannotRun(`cannot write to the directory ${directory}: ${reasonOf(error)}`);
  }
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) {
    throw new CannotRun(
      `others may write to the directory ${directory}, so they could replace the file: chmod go-w it, or choose another`,
    );
  }
  if (!existsSync(path)) return;
  if (!mayReplace) {
    throw new CannotRun(
      `${path} exists. Replacing a keyring locks the client out of every hub that has pinned its static key; --keyring ` +
        'keeps that key. If you mean to replace the file, add --force',
    );
  }
  if (!statSync(path).isFile()) throw new CannotRun(`${path} is not a file: choose another path`);
  if ((statSync(path).mode & OTHERS) !== 0) {
    throw new CannotRun(
      `others may read ${path}, and may have read its secrets: find out, then chmod 600 it or remove it`,
    );
  }
}

/**
 * Writes a secret into a file that only its owner can read. An existing file is replaced in one step, so that a failure
 * leaves the old one.
 */
export function writePrivate(path: string, secret: string, mayReplace: boolean): void {
  assertPrivate(path, mayReplace);
  const target = existsSync(path) ? realpathSync(path) : path;
  const written = existsSync(path) ? `${target}.${process.pid}.tmp` : target;
  let file: number;
  try {
    file = openSync(written, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    throw new CannotRun(`cannot write ${path}: ${reasonOf(error)}`);
  }
  try {
    // Some file systems, such as FAT, know no owners: the mode then says that everybody may read.
    if ((fstatSync(file).mode & OTHERS) !== 0) {
      throw new CannotRun(`the file system of ${path} lets others read every file: choose another`);
    }
    writeSync(file, secret);
    fsyncSync(file);
    if (written !== target) renameSync(written, target);
  } catch (error) {
    unlinkSync(written);
    throw error instanceof CannotRun ? error : new CannotRun(`cannot write ${path}: ${reasonOf(error)}`);
  } finally {
    closeSync(file);
  }
}
