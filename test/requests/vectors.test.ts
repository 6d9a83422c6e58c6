/** The vectors of requests.json: builders, session ids, replies, and the scheduler. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { readVectorFile, type Vector } from '../../judge/src/vectors.ts';
import { decisionToJson } from '../../ports/typescript/values.ts';
import { buildAction, buildCode, buildUtterance } from '../../src/requests/build-request.ts';
import { readRefusal } from '../../src/requests/refusal.ts';
import { ReplyCollector } from '../../src/requests/reply-collector.ts';
import { type RequestDecision, RequestScheduler } from '../../src/requests/request-scheduler.ts';
import { sessionIdsMatch } from '../../src/requests/session-ids.ts';
import type { JsonObject } from '../../src/wire/json.ts';
import { stringifyJson } from '../../src/wire/write-json.ts';
import { raisesLocal } from '../world/raises.ts';

/** A value as JSON.parse reads it from the wire, `__proto__` included. */
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

  Request({ builder, arguments: given, envelope, error }) {
    const build = () => BUILDERS[builder]!(given as never);
    if (error !== undefined) raisesLocal(build, 'bad-argument');
    else assert.equal(sent(build()), envelope);
  },

  Reply({ request, events, end, state, ending, reply, refusal }) {
    const { sole, ...options } = request;
    const collector = new ReplyCollector(options);
    for (const event of events) assert.is(collector.push(event, sole), collector.state);
    if (end === 'timeout') collector.timeout();
    if (end === 'stop') collector.stop();
    if (end === 'closed') collector.closed();
    assert.is(collector.state, state);
    assert.is(collector.ending ?? null, ending);
    assert.equal(sent(collector.reply), reply);
    if (refusal !== undefined) assert.equal(readRefusal(collector.reply.rawEvent), refusal);
  },

  RequestScheduler({ options, steps, results }) {
    const scheduler = new RequestScheduler(options);
    for (const [i, { at, do: operation, envelope, message, requestId, timeout }] of steps.entries()) {
      let decisions: readonly RequestDecision[] = [];
      if (operation === 'request') decisions = scheduler.request(envelope, at, timeout);
      if (operation === 'note-sent') scheduler.noteSent(at);
      if (operation === 'receive') decisions = scheduler.receive(message, at);
      if (operation === 'expire') decisions = scheduler.expire(at);
      if (operation === 'cancel') decisions = scheduler.cancel(requestId, at);
      if (operation === 'closed') decisions = scheduler.closed();
      const deadline = scheduler.nextDeadline(at) ?? null;
      const { saysHandled = null } = scheduler;
      assert.equal(
        { decisions: decisions.map(decisionToJson), deadline, saysHandled },
        results[i],
        `step ${i + 1}`,
      );
    }
  },
};

for (const { type, tests } of readVectorFile('requests').testGroups) {
  for (const vector of tests) {
    test(`${type} ${vector.tcId}, ${vector.flags.join()}: ${vector.comment}`, () => TYPES[type]!(vector));
  }
}

test.run();
