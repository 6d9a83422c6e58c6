/**
 * Writes the worked example of docs/protocol.md: one first contact, byte by byte, from the inputs of a vector. The values in
 * between, which no vector contains, are computed here with node:crypto alone, after the Noise specification. That they are
 * right shows in what they lead to: the test compares it with the bytes of the vector.
 *
 *     node --import tsx tools/worked-example.ts
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  type KeyObject,
} from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { readVectorFile, type Vector } from '../judge/src/vectors.ts';

const PAGE = new URL('../docs/protocol.md', import.meta.url);

/** A client's first contact, where it asks for the PSK. */
export const VECTOR: Vector = vectorOf('session', 1);
const PSK_VECTOR: Vector = vectorOf('argon2id', 1);

/** A line of the example: a name and what it stands for, text or bytes. */
export type Line = readonly [name: string, value: string | Uint8Array];

function vectorOf(file: string, tcId: number): Vector {
  const tests = readVectorFile(file).testGroups.flatMap((group) => group.tests);
  return tests.find((each) => each.tcId === tcId)!;
}

// X25519 (RFC 7748): the keys of the vector as DER, with the prefixes that RFC 8410 gives them.

function privateKeyOf(bytes: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), bytes]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), bytes]);
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

function bytesOf(privateKey: KeyObject): Uint8Array {
  return createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32);
}

// ChaChaPoly (Noise spec, section 12.3).

function nonceOf(counter: number): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32LE(counter, 4);
  return nonce;
}

const CIPHER = 'chacha20-poly1305';

const NO_DATA = new Uint8Array();

