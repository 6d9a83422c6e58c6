/**
 * A static key that no hub has accepted yet, and a hub that is pinned: most likely that hub holds another key for this
 * client, and will refuse this one. The client says so before it sends anything.
 */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createKeyring,
  type Keyring,
  parseKeyring,
  serializeKeyring,
  updateKeyring,
} from '../../src/index.ts';
import { CLIENT_STATIC, HUB_KEY, HUB_PSK, NODE_ID } from '../world/keys.ts';
import { fieldsOf, find, KK, Pair, type PairOptions, readyPair, types } from '../world/pair.ts';

/** A keyring after a connection, and what the hub sent at its end. */
function after(
  options: PairOptions,
  end: (pair: Pair) => void = () => {},
  keyring: Keyring = FRESH,
): Keyring {
  const pair = new Pair({
    ...options,
    client: { ...options.client, psks: [HUB_PSK], staticKey: CLIENT_STATIC },
  }).run();
  end(pair);
  let result = keyring;
  for (const event of pair.clientEvents) result = updateKeyring(result, event);
  return parseKeyring(serializeKeyring(result), 'kiosk-7');
}
const FRESH = createKeyring({ accessKey: 'kiosk-7', staticKey: CLIENT_STATIC });

test('a key that the hub refuses stays fresh, and the next connection warns', () => {
  const keyring = after({ client: { staticKeyIsFresh: true }, hub: { clientKey: HUB_KEY } }, (pair) => {
    pair.advance('client', pair.client.closed(1008));
    assert.is(find(pair.clientEvents, 'ended').reason, 'client-key-refused');
  });
  assert.is(keyring.staticKeyIsFresh, true);
  const next = new Pair({
    client: { ...fieldsOf(keyring), psks: [HUB_PSK] },
    hub: { clientKey: HUB_KEY },
  }).run();
  const seen = next.clientEvents.length;
  next.advance('client', next.client.closed(1008));
  const [warning] = next.clientEvents.slice(seen);
  const { nodeId, error } = find([warning!], 'static-key-fresh');
  assert.equal([nodeId, error.code], [NODE_ID, 'static-key-fresh']);
});

test('a key that has been accepted is not fresh again, whatever happens', () => {
  const used = after(KK);
  for (const options of [{}, KK, { hub: { clientKey: HUB_KEY } }, { hub: { psk: new Uint8Array(32) } }]) {
    const keyring = after(options, (pair) => pair.advance('client', pair.client.closed(1008)), used);
    assert.is(keyring.staticKeyIsFresh, false);
  }
});

test('a client whose key was accepted is not warned again', () => {
  const keyring = after({}, (pair) => pair.advance('client', pair.toClient(pair.hub.sendJson({}))));
  const { clientEvents } = readyPair({
    client: { ...fieldsOf(keyring), psks: [HUB_PSK] },
    hub: KK.hub,
  });
  assert.equal(types(clientEvents), ['transmit', 'transmit', 'ready']);
});

test.run();
