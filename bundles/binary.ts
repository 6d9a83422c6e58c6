/**
 * `dist/hub-protocol.binary.js`: binary messages, for a device with a microphone, a speaker or a camera. Load it
 * together with any of the other files. It shares no classes with them.
 */

export { decodeBinary, encodeBinary } from '../src/binary/binary-message.ts';
export { binaryReader } from '../src/binary/binary-reader.ts';
export type { Bytes } from '../src/bytes.ts';
export { type ErrorCode, LocalError, RemoteError } from '../src/errors.ts';
export type { DeliveredEvent } from '../src/wire/frame-joiner.ts';
export type { Json, JsonObject } from '../src/wire/json.ts';
