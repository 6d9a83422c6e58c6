/** The sentences of the judge: each is printed for the bytes that its mistake leads to, and for no others. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Fields } from '../../judge/src/adapter.ts';
import { saidOfEvents } from '../../judge/src/mistakes/events.ts';
import { mistakenPrologues, saidOfJson } from '../../judge/src/mistakes/json.ts';
import { mistakenPsks } from '../../judge/src/mistakes/psk.ts';
import { runVectors } from '../../judge/src/run-vectors.ts';
import type { Verdict } from '../../judge/src/verdict.ts';
import { createAdapter } from '../../ports/typescript/adapter.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { readVectors, toHex, type Vector } from '../world/vectors.ts';

test('says where canonical JSON differs, token by token', () => {
  for (const [right, got, says, gist] of [
    [
      '[1.0]',
      '[1]',
      '1 is written where 1.0 is due',
      'numbers: they are written in another way; keep each token as it came',
    ],
    [
      '["a/b"]',
      '["a\\/b"]',
      '"a\\/b" is written where "a/b" is due',
      'strings: they are read or written in another way; see the characters that differ',
    ],
    [
      '[true]',
      '[True]',
      'True is written where true is due',
      'true, false, null, brackets or braces are written in another way',
    ],
    [
      '{"a":1,"b":2}',
      '{"b":2,"a":1}',
      'keys: they stand in another order; they are sorted by code point, at every depth',
      undefined,
    ],
    [
      '[1,2]',
      '[2,1]',
      'lists: their items stand in another order; they keep the one in which they came',
      undefined,
    ],
    ['{"a":1,"b":2}', '{"a":1}', undefined, 'something is left out; all is written, and nothing else'],
    ['[1]', '[1,2]', undefined, 'something is added; all is written, and nothing else'],
  ] as const) {
    const [a, b] = [right, got].map((text) => toHex(Buffer.from(text))) as [string, string];
    const said = saidOfJson(a, b);
    assert.equal([said.says, said.gist], [says, gist]);
  }
  assert.equal(saidOfJson('5b5d', '5b5d'), {});
  assert.equal(saidOfJson('5b5d', undefined), {});
});

/** Judges this library, with responses changed. */
function judge(only: string[], change: (request: Fields, response: Fields) => Fields): Promise<Verdict[]> {
  const answer = createAdapter(nodeCrypto);
  const send = async (request: Fields): Promise<Fields> => change(request, answer({ id: 1, ...request }));
  return runVectors({ adapter: { send, stop: async () => {} }, only });
}
const causesOf = (verdicts: readonly Verdict[]): string[] => [
  ...new Set(verdicts.flatMap(({ failure }) => failure?.causes ?? [])),
];

test('names a PSK that is derived with another memory, as argon2-cffi derives it', async () => {
  const psk = '54f24e6606d709f54fdba25b96d2aa2d';
  const [{ password, nodeId }] = readVectors('argon2id', 'Psk') as [Vector];
  const whole = mistakenPsks(password, nodeId)[0]!.derive()!;
  assert.is(whole.slice(0, 32), psk);
  assert.match(
    causesOf(await judge(['argon2id-1'], () => ({ psk: whole }))).join(),
    /^psk: Argon2id has 64 KiB of memory;/,
  );
});

test('names a prologue that is wrong in all tests, and none that another test contradicts', async () => {
  const wrong = ({ hello, handshake, protocolName }: Fields, at: number): string =>
    toHex(mistakenPrologues(String(hello), String(handshake), String(protocolName))[at]!.prologue);
  const swapped = await judge(['prologue'], (request, response) =>
    response.prologue === undefined ? response : { prologue: wrong(request, 1) },
  );
  assert.match(causesOf(swapped).join(), /^prologue: its parts are HANDSHAKE, HELLO, protocol name;[^;]*$/);
  let count = 0;
  const once = await judge(['prologue'], (request, response) =>
    response.prologue === undefined || count++ > 0 ? response : { prologue: wrong(request, 1) },
  );
  assert.equal(causesOf(once), []);
});

test('says what a session does wrong in a step', () => {
  const steps = [{ do: 'open' }, { do: 'receive', text: '{"msg_type":"hello","payload":{}}' }];
  const said = (expected: Fields[], got: Fields[], isHub = false): string | undefined =>
    saidOfEvents({ steps, step: 1, isHub }, expected, got)?.says;
  const [close, pin] = [{ type: 'close', error: 'bad-node-id' }, { type: 'pin' }];
  assert.is(said([close], []), 'a client takes HELLO that it refuses as bad-node-id');
  assert.is(said([], [close], true), 'a hub refuses HELLO that it takes, as bad-node-id');
  assert.is(
    said([close], [{ ...close, error: 'bad-offer' }]),
    'a client refuses HELLO as bad-offer where it is bad-node-id',
  );
  assert.is(
    said([close], [{ ...close, error: 'psk-differs' }]),
    'a client opens HELLO that it refuses as bad-node-id',
  );
  assert.is(said([], [{ ...close, error: 'psk-differs' }]), undefined);
  assert.is(said([pin], []), 'on HELLO a client gives nothing where pin is due');
  assert.is(said([], [pin]), 'on HELLO a client gives pin, which is not due');
  assert.is(said([pin], [pin]), undefined);
});

test.run();
