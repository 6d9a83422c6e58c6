/** Reads files, with errors that say what to do, and writes secrets that nobody else can read. */
import { existsSync, lstatSync, mkdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { SocketOptions } from 'hub-protocol-client';
import { NotPrivate, replaceFile, writeFileAtomically } from 'hub-protocol-client/atomic-file';
import { readCertificate } from 'hub-protocol-client/causes';
import {
  bytesToUtf8,
  hexToBytes,
  type Identity,
  isJsonObject,
  type Json,
  type JsonObject,
  type Keyring,
  type LocalError,
  MAX_FILE,
  ownField,
  parseIdentity,
  parseJson,
  parseKeyring,
  printable,
  RemoteError,
  randomBytes,
  readAtMost,
  readNodeId,
} from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun } from './command.ts';

const OTHERS = 0o077; // the permissions of group and others

/**
 * Reads a file, or standard input if the path is `-`.
 * @param what - the kind of file, for the message: `the identity`
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
  if (error instanceof NotPrivate)
    return 'its file system lets others read every file. Choose another, or mount it for this user only (umask=077)';
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

/** Whether an error is the library's, also of another copy of it, such as the client's. */
export function isLocalError(error: unknown): error is LocalError {
  return error instanceof Error && error.name === 'LocalError';
}

/** Runs a reader of a file’s contents. Turns errors of the library into CannotRun. */
export function readAs<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isLocalError(error)) throw new CannotRun(`${path}: ${error.message} (${error.code})`);
    throw error;
  }
}

export function readIdentityFile(path: string): Identity {
  const contents = readFile(path, 'the identity');
  return readAs(path, () => parseIdentity(contents));
}

/** Bytes of a password that is made here: the PSK that is derived from it is as hard to guess as 144 bits. */
const PASSWORD_BYTES = 18;

export function newSecret(): string {
  return Buffer.from(randomBytes(PASSWORD_BYTES)).toString('base64url');
}

/** The text of an identity that got a password here, and what it was. */
interface Issued {
  readonly before: string;
  readonly text: string;
}

/** Reads an identity. One without a password gets one, which has to be written. */
export function readOrIssueIdentity(path: string): { identity: Identity; issued?: Issued } {
  const contents = readFile(path, 'the identity');
  let fields: Json | undefined;
  try {
    fields = parseJson(contents);
  } catch {} // parseIdentity says so
  const password = isJsonObject(fields) ? (ownField(fields, 'password') ?? undefined) : '';
  if (password !== undefined) return { identity: readAs(path, () => parseIdentity(contents)) };
  const before = Buffer.from(contents).toString();
  const text = `${JSON.stringify({ ...JSON.parse(before), password: newSecret() }, undefined, 2)}\n`;
  return { identity: readAs(path, () => parseIdentity(text)), issued: { before, text } };
}

/**
 * Reads the certificate authority to trust. The command `hub` writes one next to the identity. That one is trusted unasked
 * if it is private and next to the private keys of that hub, so it is not a file that the user has downloaded.
 * @param given - the path that the user has given
 * @param identity - the path of the identity
 * @returns PEM; `undefined` for the public authorities
 */
export function readAuthority(given: string | undefined, identity: string): string | undefined {
  const [ca, hub] = ['ca.pem', 'hub.json'].map((name) => join(dirname(identity), name)) as [string, string];
  const isOwn = isPrivate(ca) && isPrivate(hub);
  if (given === undefined && !isOwn && existsSync(ca))
    process.stderr.write(
      printable(
        `${ca} is not trusted, since it or hub.json next to it is not a file of yours that nobody else can read. If the hub’s operator gave it to you, pass --ca ${ca}\n`,
      ),
    );
  const path = given ?? (isOwn ? ca : undefined);
  if (path === undefined) return undefined;
  const pem = readCertificate(readFile(path, 'the certificate authority'));
  if (pem === undefined) throw new CannotRun(`${path} is not a certificate, as PEM or DER`);
  return pem;
}

