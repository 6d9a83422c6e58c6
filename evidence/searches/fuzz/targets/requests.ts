/** Requests in flight: any course of requests, events of the hub, and time. Each request ends once, and is sent once at most. */
import {
  buildAction,
  buildCode,
  buildUtterance,
  type JsonObject,
  RequestScheduler,
} from '../../../../src/index.ts';
import type { RequestDecision } from '../../../../src/parts.ts';
import type { Random } from '../../../../test/world/random.ts';
import { ask, breach } from '../law.ts';
import { anyJson, anyText, mutatedJson, mutatedText } from '../mutate.ts';

const TYPES = [
  'speak', 'speak', 'ovos.utterance.speak', 'complete_intent_failure', 'ovos.intent.unmatched', 'ovos.utterance.handled',
  'hive.policy.denied', 'hive.query.timeout', 'other',
]; // biome-ignore format: a list
const SESSIONS = [undefined, 'default', 's1', 's2', '__proto__'];

export function requests(random: Random): void {
  const saysHandled = random.pick([undefined, true, false]);
  const scheduler = new RequestScheduler({ sessionId: random.pick(SESSIONS), saysHandled });
  const open = new Map<string, boolean>();
  /** What was said in parts, by the id of the request. */
  const said = new Map<string, string[]>();
  let now = 0;
  let made = 0;
  const carryOut = (what: string, call: () => RequestDecision[]): void => {
    const outcome = ask(what, call);
    if (outcome.error !== undefined) breach(`${what} threw`, outcome.error);
    for (const decision of outcome.value) {
      if (decision.do === 'handle') continue;
      const wasSent = open.get(decision.requestId);
      if (wasSent === undefined) breach(`${decision.do} for a request that has ended`);
      if (decision.do === 'part') {
        if (!wasSent) breach('a part of a reply to a request that was not sent');
        said.set(decision.requestId, [...(said.get(decision.requestId) ?? []), decision.text]);
      } else if (decision.do === 'send') {
        if (wasSent) breach('a request is sent twice');
        open.set(decision.requestId, true);
      } else {
        if (decision.wasSent !== wasSent) breach('wasSent is not what happened');
        const parts = (said.get(decision.requestId) ?? []).filter((text) => text !== '');
        if (parts.join(' ') !== decision.reply.text) breach('the parts together are not the reply');
        open.delete(decision.requestId);
      }
    }
  };
  for (let i = random.below(24); i > 0; i--) {
    now += random.pick([0, 1, 100, 300, 6000, 61_000]);
    const act = random.below(8);
    if (act < 2) {
      const requestId = `r${made++}`;
      const envelope = ask('build', () => build(random, requestId));
      if (envelope.error !== undefined) continue;
      open.set(requestId, false);
      const timeout = random.pick([undefined, 200, 10_000]);
      carryOut('request()', () => scheduler.request(envelope.value, now, timeout));
    } else if (act < 6) carryOut('receive()', () => scheduler.receive(message(random, made), now));
    else if (act === 6) carryOut('cancel()', () => scheduler.cancel(`r${random.below(made + 1)}`, now));
    else if (random.oneIn(2)) scheduler.noteSent(now);
    else carryOut('expire()', () => scheduler.expire(now));
  }
  for (let turns = 0; ; turns++) {
    const wait = scheduler.nextDeadline(now);
    if (wait === undefined) break;
    if (turns > 3 * made) breach('deadlines pass, and requests do not end');
    now += wait;
    carryOut('expire()', () => scheduler.expire(now));
  }
  if (random.oneIn(2)) carryOut('closed()', () => scheduler.closed());
  if (open.size > 0) breach('a request never ended');
}

function build(random: Random, requestId: string): JsonObject {
  const fields = {
    requestId,
    sessionId: random.pick(SESSIONS),
    ...(random.oneIn(4) && { context: anyJson(random) as JsonObject }),
  };
  const text = random.oneIn(2) ? 'hello' : anyText(random, 10);
  const kind = random.below(3);
  if (kind === 0) return buildAction({ ...fields, payload: text, title: 't' });
  return kind === 1 ? buildCode({ ...fields, value: text }) : buildUtterance({ ...fields, text });
}

function message(random: Random, made: number): string {
  const requestId = random.oneIn(3) ? undefined : `r${random.below(made + 1)}`;
  const session = { session_id: random.pick(SESSIONS) };
  const data = random.oneIn(2) ? { utterance: anyText(random, 10), handled: true } : anyJson(random);
  let envelope: unknown = {
    msg_type: 'bus',
    payload: { type: random.pick(TYPES), data, context: { request_id: requestId, session } },
  };
  if (random.oneIn(3)) envelope = mutatedJson(random, envelope);
  const text = JSON.stringify(envelope);
  return random.oneIn(12) ? mutatedText(random, text) : text;
}
