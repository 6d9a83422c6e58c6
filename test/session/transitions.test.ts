/**
 * Compares the tables of transitions.ts with what the sessions do: every step that either session takes is in its table,
 * and some session takes every row and every next state of the tables.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  CLIENT_TRANSITIONS,
  HUB_TRANSITIONS,
  type Input,
  type TransitionTable,
} from '../../src/session/transitions.ts';
import { PSK } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import { HELLO, KK, LATER, OFFER, PACED, Pair, type PairOptions } from '../world/pair.ts';
import { nextStates } from './reachable.ts';

/** A step that a session took. */
type Step = readonly [state: string, input: Input, next: string];

/** The input that arrives with a message, in the words of transitions.ts. */
function inputOf(data: Data): Input {
  let message: { msg_type: string; payload: { noise?: { [key: string]: unknown } } };
  try {
    message = JSON.parse(typeof data === 'string' ? data : Buffer.from(data).toString());
  } catch {
    return 'frame';
  }
  if (message.msg_type === 'hello') return 'hello';
  if (message.msg_type !== 'shake') return 'other';
  const { msg, pattern, suite } = message.payload.noise ?? {};
  if (msg === undefined) return 'offer';
  return pattern !== undefined || suite !== undefined ? 'noise-with-choice' : 'noise';
}

/** Records the steps of a session that a method causes. A failure is not a step: it leads to `failed` in every state. */
function observe(session: object, method: string, inputOf: (argument: never) => Input, steps: Step[]): void {
  const observed = session as { state: string; [method: string]: unknown };
  const call = observed[method] as (argument: unknown) => unknown;
  observed[method] = (argument: never) => {
    const { state } = observed;
    const events = call.call(session, argument);
    if (observed.state !== 'failed') steps.push([state, inputOf(argument), observed.state]);
    return events;
  };
}

/** The steps of both sessions in a connection that becomes ready, and in one message each way. */
function stepsOf(options: PairOptions): { client: Step[]; hub: Step[] } {
  const pair = new Pair(options);
  const { client, hub } = pair;
  const steps: { client: Step[]; hub: Step[] } = { client: [], hub: [] };
  observe(client, 'receive', inputOf, steps.client);
  observe(client, 'providePsk', () => 'psk', steps.client);
  observe(client, 'resume', () => 'resume', steps.client);
  observe(client, 'start', () => 'start', steps.client);
  observe(hub, 'receive', inputOf, steps.hub);
  observe(hub, 'start', () => 'start', steps.hub);
  client.start();
  pair.run();
  if (client.state === 'awaiting-psk') pair.advance('client', client.providePsk(PSK));
  assert.is(client.state, 'ready');
  assert.is(hub.state, 'ready');
  pair.toHub(client.sendJson({}));
  pair.toClient(hub.sendJson({}));
  return steps;
}

const twice = (data: Data): Data[] => (typeof data === 'string' ? [data, data] : [data]);
/** Some hubs repeat the pattern in message 2. */
const withPattern = (data: Data): Data[] => [
  typeof data === 'string' ? data.replace('"noise":{"msg"', '"noise":{"pattern":"XXpsk2","msg"') : data,
];
const STRAY = [HELLO, OFFER];
const amongStray = (data: Data, count: number): Data[] => (count > 1 ? [data, ...STRAY] : [data]);

const VARIANTS: PairOptions[] = [
  {},
  { client: { psks: [] } },
  { wire: (_, data) => twice(data) },
  { wire: (to, data) => (to === 'client' ? withPattern(data) : [data]) },
  { wire: (_, data, count) => amongStray(data, count) },
];

const KEYS = [{}, LATER, PACED, { ...LATER, paced: true }];

/** Every variant with each pattern, with a static key that answers at once or later, and paced or not. */
function allSteps(): { client: Step[]; hub: Step[] } {
  const all: { client: Step[]; hub: Step[] } = { client: [], hub: [] };
  for (const variant of VARIANTS) {
    for (const pattern of [{ client: {}, hub: {} }, KK]) {
      for (const key of KEYS) {
        const client = { ...pattern.client, ...key, ...variant.client };
        const { client: clientSteps, hub: hubSteps } = stepsOf({ ...variant, client, hub: pattern.hub });
        all.client.push(...clientSteps);
        all.hub.push(...hubSteps);
      }
    }
  }
  return all;
}

const STEPS = allSteps();
const TABLES: [name: 'client' | 'hub', table: TransitionTable<string>, steps: Step[]][] = [
  ['client', CLIENT_TRANSITIONS, STEPS.client],
  ['hub', HUB_TRANSITIONS, STEPS.hub],
];
const INPUTS: readonly Input[] = [
  'hello',
  'offer',
  'noise-with-choice',
  'noise',
  'other',
  'start',
  'psk',
  'resume',
  'frame',
];
const REPEATS: readonly Input[] = ['hello', 'offer', 'noise-with-choice', 'noise'];

for (const [name, table, steps] of TABLES) {
  test(`every step of a ${name} is in its table`, () => {
    for (const [state, input, next] of steps) {
      const step = `${state} + ${input} = ${next}`;
      if (table[state]![input] !== undefined) assert.ok(nextStates(table, state, input).includes(next), step);
      else assert.ok(table[state]!.repeat === state && REPEATS.includes(input) && next === state, step);
    }
  });

  for (const state of Object.keys(table)) {
    for (const input of INPUTS) {
      const next = nextStates(table, state, input);
      if (next.length === 0) continue;
      test(`${input} leads a ${name} in ${state} to each of its next states`, () => {
        const found = steps.filter((step) => step[0] === state && step[1] === input).map((step) => step[2]);
        for (const state of next) assert.ok(found.includes(state), `never to ${state}`);
      });
    }
  }

  test(`a ${name} has a row for every state that follows another`, () => {
    for (const row of Object.values(table)) {
      for (const state of Object.values(row)) assert.ok(state === 'failed' || state in table, state);
    }
  });

  test(`a ${name} ignores repeats in every state from the offer on, and in no other`, () => {
    const withoutRepeats = Object.keys(table).filter((state) => table[state]!.repeat === undefined);
    assert.equal(withoutRepeats, name === 'client' ? ['awaiting-hello', 'awaiting-offer'] : ['new']);
  });
}

test.run();
