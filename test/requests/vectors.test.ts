/** The vectors of requests and replies: what the builders make, and what the collector makes of events. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';
import { buildAction, buildCode, buildUtterance } from '../../src/requests/build-request.ts';
import { readRefusal } from '../../src/requests/refusal.ts';
import { ReplyCollector } from '../../src/requests/reply-collector.ts';
import { sessionIdsMatch } from '../../src/requests/session-ids.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { raisesLocal } from '../raises.ts';

/** A value as it travels: its numbers those of JavaScript, and `__proto__` a field like any other. */
const sent = (value: unknown): unknown => JSON.parse(stringifyJson(value as JsonObject));

const BUILDERS: { [builder: string]: (request: never) => JsonObject } = {
  utterance: buildUtterance,
  action: buildAction,
  code: buildCode,
};

const TYPES: { [type: string]: (vector: Vector) => void } = {
  SessionIdsMatch({ declared, returned, matches }) {
    assert.is(sessionIdsMatch(declared, returned), matches);
  },

  Request({ builder, arguments: given, envelope, result }) {
    const build = () => BUILDERS[builder]!(given as never);
    if (result === 'invalid') raisesLocal(build, 'bad-argument');
    else assert.equal(sent(build()), envelope);
  },

  Reply({ request, events, end, state, ending, reply, refusal }) {
    const { sole, ...options } = request;
    const collector = new ReplyCollector(options);
    for (const event of events) assert.is(collector.push(event, sole), collector.state);
    if (end === 'timeout') collector.timeout();
    if (end === 'closed') collector.closed();
    assert.is(collector.state, state);
    assert.is(collector.ending ?? null, ending);
    assert.equal(sent(collector.reply), reply);
    if (refusal !== undefined) assert.equal(readRefusal(collector.reply.rawEvent), refusal);
  },
};

for (const { type, tests } of readVectorFile('requests').testGroups) {
  for (const vector of tests) {
    test(`${type} ${vector.tcId}, ${vector.flags.join()}: ${vector.comment}`, () => TYPES[type]!(vector));
  }
}

test.run();
