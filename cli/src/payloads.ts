/** The payloads of HELLO and HANDSHAKE as files: the payload alone, or the whole envelope as received. */

import {
  isJsonObject,
  type JsonObject,
  ownField,
  parseJson,
  RemoteError,
  readNodeId,
} from 'hub-protocol-judge/internals';
import { CannotRun } from './command.ts';
import { readFile } from './files.ts';

/** @param what - for messages: `the HELLO` */
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

function refusing<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RemoteError) throw new CannotRun(`${path}: ${error.message} (${error.code})`);
    throw error;
  }
}
