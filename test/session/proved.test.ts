/** A device over many connections: it stores what a hub has proved, and nothing else, and asks when its password is wrong. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type HubOptions, type Keyring, storePsk, updateKeyring } from '../../src/index.ts';
import { findHub } from '../../src/session/keyring-fields.ts';
import { CLIENT_KEY, HUB_KEY, NODE_ID, PSK } from '../world/keys.ts';
import type { Data } from '../world/line.ts';
import { changeMessage, flip, newHub } from '../world/pair.ts';
import { type Peer, WatchedDevice } from './observed-device.ts';

const OTHER_PSK = new Uint8Array(32).fill(6);
const IMPOSTOR: Partial<HubOptions> = {
  staticKey: new Uint8Array(32).fill(7),
  psk: new Uint8Array(32).fill(8),
};

/** A hub, for one connection. */
function peer(options: Partial<HubOptions> = {}, change = (data: Data): Data => data): Peer {
  const hub = newHub(options);
  const sent = (events: ReturnType<typeof hub.receive>): Data[] =>
    events.flatMap((event) => (event.type === 'transmit' ? [event.data] : []));
  return {
    start: () => sent(hub.start()),
    receive: (data) => sent(hub.receive(data)).map(change),
  };
}

const spoiled = (): Peer => peer({}, (data) => changeMessage(data, flip(-1)));

const pinned = (keyring: Keyring): Keyring =>
  updateKeyring(keyring, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY });
const stored = (keyring: Keyring): Keyring =>
  storePsk(storePsk(keyring, NODE_ID, PSK), 'another hub', OTHER_PSK);

function newDevice(keyring?: (fresh: Keyring) => Keyring, psk: Uint8Array = PSK): WatchedDevice {
  return new WatchedDevice({ crypto: nodeCrypto, psk, keyring, onKkFailure: 'keep-pin' });
}

const KEYRINGS: [string, (fresh: Keyring) => Keyring][] = [
  ['nothing', (fresh) => fresh],
  ['PSKs', stored],
  ['a pin', pinned],
  ['a pin and PSKs', (fresh) => pinned(stored(fresh))],
];

for (const [name, keyring] of KEYRINGS) {
  for (const [whose, idOf] of [
    ['the hub', () => NODE_ID],
    ['another hub each time', (i: number) => `hub ${i}`],
    ['a hub with the longest node id', (i: number) => `${i}`.padEnd(4096, 'x')],
  ] as [string, (i: number) => string][]) {
    test(`100 connections of an impostor of ${whose} do not change a keyring with ${name}`, () => {
      const device = newDevice(keyring);
      const before = device.stored;
      for (let i = 0; i < 100; i++) {
        const options = { ...IMPOSTOR, nodeId: idOf(i), clientKey: i % 2 ? CLIENT_KEY : undefined };
        if (device.connect(peer(options)).do === 'ask') device.resume();
        assert.is(device.stored, before);
      }
      assert.not.ok(device.log.includes('ready'));
    });
  }
}

test('by default, an impostor of a pinned hub makes the device suspect the pin, and store nothing', () => {
  const device = new WatchedDevice({ crypto: nodeCrypto, psk: PSK, keyring: pinned });
  device.connect(peer({ ...IMPOSTOR, clientKey: CLIENT_KEY }), 1008);
  const { pins, psks } = device.keyring;
  assert.equal([pins.map(({ isSuspect }) => isSuspect), psks.length], [[true], 0]);
});

test('a node id over 4096 bytes causes no derivation', () => {
  const device = newDevice();
  device.connect({
    ...peer(),
    start: () =>
      peer({ nodeId: 'x'.repeat(4096) })
        .start()
        .map(longer),
  });
  assert.is(device.derivations, 0);
  assert.ok(device.log.includes('close 1008 bad-node-id'));
});

function longer(data: Data): Data {
  return String(data).replace('xx', 'xxx');
}

test('a proved PSK survives a spoiled message 2: it is derived again, and proved again', () => {
  const device = newDevice();
  device.connect(peer());
  const { stored } = device;
  assert.is(device.keyring.psks.length, 1);
  device.connect(spoiled());
  assert.is(device.stored, stored);
  device.connect(peer());
  assert.is(device.log.filter((note) => note === 'ready').length, 2);
  assert.is(device.stored, stored);
  assert.equal([device.derivations, device.keyring.psks[0]!.isSuspect], [2, false]);
});

test('a wrong password is derived twice, and then a person is asked', () => {
  const device = newDevice(undefined, OTHER_PSK);
  assert.is(device.connect(peer()).do, 'dial');
  assert.is(device.connect(peer()).do, 'ask');
  assert.is(device.derivations, 2);
  assert.is(device.keyring.psks.length, 0);
});

test('after a new password that the device does not know, it derives the old one once more, and asks', () => {
  const device = newDevice();
  device.connect(peer());
  const { stored } = device;
  const hub = { psk: OTHER_PSK };
  assert.is(device.connect(peer(hub)).do, 'dial');
  assert.is(device.connect(peer(hub)).do, 'ask');
  assert.is(device.derivations, 2);
  assert.is(device.stored, stored);
});

test('after a new password that the device knows, the PSK of the old one is replaced when the new one is proved', () => {
  const device = newDevice();
  device.connect(peer());
  const hub = { psk: OTHER_PSK };
  device.psk = OTHER_PSK;
  device.connect(peer(hub));
  assert.equal(device.keyring.psks[0]!.key, PSK);
  device.connect(peer(hub));
  assert.equal(device.keyring.psks.length, 1);
  assert.equal(findHub(device.keyring.psks, NODE_ID)?.key, OTHER_PSK);
});

test.run();