/** What --ca, --cert and --key make of sockets. */
export function readSocketOptions(args: Arguments, identity: string): SocketOptions {
  const ca = readAuthority(args.text('ca'), identity);
  const paths = [args.text('cert'), args.text('key')].filter((path) => path !== undefined);
  if (paths.length === 0) return { ca };
  if (paths.length === 1) throw new CannotRun('--cert and --key belong together: pass both');
  const [cert, key] = paths.map((path) => `${Buffer.from(readFile(path, 'the client certificate'))}`);
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new CannotRun(
      `${paths.join(' and ')}: not a certificate and its private key as PEM, without a passphrase`,
    );
  }
  return { ca, cert, key };
}

/** Whether this user, and nobody else, may read and write a file. */
function isPrivate(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there?.isFile() === true && there.uid === process.getuid?.() && (there.mode & OTHERS) === 0;
}

/** @param accessKey - of the identity that the keyring must belong to */
export function readKeyringFile(path: string, accessKey: string): Keyring {
  const contents = readFile(path, 'the keyring');
  return readAs(path, () => parseKeyring(contents, accessKey));
}

/** Reads a keyring of any identity. */
export function readAnyKeyring(path: string): Keyring {
  const contents = readFile(path, 'the keyring');
  const owner = ownerOfKeyring(contents);
  if (owner === undefined) throw new CannotRun(`${path} is not a keyring`);
  return readAs(path, () => parseKeyring(contents, owner));
}

/** The access key in a keyring; `undefined` if it is not a keyring. */
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
 * Reads a key of 32 bytes: in hex, in base64, or raw.
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

/** Makes a folder that only its owner may use, unless it exists. */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CannotRun(`cannot write to ${path}: ${reasonOf(error)}`);
  }
}

const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Checks that a secret may be written to this path. Called before anything slow, and again by `writePrivate`.
 * @param mayReplace - whether an existing file may be replaced
 * @param what - the kind of file, for the message
 * @returns the path without symbolic links, except one whose target does not exist
 */
export function assertPrivate(path: string, mayReplace: boolean, what: string = path): string {
  const place = placeOf(path, what);
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

/** The real path of a file that may not exist yet. */
export function placeOf(path: string, what: string = path): string {
  try {
    return realpathSync(path);
  } catch {
    // It does not exist yet, or is a link whose target does not exist.
  }
  const directory = dirname(path);
  try {
    return join(realpathSync.native(`${directory}/`), basename(path)); // the slash: a file is no directory
  } catch (error) {
    throw new CannotRun(`cannot write ${what} to the directory ${directory}: ${reasonOf(error)}`);
  }
}

/** Anyone with write access to a directory can replace each directory in it. */
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
 * Writes a secret into a file that only its owner can read. An existing file is replaced atomically: a failure leaves
 * the old one.
 * @param before - the contents of the file when the secret was made from it. If they have changed, the file stays
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

/**
 * Reads the payload of HELLO or HANDSHAKE from a file: the payload alone, or the whole envelope as received.
 * @param what - for messages: `the HELLO`
 */
export function readPayloadFile(path: string, what: string): JsonObject {
  const contents = readFile(path, what);
  return refusing(path, () => {
    const value = parseJson(contents);
    const payload = isJsonObject(value) && ownField(value, 'msg_type') ? ownField(value, 'payload') : value;
    if (!isJsonObject(payload)) throw new CannotRun(`${path} is neither ${what} nor its payload`);
    return payload;
  });
}

/** The node id in a HELLO that was saved as a file. */
export function nodeIdOfFile(path: string): string {
  const hello = readPayloadFile(path, 'the HELLO');
  return refusing(path, () => readNodeId(hello));
}

/** Turns what is wrong with a payload into CannotRun. */
function refusing<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RemoteError) throw new CannotRun(`${path}: ${error.message} (${error.code})`);
    throw error;
  }
}
