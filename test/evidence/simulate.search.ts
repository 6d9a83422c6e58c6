/**
 * A ClientLink and hubs in trouble, an hour of each under virtual time. `evidence/searches/simulate/run` also runs it without a policy, and
 * writes docs/reference/policy.md.
 */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type Report, startClient } from '../../evidence/searches/simulate/client.ts';
import { cellOf, hoursWithPolicy } from '../../evidence/searches/simulate/hour.ts';
import { serving, TROUBLES } from '../../evidence/searches/simulate/hubs.ts';
import { CLIENTS, returnOf } from '../../evidence/searches/simulate/restart.ts';
import type { LinkEvent } from '../../src/index.ts';
import { Clock } from '../world/clock.ts';
import { HUB_KEY, NODE_ID } from '../world/keys.ts';
import type { Hub, Transport } from '../world/network.ts';
import { Random } from '../world/random.ts';

const page = readFileSync(new URL('../../docs/reference/policy.md', import.meta.url), 'utf8');

/** The hubs that are in trouble for good, with the most dials to them in an hour, and those that need a person. */
const FOR_GOOD: { readonly [start: string]: number } = {
  'breaks after': 150,
  forgets: 150,
  'is silent': 80,
  'is up for 20 s': 130,
  refuses: 30,
  'is full': 150,
};
const FOR_PEOPLE: { readonly [name: string]: string } = {
  'has another password': 'psk-differs',
  'has changed the password': 'psk-differs',
  'has a new key, over MQTT': 'hub-key-changed', // over WebSocket a refused KKpsk0 drops the pin, as in the spec
};

function assertBounded(name: string, transport: Transport, report: Report): void {
  const { dials, derivations, asked, readySince } = report;
  const most = Object.keys(FOR_GOOD).find((start) => name.startsWith(start));
  if (most !== undefined) assert.ok(dials <= FOR_GOOD[most]!, `${dials} dials`);
  assert.ok(derivations <= dials);
  assert.is(asked, FOR_PEOPLE[name] ?? FOR_PEOPLE[`${name}, over ${transport}`]);
  if (asked === 'psk-differs') assert.ok(dials <= 15, `${dials} dials`);
  if (asked !== undefined) assert.ok(dials <= 100, `${dials} dials`);
  if (name.startsWith('restarts')) assert.ok(readySince !== undefined && dials <= 15, `${dials} dials`);
}

for (const trouble of TROUBLES) {
  const transports: Transport[] = trouble.isForMqtt ? ['WebSocket', 'MQTT'] : ['WebSocket'];
  for (const transport of transports) {
    test(`a hub that ${trouble.name}, over ${transport}: an hour, as the document says`, () => {
      const reports = hoursWithPolicy(trouble, transport);
      for (const report of reports) assertBounded(trouble.name, transport, report);
      const row = page.split('\n').find((line) => line.startsWith(`| ${trouble.name} | ${transport} |`));
      assert.ok(row?.endsWith(`| ${cellOf(reports)} |`), 'run evidence/searches/simulate/run');
    });
  }
}

/** When somebody with the access key disconnects the client: after each pause, in milliseconds, while it is connected. */
const PAUSES: { readonly [pace: string]: () => () => number } = {
  ...Object.fromEntries(
    [3, 10, 30, 100, 320, 390, 1000, 10_000].map((pause) => [`${pause} ms`, () => () => pause]),
  ),
  'random times': () => {
    const random = new Random(1);
    return () => random.below(2000);
  },
};

for (const [pace, make] of Object.entries(PAUSES)) {
  test(`disconnected by anybody who has the access key, every ${pace} for an hour: no pin and no PSK is lost, and nobody is asked`, () => {
    for (const isKnown of [true, false]) {
      const pause = make();
      const clock = new Clock();
      let isAttacked = true;
      const accept: Hub['accept'] = (link, clock) => {
        const disconnect = (): void => {
          if (isAttacked) link.refuse(1000); // as the client reads a hub over HTTPS that does not know it any more
        };
        clock.after(pause(), disconnect);
        return serving()(link, clock);
      };
      const report = startClient({ clock, over: 'WebSocket', hub: { accept }, isKnown, seed: 1 });
      clock.runUntil(3_600_000);
      const { pins, psks } = report.client.link.keyring;
      if (isKnown || pins.length > 0) assert.equal(pins, [{ nodeId: NODE_ID, key: HUB_KEY }]);
      assert.is(psks.filter(({ isSuspect }) => !isSuspect).length, pins.length);
      assert.equal([report.questions, report.derivations <= report.dials], [0, true]);
      isAttacked = false;
      clock.runUntil(3_600_000 + 1_200_000);
      assert.is(report.client.link.state, 'ready');
      report.client.call('end');
    }
  });
}

test('in 90 days a client has 90 sessions, each with its own keys, and nobody is told of an end', () => {
  const clock = new Clock();
  const told: LinkEvent[] = [];
  startClient({
    clock,
    over: 'WebSocket',
    hub: { accept: serving() },
    isKnown: true,
    seed: 1,
    hear: (event) => told.push(event),
  });
  clock.runUntil(90 * 86_400_000);
  const sessions = told.filter((event) => event.type === 'connect');
  assert.is(new Set(sessions.map(({ handshakeHash }) => String(handshakeHash))).size, 90);
  assert.ok(sessions.every(({ pattern }) => pattern === 'KKpsk0'));
  const types = new Set(told.map(({ type }) => type));
  assert.equal([...types], ['connecting', 'connect', 'message', 'finish']);
});

test('the clients of a hub that restarts come back one by one', () => {
  const accepted = returnOf(CLIENTS, 120);
  assert.ok(Math.max(...accepted) < CLIENTS / 20);
  assert.ok(accepted.reduce((sum, count) => sum + count, 0) > 0.95 * CLIENTS);
});

test.run();
