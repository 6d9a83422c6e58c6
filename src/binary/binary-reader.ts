/** Reads binary messages for a session, as the option `readBinary`. */
import { type Bytes, bytesToUtf8 } from '../bytes.ts';
import { RemoteError } from '../errors.ts';
import type { ReadBinary } from '../wire/frame-joiner.ts';
import { jsonToBytes } from '../wire/write-json.ts';
import { type DecodeOptions, decodeBinary, readDecodeOptions } from './binary-message.ts';

/**
 * Makes the option `readBinary` of a session. The application then receives every envelope as JSON, and payloads of bytes
 * with their type and metadata. A message that cannot be read becomes a `dropped` event with the reason `unreadable`.
 * @param options - how to read compressed messages
 * @returns the option
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { inflateSync } from 'node:zlib';
 * import { binaryReader, encodeBinary } from 'hub-protocol/binary';
 *
 * const readBinary = binaryReader({
 *   inflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength }),
 * }); // for new ClientSession({ …, binarize: true, readBinary })
 * const event = readBinary(encodeBinary({ msg_type: 'bus', payload: { type: 'speak', data: {}, context: {} } }));
 * if (event.type === 'message' && event.kind === 'json') console.log(event.text.length); // 68
 */
export function binaryReader(options: DecodeOptions = {}): ReadBinary {
  const given = readDecodeOptions(options);
  return (bytes: Bytes) => {
    try {
      const message = decodeBinary(bytes, given);
      const { msg_type, metadata, payload } = message;
      if (msg_type === 'bin') {
        const { bin_type } = message;
        return { type: 'message', kind: 'binary', bytes: payload, bin_type, metadata };
      }
      const envelope =
        Object.keys(metadata).length === 0 ? { msg_type, payload } : { msg_type, metadata, payload };
      return { type: 'message', kind: 'json', text: bytesToUtf8(jsonToBytes(envelope))! };
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      return { type: 'dropped', kind: 'binary', bytes: bytes.length, reason: 'unreadable', error };
    }
  };
}
