/** What our hub answers clients that speak the bus. */
import { encodeBinary } from '../../src/binary.ts';
import { type JsonObject, parseJson } from '../../src/index.ts';
import type { Message } from './our-hub.ts';

/** The contents of the file that is sent on request. */
export const FILE: Buffer = Buffer.from(Array.from({ length: 256 * 800 }, (_, i) => i));

/** Repeats utterances, echoes binary messages, and sends a file on request. */
export function answer(message: Message): (JsonObject | Uint8Array)[] {
  if (message.kind === 'binary') return [message.bytes];
  const { payload } = parseJson(message.text) as { payload: { data: JsonObject; context: JsonObject } };
  const [text] = payload.data.utterances as string[];
  if (text === 'a file, please') {
    const metadata = { file_name: 'a.bin' };
    return [encodeBinary({ msg_type: 'bin', bin_type: 'file', metadata, payload: FILE })];
  }
  const bus = (type: string, data: JsonObject): JsonObject => ({
    msg_type: 'bus',
    payload: { type, data, context: payload.context },
  });
  return [bus('speak', { utterance: text! }), bus('ovos.utterance.handled', {})];
}
