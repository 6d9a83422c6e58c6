/** What is wrong in canonical JSON, token by token, and in a prologue. */
import {
  canonicalJson,
  concatBytes,
  isJsonObject,
  type Json,
  ownField,
  parseJson,
  stringifyJson,
  utf8ToBytes,
} from '../protocol.ts';

/** How two JSON texts differ, in hexadecimal. */
export function saidOfJson(right: string, got: unknown): { says?: string; gist?: string } {
  const [a, b] = [right, got].map(tokensIn) as [string[], string[]];
  if (b.length === 0) return {};
  if (a.length !== b.length)
    return {
      gist: `${b.length < a.length ? 'something is left out' : 'something is added'}; all is written, and nothing else`,
    };
  const at = a.findIndex((token, index) => token !== b[index]);
  if (at < 0) return {};
  if ([...a].sort().join() === [...b].sort().join())
    return {
      says: isSameValue(right, got)
        ? 'keys: they stand in another order; they are sorted by code point, at every depth'
        : 'lists: their items stand in another order; they keep the one in which they came',
    };
  const [due, is] = [a[at]!, b[at]!];
  const says = `${is} is written where ${due} is due`;
  const gist = GISTS.find(([first]) => first.test(due))![1];
  return due.length + is.length < MAX_TOKENS ? { says, gist } : { gist };
}

/** Whether the text has the same value, with its keys in any order. */
function isSameValue(canonical: string, digits: unknown): boolean {
  try {
    const value = parseJson(Buffer.from(String(digits), 'hex').toString());
    return Buffer.from(canonicalJson(value)).toString('hex') === canonical;
  } catch {
    return false;
  }
}

const MAX_TOKENS = 20; // characters shown

const GISTS: readonly (readonly [first: RegExp, gist: string])[] = [
  [/^"/, 'strings: they are read or written in another way; see the characters that differ'],
  [/^[-\d]/, 'numbers: they are written in another way; keep each token as it came'],
  [/^/, 'true, false, null, brackets or braces are written in another way'],
];

function tokensIn(digits: unknown): string[] {
  const text = typeof digits === 'string' ? Buffer.from(digits, 'hex').toString() : '';
  return text.match(/"(?:[^"\\]|\\.)*"|[^\s"[\]{},:]+|[[\]{},:]/gs) ?? [];
}

/** Orders of the three parts, and some of them alone. */
const ORDERS = ['021', '102', '120', '201', '210', '01', '02', '12', '0', '1', '2', ''];
const PARTS = ['HELLO', 'HANDSHAKE', 'protocol name'];

/**
 * The prologues that some mistakes lead to.
 * @param hello - the payload of HELLO, as JSON
 * @param handshake - the payload of HANDSHAKE, as JSON
 */
export function mistakenPrologues(
  hello: string,
  handshake: string,
  protocolName: string,
): { readonly cause: string; readonly prologue: Uint8Array }[] {
  const payloads = [parseJson(hello), parseJson(handshake)] as [Json, Json];
  const [first, second] = payloads.map((payload) => canonicalJson(payload)) as [Uint8Array, Uint8Array];
  const name = utf8ToBytes(protocolName);
  const parts = [first, second, name];
  const [{ noise = {} }] = [isJsonObject(payloads[1]) ? { noise: ownField(payloads[1], 'noise') } : {}];
  const text = (...texts: string[]): Uint8Array => utf8ToBytes(texts.join(''));
  const canonical = 'write it as canonical JSON';
  const all: readonly (readonly [what: string, prologue: Uint8Array])[] = [
    ...ORDERS.map(
      (order) =>
        [
          `its parts are ${[...order].map((index) => PARTS[Number(index)]).join(', ') || 'none'}; they are ${PARTS.join(', ')}`,
          concatBytes([...order].map((index) => parts[Number(index)]!)),
        ] as const,
    ),
    [`both payloads are as they came; ${canonical}`, text(hello, handshake, protocolName)],
    [`HELLO is as it came; ${canonical}`, concatBytes([text(hello), second, name])],
    [`HANDSHAKE is as it came; ${canonical}`, concatBytes([first, text(handshake), name])],
    [
      `keys are not sorted; ${canonical}`,
      text(...payloads.map((payload) => stringifyJson(payload)), protocolName),
    ],
    [
      'it binds `noise` alone of the HANDSHAKE; it binds the whole payload',
      concatBytes([first, canonicalJson(noise), name]),
    ],
  ];
  return all.map(([what, prologue]) => ({ cause: `prologue: ${what}`, prologue }));
}
