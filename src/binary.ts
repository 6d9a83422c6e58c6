/** `hub-protocol/binary`: HiveMind's binary messages, in which hubs send speech, files and sounds. */

export {
  type BinaryMessage,
  decodeBinary,
  encodeBinary,
  type Inflate,
} from './binary/binary-message.ts';
export { binaryReader } from './binary/binary-reader.ts';
export type { BinaryPayloadType, ReadBinary } from './wire/frame-joiner.ts';
