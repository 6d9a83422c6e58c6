import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  buildAction,
  buildCode,
  buildUtterance,
  type RequestFields,
} from '../../src/requests/build-request.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { raisesLocal } from '../raises.ts';
import { readyPair } from '../session/pair.ts';

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

test('builds what sendJson takes', () => {
  const { client, hub } = readyPair();
  const envelope = buildCode({ requestId: 'req-1', value: 'SN-001-XYZ', kind: 'qr', label: 'serial' });
  const events = client.sendJson(envelope).flatMap((data) => hub.receive(data));
  assert.equal(
    events.map(({ type }) => type),
    ['message'],
  );
  const { text } = events[0] as { text: string };
  assert.equal(JSON.parse(text), envelope);
});

const BUILDERS: [string, (said: unknown, request?: object) => JsonObject][] = [
  ['utterance', (text, request) => buildUtterance({ requestId: 'r', ...request, text: text as string })],
  ['action', (payload, request) => buildAction({ requestId: 'r', ...request, payload: payload as string })],
  ['code', (value, request) => buildCode({ requestId: 'r', ...request, value: value as string })],
];

for (const [name, build] of BUILDERS) {
  test(`leaves the context of an ${name} to the caller`, () => {
    const session = { session_id: 'old' };
    const context = { input: 'old', session };
    const before = JSON.stringify(context);
    const { payload } = build('x', { context, sessionId: 'new' }) as { payload: JsonObject };
    assert.is(JSON.stringify(context), before);
    assert.equal((payload.context as JsonObject).session, {
      session_id: 'new',
      lang: 'en-us',
      request_id: 'r',
    });
  });

  test(`refuses an ${name} that says nothing`, () => {
    for (const said of [undefined, null, '', ' \n', 7, ['x'], {}]) {
      raisesLocal(() => build(said), 'bad-argument');
    }
  });

  test(`refuses what is missing or of a wrong type in an ${name}`, () => {
    const wrong: { [field in keyof RequestFields]: unknown[] } = {
      requestId: [undefined, null, '', ' ', 7],
      sessionId: [null, '', ' ', 7],
      siteId: [null, ' ', 7],
      lang: [null, '', ' ', 7],
      context: [null, 'x', [], 7, new Uint8Array(1), { session: 'x' }, { session: null }],
    };
    for (const [field, values] of Object.entries(wrong)) {
      for (const value of values) raisesLocal(() => build('x', { [field]: value }), 'bad-argument');
    }
  });
}

test('refuses what is no request at all', () => {
  for (const build of [buildUtterance, buildAction, buildCode]) {
    for (const request of [undefined, null, 'hello', 7, ['hello']]) {
      raisesLocal(() => build(request as never), 'bad-argument');
    }
  }
});

test('shows nothing of a request in an error', () => {
  const error = raisesLocal(
    () => buildUtterance({ requestId: 's3cret' as never, text: ' ' }),
    'bad-argument',
  );
  assert.not.match(error.message, 's3cret');
});

test.run();
