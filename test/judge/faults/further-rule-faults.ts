/**
 * Further breakages of rules that say several things: one for each further thing. `evidence/rules/run --every` plants
 * them, too.
 */
import { type Breakage, broken, chosen, same } from './breakage.ts';
import { FURTHER_PROGRAM_RULES } from './further-program-faults.ts';
import { FURTHER_SESSION_RULES } from './further-session-faults.ts';

const PARSE = 'src/wire/parse-json.ts';
const JSON_VALUES = 'src/wire/json.ts';
const ENVELOPE = 'src/wire/envelope.ts';
const PAYLOADS = 'src/wire/handshake.ts';
const REASSEMBLER = 'src/wire/frame-joiner.ts';
const CLIENT = 'src/session/client-handshake.ts';
const KEYRING_FIELDS = 'src/session/keyring-fields.ts';
const VALUES = 'ports/typescript/values.ts'; // it gives a hub the ciphers that it offers, and no others
const HUB = 'src/session/hub-handshake.ts';
const NEGOTIATION = 'src/session/negotiation.ts';

export const FURTHER_RULES: { readonly [rule: string]: readonly Breakage[] } = {
  ...FURTHER_PROGRAM_RULES,
  ...FURTHER_SESSION_RULES,
  // JSON
  'P-11': [
    broken('zeros may lead', [
      JSON_VALUES,
      'bytes[at] === ZERO ? at + 1 : digitsEnd(bytes, at)',
      'digitsEnd(bytes, at)',
    ]),
    broken('a form feed is white space', [
      PARSE,
      'byte !== 0x0d && byte !== 0x09',
      'byte !== 0x0d && byte !== 0x09 && byte !== 0x0c',
    ]),
    broken('a comma may follow the last item', [
      PARSE,
      'if (scanner.consume(COMMA)) {',
      'if (scanner.consume(COMMA) && scanner.peek() !== CLOSE_BRACKET) {',
    ]),
    broken('any letter may follow a reverse solidus', [
      PARSE,
      'let point = ESCAPED.charCodeAt(LETTERS.indexOf(String.fromCharCode(letter)));',
      'let point = ESCAPED.charCodeAt(LETTERS.indexOf(String.fromCharCode(letter))) || letter;',
    ]),
    same('control-characters-in-strings'),
  ],
  'P-18': [same('keys-not-sorted')],
  'P-19': [
    same('upper-case-escapes'),
    same('tab-as-u0009'),
    broken('strings are normalized', [
      'src/wire/write-json.ts',
      'const writeEncoded = (',
      'text = text.normalize();\n    const writeEncoded = (',
    ]),
  ],

  // Envelopes
  'P-22': [
    chosen(
      'the code',
      broken('a msg_type that is no string is ignored', [
        ENVELOPE,
        "ownText(envelope, 'msg_type')",
        "(ownField(envelope, 'msg_type') as string | undefined)",
      ]),
    ),
  ],
  'P-23': [
    broken(
      'case does not count',
      [ENVELOPE, 'const type = ownText(envelope, ', 'const type = lowered(ownText(envelope, '],
      [
        ENVELOPE,
        "'msg_type');",
        "'msg_type'));\n  function lowered(value: unknown) {\n    return typeof value === 'string' ? value.toLowerCase() : value;\n  }",
      ],
    ),
  ],
  'P-27': [
    broken('an odd digit is dropped', [
      PAYLOADS,
      'hexToBytes(message)',
      'hexToBytes(message.length % 2 ? message.slice(0, -1) : message)',
    ]),
    broken('white space is trimmed', [PAYLOADS, 'hexToBytes(message)', 'hexToBytes(message.trim())']),
    broken('0x is skipped', [PAYLOADS, 'hexToBytes(message)', "hexToBytes(message.replace(/^0x/, ''))"]),
  ],

  // HELLO and the offer
  'P-29': [
    broken('an empty node id will do', [PAYLOADS, "|| nodeId === ''", '|| nodeId === null']),
    broken('a number is a node id', [
      PAYLOADS,
      "if (typeof nodeId !== 'string' ||",
      "if (typeof nodeId === 'object' ||",
    ]),
  ],
  'P-31': [
    broken('a hub does not look at the client’s version', [
      HUB,
      "if (ownField(payload, 'max_protocol_version') !== undefined) assertProtocolVersion(payload);",
      '',
    ]),
    broken('a hub demands the client’s version', [
      HUB,
      "if (ownField(payload, 'max_protocol_version') !== undefined) assertProtocolVersion",
      'assertProtocolVersion',
    ]),
    broken('other spellings of a number are refused', [
      PAYLOADS,
      'version instanceof JsonNumber ? version.valueOf() : version;',
      'version;',
    ]),
    broken('the version is exactly 3', [
      PAYLOADS,
      'number >= PROTOCOL_VERSION',
      'number === PROTOCOL_VERSION',
    ]),
    broken('a string is a version', [PAYLOADS, "typeof number === 'number' && number", 'Number(number)']),
  ],
  'P-34': [
    broken('case does not count', [
      NEGOTIATION,
      'suites.indexOf(name) >= 0)',
      'suites.map((each) => each.toLowerCase()).indexOf(name.toLowerCase()) >= 0)',
    ]),
  ],
  'P-35': [
    same('kk-without-a-pin'),
    same('xx-assumed'),
    same('never-kk'),
    broken('pins are looked up by the beginning of the node id', [
      KEYRING_FIELDS,
      'if (entries[i]!.nodeId === nodeId)',
      'if (nodeId.startsWith(entries[i]!.nodeId))',
    ]),
  ],
  'P-38': [
    broken(
      'a suite that was not offered is accepted',
      [HUB, '|| this.suites.indexOf(suite as Suite) < 0) {', "|| suite === '') {"],
      [VALUES, 'crypto: { ...crypto, ciphers },', 'crypto: { ...crypto, ...(request.psks && { ciphers }) },'],
      [
        VALUES,
        '    staticKey: hex(staticKey),\n    psk',
        '    suites,\n    staticKey: hex(staticKey),\n    psk',
      ],
    ),
  ],
  'P-42': [
    broken('the offer is bound without its unknown fields', [
      CLIENT,
      'canonicalJson(payload),\n      utf8ToBytes',
      'canonicalJson({ max_protocol_version: payload.max_protocol_version!, noise: payload.noise! }),\n      utf8ToBytes',
    ]),
  ],

  // The PSK
  'P-45': [
    broken('PSKs are looked up without regard to case', [
      KEYRING_FIELDS,
      'if (entries[i]!.nodeId === nodeId)',
      'if (entries[i]!.nodeId.toLowerCase() === nodeId.toLowerCase())',
    ]),
    broken('the node id is trimmed for the salt', [
      'src/session/psk.ts',
      'utf8ToBytes(nodeId);',
      'utf8ToBytes(nodeId.trim());',
    ]),
    broken('the password is trimmed', [
      'src/session/psk.ts',
      '    password,\n    salt: salt ??',
      '    password: (password as string).trim(),\n    salt: salt ??',
    ]),
  ],
  'P-44': [same('psk-passes'), same('psk-lanes'), same('psk-salt-cut')],

  // Noise
  'P-50': [same('name-cut'), same('empty-prologue-skipped')],
  'P-51': [same('pre-messages-left-out')],
  'P-52': [same('kk-without-ss'), same('psk-before-es'), same('xx-es-before-s')],
  'P-53': [
    same('hkdf-not-chained'),
    same('psk-not-hashed'),
    same('no-associated-data'),
    same('counter-not-reset'),
    same('payload-of-message-3-left-out'),
  ],
  'P-54': [same('split-with-the-hash'), same('split-one-key')],
  'P-58': [same('trailing-bytes-ignored')],
  'P-72': [same('counters-little-endian'), same('counter-of-one-byte')],
  'P-73': [
    broken('a lost message is passed over', [
      'src/noise/cipher-state.ts',
      'const plaintext = this.cipher!.open(this.nonce, associatedData, sealed, inPlace);',
      'let plaintext = this.cipher!.open(this.nonce, associatedData, sealed, inPlace);\n    if (plaintext === undefined) {\n      this.countUp();\n      plaintext = this.cipher!.open(this.nonce, associatedData, sealed, inPlace);\n    }',
    ]),
  ],

  // Frames and chunks
  'P-77': [same('lost-session-ignored')],
  'P-81': [same('chunks-of-64000'), same('kinds-swapped')],
  'P-86': [
    broken('a frame without a marker is ignored', [
      REASSEMBLER,
      'if (frame.length === 0)',
      'if (frame.length === 0) return undefined;\n    if (frame.length < 0)',
    ]),
  ],
  'P-84': [
    broken('a chunk has at most 65000 bytes', [
      REASSEMBLER,
      'this.length += payload.length;',
      'if (payload.length > 65000) throw errors.unknownMarker(0);\n    this.length += payload.length;',
    ]),
  ],
};
