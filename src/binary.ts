/** `hub-protocol/binary`: HiveMind's binary messages, in which hubs send speech, files and sounds. */

export {
  type BinaryEnvelope,
  type BinaryMessage,
  type BinaryPayload,
  type BinaryPayloadType,
  type BinaryType,
  type DecodeOptions,
  decodeBinary,
  encodeBinary,
  type Inflate,
} from './binary/binary-message.ts';
