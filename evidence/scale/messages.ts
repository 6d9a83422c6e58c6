/** Transport messages beside the bare ciphers, whole messages of 32 MiB, and what a hub does for one message. */
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import { nodeCrypto, randomBytes } from '../../dist/crypto/node.js';
import type { CryptoProvider } from '../../dist/index.js';
import { build, connect, handshake, newKeys } from './both-ends.ts';
import { calls, cpuTime, type Timer } from './paired.ts';
import { type Benchmark, compare, type Peer } from './rows.ts';

const MIB = 2 ** 20;
const CHUNK = 65000;

const key = randomBytes(32);
const nonce = new Uint8Array(12);
const options = { authTagLength: 16 };

/** Seals and opens as a program would that calls node:crypto itself. */
function rawNode(plaintext: Uint8Array): void {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, options);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, options);
  decipher.setAuthTag(cipher.getAuthTag());
  decipher.update(ciphertext);
  decipher.final();
}

/** The same, with ciphertext and tag joined into one message, as they travel. */
function joinedNode(plaintext: Uint8Array): void {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, options);
  const ciphertext = cipher.update(plaintext);
  cipher.final();
  const message = Buffer.concat([ciphertext, cipher.getAuthTag()]);
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, options);
  decipher.setAuthTag(message.subarray(-16));
  decipher.update(message.subarray(0, -16));
  decipher.final();
}

function rawNoble(plaintext: Uint8Array): void {
  chacha20poly1305(key, nonce).decrypt(chacha20poly1305(key, nonce).encrypt(plaintext));
}

/** Applies a cipher to a message of any length, in chunks. */
const inChunks = (plaintext: Uint8Array, raw: (chunk: Uint8Array) => void) => (): void => {
  for (let at = 0; at < plaintext.length; at += CHUNK) raw(plaintext.subarray(at, at + CHUNK));
};

function transport(name: string, crypto: CryptoProvider, raw: Peer[], length: number): Benchmark['run'] {
  return () => {
    const keys = newKeys(crypto);
    const [sending, receiving] = handshake(build(crypto), 'XXpsk2', keys, keys);
    const plaintext = randomBytes(length);
    const ours = calls(() => receiving.decrypt(sending.encrypt(plaintext)));
    return compare(
      `seal and open ${length} bytes, ${name}`,
      ours,
      raw,
      4,
      length < CHUNK ? {} : { leastMs: 50 },
    );
  };
}

function transports(): Benchmark[] {
  const benchmarks: Benchmark[] = [];
  for (const length of [64, 1024, 65000]) {
    const plaintext = randomBytes(length);
    const node = [
      { name: 'raw node:crypto', time: calls(() => rawNode(plaintext)) },
      { name: 'raw node:crypto, tag joined', time: calls(() => joinedNode(plaintext)) },
    ];
    const noble = [{ name: 'raw noble', time: calls(() => rawNoble(plaintext)) }];
    benchmarks.push(
      { name: `messages, node, ${length}`, seconds: 4, run: transport('node', nodeCrypto, node, length) },
      { name: `messages, noble, ${length}`, seconds: 4, run: transport('noble', nobleCrypto, noble, length) },
    );
  }
  return benchmarks;
}

/** Sends a message from a client to a hub, and receives it: text of JSON, or bytes. */
function throughSessions(message: string | Uint8Array): Timer {
  const { client, hub } = connect();
  return calls(() => {
    const sent = typeof message === 'string' ? client.sendJson(message) : client.sendBinary(message);
    const received = sent.flatMap((data) => hub.receive(data));
    if (received[0]?.type !== 'message') throw new Error('no message arrived');
  });
}

const ascii = (bytes: number): string => `"${'a'.repeat(bytes - 2)}"`;
const accented = (bytes: number): string => `"${'é'.repeat(bytes / 2 - 1)}"`;

const large: Benchmark = {
  name: 'messages of 32 MiB',
  seconds: 40,
  async run() {
    const whole = 32 * MIB;
    const binary = { name: '32 MiB, binary', time: throughSessions(new Uint8Array(whole)) };
    const rows = [];
    for (const [what, make] of [
      ['JSON, ASCII', ascii],
      ['JSON, é', accented],
    ] as const) {
      const halves = { name: '16 MiB of it', time: throughSessions(make(whole / 2)) };
      rows.push(...(await compare(`32 MiB, ${what}`, throughSessions(make(whole)), [binary, halves], 15)));
    }
    const halves = { name: '16 MiB of it', time: throughSessions(new Uint8Array(whole / 2)) };
    const raw = { name: 'raw node:crypto', time: calls(inChunks(new Uint8Array(whole), rawNode)) };
    return rows.concat(await compare('32 MiB, binary', binary.time, [raw, halves], 10));
  },
};

const atHub: Benchmark = {
  name: 'messages at a hub',
  seconds: 6,
  async run() {
    const value = { type: 'speak', data: { utterance: 'a'.repeat(980) } };
    const length = JSON.stringify(value).length;
    const { client, hub } = connect();
    const receive: Timer = (count) => {
      const sealed = Array.from({ length: count }, () => client.sendJson(value)[0]!);
      const began = cpuTime();
      for (const message of sealed) hub.receive(message);
      return cpuTime() - began;
    };
    const other = connect().hub;
    const send = calls(() => other.sendJson(value));
    return [
      ...(await compare(`a hub receives JSON of ${length} bytes`, receive, [], 3)),
      ...(await compare(`a hub sends JSON of ${length} bytes`, send, [], 3)),
    ];
  },
};

const SIZES = [64, 256, 1024, 4096, 16_384, 65_000, 2 ** 18, MIB, 4 * MIB, 16 * MIB, 32 * MIB];

/** How long messages take by their length, from client to hub, for the curve. */
const bySize: Benchmark = {
  name: 'message size',
  seconds: 3 * SIZES.length,
  async run() {
    const rows = [];
    for (const size of SIZES) {
      const message = randomBytes(size);
      const raw = { name: 'raw node:crypto', time: calls(inChunks(message, rawNode)) };
      const name = size < 1024 ? `${size} bytes` : size < MIB ? `${size / 1024} KiB` : `${size / MIB} MiB`;
      const what = `client to hub, ${size === CHUNK ? '65000 bytes' : name}`;
      rows.push(
        ...(await compare(what, throughSessions(message), [raw], 3, {
          x: size,
          leastMs: size < 16_384 ? 5 : 50,
        })),
      );
    }
    return rows;
  },
};

export const messages: Benchmark[] = [...transports(), large, atHub, bySize];
