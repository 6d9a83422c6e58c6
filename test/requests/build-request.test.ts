import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buildAction, buildCode, buildUtterance } from '../../src/requests/build-request.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { withThrowing } from '../world/hostile.ts';
import { readyPair } from '../world/pair.ts';
import { raisesLocal } from '../world/raises.ts';

test('builds byte for byte what the public clients send', () => {
  // thalovant-embedded-c tests/test_ask.c
  const expected =
    '{"msg_type":"bus","payload":{"type":"recognizer_loop:utterance","data":{"utterances":["what time is it"],' +
    '"lang":"en-us"},"context":{"request_id":"req-1","thalovant_request_id":"req-1","session":{"session_id":"sess-1",' +
    '"site_id":"kitchen","lang":"en-us","request_id":"req-1"}}},"metadata":{},"route":[],"node":null,' +
    '"target_site_id":null,"target_pubkey":null,"source_peer":null}';
  const request = { requestId: 'req-1', sessionId: 'sess-1', siteId: 'kitchen' };
  assert.is(stringifyJson(buildUtterance({ ...request, text: 'what time is it' })), expected);
});

test('builds envelopes that a session sends and a hub receives', () => {
  const { client, hub } = readyPair();
  const envelope = buildCode({ requestId: 'req-1', value: 'SN-001-XYZ', kind: 'qr', label: 'serial' });
  const [event] = client.sendJson(envelope).flatMap((data) => hub.receive(data));
  assert.equal(JSON.parse((event as { text: string }).text), envelope);
});

type Build = (text: unknown, request?: object) => JsonObject;

const BUILDERS: { readonly [name: string]: Build } = {
  buildUtterance: (text, request) => buildUtterance({ requestId: 'r', ...request, text } as never),
  buildAction: (payload, request) => buildAction({ requestId: 'r', ...request, payload } as never),
  buildCode: (value, request) => buildCode({ requestId: 'r', ...request, value } as never),
};

for (const [name, build] of Object.entries(BUILDERS)) {
  test(`${name} leaves the caller's context unchanged`, () => {
    const context = { input: 'old', session: { session_id: 'old' } };
    const before = JSON.stringify(context);
    const { payload } = build('x', { context, sessionId: 'new' }) as { payload: JsonObject };
    assert.is(JSON.stringify(context), before);
    assert.equal((payload.context as JsonObject).session, {
      session_id: 'new',
      lang: 'en-us',
      request_id: 'r',
    });
  });
}

test('keeps the error that a getter threw as the cause', () => {
  const error = raisesLocal(() => buildUtterance(withThrowing('text') as never), 'bad-argument');
  assert.instance(error.cause, TypeError);
});

test('an error shows no part of a request', () => {
  const error = raisesLocal(() => buildUtterance({ requestId: 's3cret', text: ' ' }), 'bad-argument');
  assert.not.match(error.message, 's3cret');
});

test.run();
