/**
 * Measures what one core of a hub does, and writes it into docs/evidence/scale.md.
 *
 *     evidence/scale/run
 *     evidence/scale/run --write
 */
import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js';
import { nobleCrypto } from '../../dist/crypto/noble.js';
import type { Pattern } from '../../dist/index.js';
import { argon2id } from '../../dist/parts.js';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import { connect } from './both-ends.ts';
import { awaited, calls, cpuTime, paired, type Timer } from './paired.ts';
import { hashRawSync, wasmArgon2id } from './peers/index.js';
import { bytesOf } from './rows.ts';

const MESSAGE = { type: 'speak', data: { utterance: 'a'.repeat(980) } };

/** The hub's part of a connection. */
const atHub =
  (pattern: Pattern): Timer =>
  (count) => {
    let spent = 0;
    const timed = <T>(work: () => T): T => {
      const began = cpuTime();
      const result = work();
      spent += cpuTime() - began;
      return result;
    };
    for (let i = 0; i < count; i++) connect(pattern, timed);
    return spent;
  };

function receiving(): Timer {
  const { client, hub } = connect();
  return (count) => {
    const sealed = Array.from({ length: count }, () => client.sendJson(MESSAGE)[0]!);
    const began = cpuTime();
    for (const message of sealed) hub.receive(message);
    return cpuTime() - began;
  };
}

function sending(): Timer {
  const { hub } = connect();
  return calls(() => hub.sendJson(MESSAGE));
}

/** The time of one call, in seconds. */
async function secondsOf(time: Timer): Promise<number> {
  return (await paired([{ name: '', time }], 4))[0]!.ms / 1000;
}

const password = new Uint8Array(8).fill(1);
const salt = new Uint8Array(16).fill(2);

/** Derivations of a PSK by the library and by others. */
const DERIVATIONS: readonly (readonly [name: string, run: () => Uint8Array | Promise<Uint8Array>])[] = [
  [
    'hub-protocol',
    () =>
      argon2id({
        ...{ crypto: nobleCrypto, password, salt },
        ...{ passes: 3, memoryKiB: 65536, parallelism: 1, length: 32 },
      }),
  ],
  ['noble', () => nobleArgon2id(password, salt, { t: 3, m: 65536, p: 1, dkLen: 32 })],
  [
    'hash-wasm (WebAssembly)',
    () =>
      wasmArgon2id({
        ...{ password, salt, iterations: 3, memorySize: 65536, parallelism: 1, hashLength: 32 },
        outputType: 'binary',
      }),
  ],
  [
    '@node-rs/argon2 (native)',
    () =>
      hashRawSync(password, {
        ...{ salt, timeCost: 3, memoryCost: 65536, parallelism: 1, outputLen: 32 },
        algorithm: 2,
      }),
  ],
];

const number = (value: number): string =>
  value.toLocaleString('en', value < 100 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 });
const perSecond = (seconds: number): string => `${number(1 / seconds)} a second`;

const reconnect = await secondsOf(atHub('KKpsk0'));
const first = await secondsOf(atHub('XXpsk2'));
const receive = await secondsOf(receiving());
const send = await secondsOf(sending());
const idle = bytesOf(10_000, () => connect().hub).used;
const expected = await DERIVATIONS[0]![1]();
for (const [, run] of DERIVATIONS) assert.equal(Buffer.compare(await run(), expected), 0);
const derivations = await paired(
  DERIVATIONS.map(([name, run]) => ({ name, time: awaited(async () => run()) })),
  20,
);
const derive = derivations[0]!.ms / 1000;
const others = derivations.slice(1).map(({ name, ratio }) => `${number(ratio)} times as long as ${name}`);

const N = 1e6;
const parts = {
  core: `${table(
    ['', 'symbol', 'takes', 'one core'],
    [
      ['a reconnect, KKpsk0', '`c`', `${number(1000 * reconnect)} ms`, perSecond(reconnect)],
      ['a first contact, XXpsk2', '', `${number(1000 * first)} ms`, perSecond(first)],
      ['1 KB of JSON received', '`r`', `${number(1e6 * receive)} µs`, perSecond(receive)],
      ['1 KB of JSON sent', '`s`', `${number(1e6 * send)} µs`, perSecond(send)],
      ['an idle session', '`b`', `${number(idle)} bytes`, ''],
      ['a PSK derived', '`a`', `${number(1000 * derive)} ms, 64 MiB`, perSecond(derive)],
    ],
  )}\n\nDeriving a PSK takes ${others.join(', ')}. ${cpus().length} × ${cpus()[0]!.model.trim()}, Node ${process.versions.node}.`,
  million: table(
    ['for a million devices', 'formula', ''],
    [
      ['memory of idle sessions', '`N × b`', `${number((N * idle) / 1e9)} GB`],
      [
        'one message a minute, each way',
        '`N ÷ 60 × (r + s)`',
        `${number((N / 60) * (receive + send))} cores`,
      ],
      ['all reconnect within 10 minutes', '`N × c ÷ 600`', `${number((N * reconnect) / 600)} cores`],
      ['all reconnect within 1 minute', '`N × c ÷ 60`', `${number((N * reconnect) / 60)} cores`],
      ['each PSK derived once', '`N × a`', `${number((N * derive) / 3600)} hours of a core`],
    ],
  ),
};
console.log(Object.values(parts).join('\n\n'));
if (process.argv.includes('--write')) writeMeasured('docs/evidence/scale.md', parts);