function seal(key: Uint8Array, counter: number, data: Uint8Array, plaintext: Uint8Array): Uint8Array {
  const cipher = createCipheriv(CIPHER, key, nonceOf(counter), { authTagLength: 16 });
  cipher.setAAD(data, { plaintextLength: plaintext.length });
  return Buffer.concat([cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function open(key: Uint8Array, counter: number, data: Uint8Array, sealed: Uint8Array): Uint8Array {
  const length = sealed.length - 16;
  const cipher = createDecipheriv(CIPHER, key, nonceOf(counter), { authTagLength: 16 });
  cipher.setAAD(data, { plaintextLength: length });
  cipher.setAuthTag(sealed.subarray(length));
  return Buffer.concat([cipher.update(sealed.subarray(0, length)), cipher.final()]);
}

/** SymmetricState (Noise spec, section 5.2), which notes what becomes of it. */
class Symmetric {
  readonly lines: Line[] = [];
  /** What is being processed: a token of the pattern, or a payload. */
  token = 'start';
  private ck: Uint8Array;
  private k: Uint8Array = new Uint8Array();
  private h: Uint8Array;
  private n = 0;

  constructor(name: string) {
    this.h = createHash('sha256').update(name).digest();
    this.ck = this.h;
    this.note({ h: this.h, ck: this.ck });
  }

  mixHash(data: Uint8Array): void {
    this.h = createHash('sha256').update(this.h).update(data).digest();
    this.note({ h: this.h });
  }

  mixKey(material: Uint8Array): void {
    [this.ck, this.k] = this.hkdf(material) as [Uint8Array, Uint8Array];
    this.n = 0;
    this.note({ ck: this.ck, k: this.k });
  }

  mixKeyAndHash(material: Uint8Array): void {
    const [ck, hashed, k] = this.hkdf(material) as [Uint8Array, Uint8Array, Uint8Array];
    [this.ck, this.k, this.n] = [ck, k, 0];
    this.note({ ck: this.ck });
    this.mixHash(hashed);
    this.note({ k: this.k });
  }

  encryptAndHash(plaintext: Uint8Array): Uint8Array {
    const sealed = seal(this.k, this.n++, this.h, plaintext);
    this.mixHash(sealed);
    return sealed;
  }

  decryptAndHash(sealed: Uint8Array): Uint8Array {
    const plaintext = open(this.k, this.n++, this.h, sealed);
    this.mixHash(sealed);
    return plaintext;
  }

  split(): [Uint8Array, Uint8Array] {
    return this.hkdf(NO_DATA).slice(0, 2) as [Uint8Array, Uint8Array];
  }

  private note(values: { readonly [name: string]: Uint8Array }): void {
    for (const [name, value] of Object.entries(values)) this.lines.push([`${this.token}: ${name}`, value]);
  }

  /** HKDF (Noise spec, section 4.3): three outputs, of which most callers use two. */
  private hkdf(material: Uint8Array): Uint8Array[] {
    const key = createHmac('sha256', this.ck).update(material).digest();
    const outputs: Uint8Array[] = [];
    for (let i = 1; i <= 3; i++) {
      const previous = outputs[i - 2] ?? NO_DATA;
      outputs.push(createHmac('sha256', key).update(previous).update(Buffer.of(i)).digest());
    }
    return outputs;
  }
}

interface Step {
  readonly text?: string;
  readonly bytes?: string;
  readonly psk?: string;
}

function hex(digits: string): Uint8Array {
  return Buffer.from(digits, 'hex');
}

function payloadOf(step: Step): Record<string, unknown> {
  return JSON.parse(step.text!).payload;
}

function messageOf(step: Step): Uint8Array {
  return hex((payloadOf(step) as { noise: { msg: string } }).noise.msg);
}

/** Canonical JSON of what the vector contains: ASCII and integers. */
function canonical(value: unknown): string {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject) return JSON.stringify(value);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`;
}

/** The parts of the example, by their names in the comments of the page. */
export function workedExample(): { readonly [part: string]: readonly Line[] } {
  const opened = VECTOR.steps[0];
  const [hello, offer, given, answer, incoming] = VECTOR.steps.slice(1) as [Step, Step, Step, Step, Step];
  const name = `Noise_XXpsk2_${VECTOR.suite}`;
  const prologue = Buffer.from(canonical(payloadOf(hello)) + canonical(payloadOf(offer)) + name);
  const s = privateKeyOf(hex(opened.staticKey));
  const e = privateKeyOf(hex(opened.ephemeralKey));
  const symmetric = new Symmetric(name);
  const noted = (): Line[] => symmetric.lines.splice(0);

  const psk: Line[] = [
    ['password', PSK_VECTOR.password],
    ['node id', PSK_VECTOR.nodeId],
    ['salt', hex(PSK_VECTOR.salt)],
    ['PSK', hex(PSK_VECTOR.psk)],
  ];
  const keys: Line[] = [
    ['s, private', hex(opened.staticKey)],
    ['s, public', bytesOf(s)],
    ['e, private', hex(opened.ephemeralKey)],
    ['e, public', bytesOf(e)],
    ['psk', hex(given.psk!)],
  ];

  symmetric.token = 'prologue';
  symmetric.mixHash(prologue);
  const greeting: Line[] = [
    ['HELLO payload', canonical(payloadOf(hello))],
    ['HANDSHAKE payload', canonical(payloadOf(offer))],
    ['protocol name', name],
    ...noted(),
  ];

  symmetric.token = 'e';
  symmetric.mixHash(bytesOf(e));
  symmetric.mixKey(bytesOf(e));
  const payload1 = '{"binarize":false,"encodings":[]}';
  symmetric.token = 'payload';
  const sealed1 = symmetric.encryptAndHash(Buffer.from(payload1));
  const message1: Line[] = [
    ['payload', payload1],
    ...noted(),
    ['message 1', Buffer.concat([bytesOf(e), sealed1])],
  ];

  const received2 = messageOf(answer);
  const message2: Line[] = [['message 2', received2]];
  const re = publicKeyOf(received2.subarray(0, 32));
  symmetric.token = 'e';
  symmetric.mixHash(received2.subarray(0, 32));
  symmetric.mixKey(received2.subarray(0, 32));
  symmetric.token = 'ee';
  symmetric.mixKey(diffieHellman({ privateKey: e, publicKey: re }));
  symmetric.token = 's';
  const hubKey = symmetric.decryptAndHash(received2.subarray(32, 80));
  message2.push(...noted(), ['hub’s static key', hubKey]);
  symmetric.token = 'es';
  symmetric.mixKey(diffieHellman({ privateKey: e, publicKey: publicKeyOf(hubKey) }));
  symmetric.token = 'psk';
  symmetric.mixKeyAndHash(hex(given.psk!));
  symmetric.token = 'payload';
  const payload2 = symmetric.decryptAndHash(received2.subarray(80));
  message2.push(...noted(), ['payload', Buffer.from(payload2).toString()]);

  symmetric.token = 's';
  const sealedKey = symmetric.encryptAndHash(bytesOf(s));
  symmetric.token = 'se';
  symmetric.mixKey(diffieHellman({ privateKey: s, publicKey: re }));
  symmetric.token = 'payload';
  const sent3 = Buffer.concat([sealedKey, symmetric.encryptAndHash(NO_DATA)]);
  const message3: Line[] = [...noted(), ['message 3', sent3]];

  const [sending, receiving] = symmetric.split();
  // The vector has the sealed bytes; the order of the fields inside is free.
  const sealed = hex(
    VECTOR.steps[4].events.find(({ bytes }: { bytes?: string }) => bytes !== undefined).bytes,
  );
  const frame = open(sending, 0, NO_DATA, sealed);
  const received = hex(incoming.bytes!);
  const transport: Line[] = [
    ['client to hub', sending],
    ['hub to client', receiving],
    ['HELLO: marker', frame.subarray(0, 1)],
    ['HELLO: payload', Buffer.from(frame.subarray(1)).toString()],
    ['nonce', nonceOf(0)],
    ['sealed', sealed],
    ['received', received],
    ['nonce', nonceOf(0)],
    ['frame', open(receiving, 0, NO_DATA, received)],
  ];
  return {
    psk,
    keys,
    greeting,
    'message 1': message1,
    'message 2': message2,
    'message 3': message3,
    transport,
  };
}

const INDENT = 20;
const HEX_WIDTH = 64;
const TEXT_WIDTH = 100;

/** The lines as text: each value wrapped below itself. */
function drawnLines(lines: readonly Line[]): string {
  return lines
    .map(([name, value]) => {
      const isText = typeof value === 'string';
      const text = isText ? value : Buffer.from(value).toString('hex');
      const pieces = text.match(new RegExp(`.{1,${isText ? TEXT_WIDTH : HEX_WIDTH}}`, 'g'))!;
      return name.padEnd(INDENT) + pieces.join(`\n${' '.repeat(INDENT)}`);
    })
    .join('\n');
}

/** The page with its worked example up to date. */
export function drawn(page: string): string {
  let result = page;
  for (const [name, lines] of Object.entries(workedExample())) {
    const [start, end] = [`<!-- worked: ${name} -->`, '<!-- end -->'];
    const from = result.indexOf(start);
    const to = result.indexOf(end, from);
    if (from < 0 || to < 0) throw new Error(`docs/protocol.md has no place for ${name}`);
    const block = ['```text', drawnLines(lines), '```'].join('\n');
    result = `${result.slice(0, from + start.length)}\n${block}\n${result.slice(to)}`;
  }
  return result;
}

if (process.argv[1] === import.meta.filename) writeFileSync(PAGE, drawn(readFileSync(PAGE, 'utf8')));
