/** What attackers bring about, one thing on each connection; and the old rules, put back, which must show. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  ATTACKERS,
  explore,
  FAILURES,
  page,
  SETTINGS,
  type Setting,
} from '../../evidence/searches/explore/attacker.ts';
import { NODE_ID, SCENARIOS } from '../../evidence/searches/explore/scenarios.ts';
import { dropPin } from '../../src/index.ts';
import { LinkMachine } from '../../src/link/machine.ts';
import { StoredKeyring } from '../../src/link/stored-keyring.ts';
import { ClientSession } from '../../src/parts.ts';
import { POLICY_ENDINGS } from '../../src/policy/tables.ts';
import { CLIENT_ENDINGS } from '../../src/session/endings.ts';

const [ACCESS_KEY, WIRE, INSIDER] = Object.values(ATTACKERS);
const KNOWN_HUB = SETTINGS.find(({ name }) => name === 'known hub')!;
/** A hub with another key than the one that is pinned. */
const NEW_KEY: Setting = {
  ...KNOWN_HUB,
  name: 'new hub key',
  keyring: SCENARIOS.find(({ name }) => name === 'new hub key, pins replaced')!.keyring,
};
const waysTo = (acts: typeof WIRE, setting = KNOWN_HUB): string =>
  [...explore(setting, acts!).ways.keys()].join();

test('the access key alone costs nothing but time, whatever is closed and when, and nothing else is told', () => {
  for (const setting of SETTINGS) {
    const { ways, told } = explore(setting, ACCESS_KEY!);
    assert.equal([...ways.keys(), ...told], ['dropped'], setting.name);
  }
});

test('without the password no pin and no PSK is lost or replaced, and nobody is asked about an accepted key', () => {
  for (const setting of SETTINGS.slice(1))
    assert.not.match(waysTo(WIRE, setting), /lost|replaced|pinned|client-key-refused/);
});

test('the table of SECURITY.md is what the search finds', () => {
  const { is, shouldBe } = page();
  assert.is(is, shouldBe, 'run node --import tsx evidence/searches/explore/attacker.ts');
});

/** What attackers and failures have led to after which a client is not connected within 15 minutes, or at the third of its restarts. */
function lostIn(setting: Setting): string[] {
  const lost: string[] = [];
  for (const restarts of [false, true]) {
    for (const [code, cost] of explore({ ...setting, restarts }, [...WIRE!, ...FAILURES], 3).costs) {
      if (cost.time > 900_000 || (restarts && cost.connections > 3))
        lost.push(`${code}, after ${cost.course.join('; ')}`);
    }
  }
  return lost;
}

for (const setting of [...SETTINGS, NEW_KEY]) {
  test(`${setting.name}: connected soon after the attackers, without a person, also if it restarts or fails meanwhile`, () => {
    assert.equal(lostIn(setting), []);
  });
}

test('finds a client that waits for the person who is asked', () => {
  const prototype = LinkMachine.prototype as unknown as {
    pause(
      this: { dialAt?: number | undefined },
      now: number,
      after: number,
      error: Error,
      isAsked: boolean,
    ): void;
  };
  const { pause } = prototype;
  const stops: typeof pause = function (...args) {
    pause.apply(this, args);
    if (args[3]) this.dialAt = undefined;
  };
  withPatched(prototype, 'pause', stops, () =>
    assert.match(lostIn(KNOWN_HUB).join('\n'), /^protocol-version/m),
  );
});

test('finds that 1000 counts as a refusal', () => {
  const { closed } = ClientSession.prototype;
  const refuses: typeof closed = function (this: ClientSession, closing) {
    return closed.call(this, (closing as { code?: number })?.code === 1000 ? 1008 : closing);
  };
  withPatched(ClientSession.prototype, 'closed', refuses, () => {
    const { ways, told } = explore(SETTINGS[0]!, ACCESS_KEY!);
    assert.match([...ways.keys()].join(), 'client-key-refused');
    assert.ok(told.has('access-refused'));
  });
});

test('finds that a failed KKpsk0 drops the pin', () => {
  const { store } = StoredKeyring.prototype;
  const drops: typeof store = function (this: StoredKeyring, updates, ...rest) {
    const dropping = updates.map((update): typeof update => (keyring) => {
      const updated = update(keyring);
      return updated.pins.some(({ isSuspect }) => isSuspect) ? dropPin(updated, NODE_ID) : updated;
    });
    return store.call(this, dropping, ...rest);
  };
  withPatched(StoredKeyring.prototype, 'store', drops, () => assert.match(waysTo(WIRE), 'the pin is lost'));
});

test('finds that a pin is replaced without a word', () => {
  const prototype = LinkMachine.prototype as unknown as { tell(event: { type: string }): void };
  const { tell } = prototype;
  const mute = function (this: LinkMachine, event: { type: string }): void {
    if (event.type !== 'hub-replaced') tell.call(this, event);
  };
  withPatched(prototype, 'tell', mute, () => assert.match(waysTo(INSIDER), 'without a word'));
});

test('finds that a person is asked about a key that a hub has accepted', () => {
  const row = CLIENT_ENDINGS.find(({ isFresh }) => isFresh)!;
  withPatched(row as { isFresh?: boolean | undefined }, 'isFresh', undefined, () =>
    assert.match(waysTo(WIRE), 'client-key-refused'),
  );
});

test('finds that a person is asked after one refusal of the key', () => {
  const row = POLICY_ENDINGS.find(({ error }) => error === 'client-key-refused')!;
  withPatched(row as { isRepeated?: boolean | undefined }, 'isRepeated', undefined, () => {
    const way = explore(SETTINGS[0]!, WIRE!).ways.get('a person is asked: `client-key-refused`');
    assert.is(way?.length, 1);
  });
});

function withPatched<T, Name extends keyof T>(object: T, name: Name, value: T[Name], use: () => void): void {
  const before = object[name];
  object[name] = value;
  try {
    use();
  } finally {
    object[name] = before;
  }
}

test.run();
