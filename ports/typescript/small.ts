/** The adapter of the smallest client for the judge. `ports/typescript/judge-small` runs it. */
import { createInterface } from 'node:readline';
import type { CryptoProvider } from '../../src/crypto/crypto.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { LocalError, RemoteError } from '../../src/errors.ts';
import { notAuthentic } from '../../src/errors-table.ts';
import { MAX_NOISE_MESSAGE } from '../../src/limits.ts';
import { canonicalize, encode } from '../../src/small/canonical.ts';
import { ClientSession } from '../../src/small/client-session.ts';
import { Initiator, ownKey } from '../../src/small/noise.ts';
import { createAdapter, lineOf } from './adapter.ts';
import { eventToJson, hex, optionsOfClient, toHex } from './values.ts';

// biome-ignore lint/suspicious/noExplicitAny: requests and responses have the fields of their operation
type Fields = Record<string, any>;

const ABOUT = {
  roles: ['client'],
  patterns: ['XXpsk2', 'KKpsk0'],
  suites: ['25519_ChaChaPoly_SHA256'],
  psk: 'provisioned',
  groups: [],
};
const EMPTY = new Uint8Array(0);

export function createSmallAdapter(crypto: CryptoProvider = nodeCrypto): (request: Fields) => Fields {
  const whole = createAdapter(crypto);
  let session: ClientSession;
  let initiator: Initiator;
  let written = 0;
  let keys: ReturnType<Initiator['split']>;
  const canonicalOf = (text: string | Uint8Array): string =>
    canonicalize(typeof text === 'string' ? encode(text) : text).text;
  const operations: { [operation: string]: (request: Fields) => Fields } = {
    about: () => ({ about: ABOUT }),
    'canonical-json': ({ text, bytes }) => ({ canonical: toHex(encode(canonicalOf(text ?? hex(bytes)))) }),
    prologue: ({ hello, handshake, protocolName }) => ({
      prologue: toHex(encode(canonicalOf(hello) + canonicalOf(handshake) + protocolName)),
    }),
    handshake(request) {
      if (request.do === 'start') {
        const { role, pattern, suite, prologue, psk, staticKey, ephemeralKey, remoteStaticKey } = request;
        if (role !== 'initiator' || suite !== ABOUT.suites[0]) return { declined: true };
        const [s, e] = [staticKey, ephemeralKey].map((key) => ownKey(crypto, hex(key)));
        const rs = remoteStaticKey && hex(remoteStaticKey);
        initiator = new Initiator(crypto, pattern, hex(prologue), hex(psk), s!, e!, rs);
        written = 0;
        return {};
      }
      if (request.do === 'read')
        return { payload: toHex(initiator.readSecond(hex(request.message), MAX_NOISE_MESSAGE)) };
      if (request.do === 'write') {
        const payload = hex(request.payload);
        return {
          message: toHex(written++ > 0 ? initiator.writeThird(payload) : initiator.writeFirst(payload)),
        };
      }
      keys = initiator.split();
      return { handshakeHash: toHex(keys.handshakeHash), remoteStaticKey: toHex(initiator.rs!) };
    },
    seal({ plaintexts, key }) {
      if (key !== undefined) return { declined: true };
      return {
        results: plaintexts.map((text: string) => ({ message: toHex(keys.sending.seal(EMPTY, hex(text))) })),
      };
    },
    open({ messages, key }) {
      if (key !== undefined) return { declined: true };
      return {
        results: messages.map((text: string) => ({
          plaintext: toHex(keys.receiving.open(EMPTY, hex(text), notAuthentic)),
        })),
      };
    },
    session({ do: what, ...request }) {
      if (what === 'open') {
        if (request.role !== 'client') return { declined: true };
        session = new ClientSession(optionsOfClient(crypto, request));
        return { events: [] };
      }
      const { kind, text, bytes, code, status, reason, cause } = request;
      const data = text ?? (bytes === undefined ? undefined : hex(bytes));
      if (what === 'send') {
        const messages = kind === 'json' ? session.sendJson(data) : session.sendBinary(data);
        return { messages: messages.map(toHex) };
      }
      if (what === 'psk') return { declined: true };
      const isCode = status === undefined && reason === undefined && cause === undefined;
      const closing = isCode ? code : { code, status, reason, cause };
      const events =
        what === 'start'
          ? session.start()
          : what === 'receive'
            ? session.receive(data)
            : session.closed(closing);
      return { events: events.map((event) => eventToJson(event, false)) };
    },
  };
  return ({ id, op, ...request }) => {
    const operation = operations[op];
    if (operation === undefined)
      return ['select', 'split', 'reassemble'].includes(op)
        ? whole({ id, op, ...request })
        : { id, declined: true };
    try {
      return { id, ...operation(request) };
    } catch (error) {
      if (error instanceof LocalError || error instanceof RemoteError) return { id, error: error.code };
      throw error;
    }
  };
}

function main(): void {
  const respond = createSmallAdapter();
  createInterface({ input: process.stdin }).on('line', (line) => {
    process.stdout.write(`${lineOf(respond(JSON.parse(line)))}\n`);
  });
}

if (import.meta.filename === process.argv[1]) main();
