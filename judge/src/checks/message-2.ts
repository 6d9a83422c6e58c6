/** What follows from another payload of a hub in message 2, which it may choose (P-63): other values of h, and tags of message 3. */

import {
  bytesToHex,
  bytesToUtf8,
  hexToBytes,
  isJsonObject,
  nodeCrypto,
  parseJson,
  utf8ToBytes,
} from '../protocol.ts';
import { sealWith } from '../symmetric-state.ts';
import { type Step, seenIn, stepsOf } from '../trace.ts';
import type { Vector } from '../vectors.ts';

const MESSAGE_3 = { 'message 3, s': 2 * (32 + 16), 'message 3, payload': Number.POSITIVE_INFINITY };

/** The test of a hub with this message 2; `undefined` if that does not open, or to something else than an object or nothing. */
export function withMessage2(test: Vector, message: string): Vector | undefined {
  const seen = seenIn(test, { op: 'session' });
  const [first, second, third = ''] = seen?.messages ?? [];
  if (seen === undefined || second === undefined || !isHex(message)) return undefined;
  const due = stepsOf(seen);
  const now = lastOf(stepsOf({ ...seen, messages: [first!, message] }), 'message 2, payload');
  if (now?.plaintext === undefined || !isPayload(now.plaintext)) return undefined;
  let [h, sealed, rest] = [now.fields.h!, '', third];
  let dueH = lastOf(due, 'message 2, payload')!.fields.h!;
  for (const [where, length] of Object.entries(MESSAGE_3)) {
    const call = due.find((step) => step.isCall && step.where === where)?.fields;
    const opened = lastOf(due, where);
    if (call === undefined || opened?.plaintext === undefined) break; // it is damaged, or there is none
    const part = sealWith(seen.suite, bytes(call.k!), BigInt(call.nonce!), bytes(h), opened.plaintext);
    [sealed, rest] = [sealed + bytesToHex(part), rest.slice(length)];
    [h, dueH] = [bytesToHex(nodeCrypto.sha256(bytes(h), part)), opened.fields.h!];
  }
  const changes = [
    [second, message],
    [dueH, h],
    ...(sealed === '' ? [] : [[third, sealed + rest], [third, sealed + rest].map(inHex)]),
  ];
  return JSON.parse(changes.reduce((text, [from, to]) => text.split(from!).join(to), JSON.stringify(test)));
}

const bytes = (hex: string): Uint8Array => hexToBytes(hex)!;

/** As it is in an envelope of bytes. */
const inHex = (text: string): string => bytesToHex(utf8ToBytes(text));

const isHex = (text: string): boolean => hexToBytes(text) !== undefined;

const lastOf = (steps: readonly Step[], at: string): Step | undefined =>
  steps.filter(({ where, isCall }) => !isCall && where === at).pop();

function isPayload(plaintext: Uint8Array): boolean {
  try {
    return plaintext.length === 0 || isJsonObject(parseJson(bytesToUtf8(plaintext) ?? ''));
  } catch {
    return false;
  }
}
