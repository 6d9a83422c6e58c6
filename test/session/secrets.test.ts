/** Secrets: wiped when a phase ends, and in no event or error of another kind. How sessions print: shown.test.ts. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { isZero } from '../../src/bytes.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { HubSessionEvent, RemoteError } from '../../src/index.ts';
import type { SessionEvent } from '../../src/parts.ts';
import { CLIENT_KEY, CLIENT_STATIC, HUB_KEY, HUB_STATIC, NODE_ID, PSK } from '../world/keys.ts';
import {
  codeOf,
  find,
  KK,
  newClient,
  Pair,
  pairWithClientIn,
  pairWithHubIn,
  readyPair,
} from '../world/pair.ts';
import { toHex } from '../world/vectors.ts';
import { bytesIn, reachable } from './reachable.ts';

/** A crypto that notes every secret that it returns or is given. */
function spyingCrypto(secrets: Set<string>): typeof nodeCrypto {
  const note = (bytes: Uint8Array): Uint8Array => {
    secrets.add(toHex(bytes));
    return bytes;
  };
  return {
    ...nodeCrypto,
    // All of HKDF: chaining keys, temporary keys, cipher keys.
    hmacSha256: (key, ...parts) => note(nodeCrypto.hmacSha256(note(key), ...parts)),
    x25519: {
      publicKey: (key) => nodeCrypto.x25519.publicKey(note(key)),
      sharedSecret: (own, remote) => note(nodeCrypto.x25519.sharedSecret(note(own), remote)),
    },
    ciphers: { ChaChaPoly: (key) => nodeCrypto.ciphers.ChaChaPoly!(note(key)) },
  };
}

/** Asserts that none of these secrets can be reached from a session. */
function holdsNone(session: object, secrets: Set<string>, when: string): void {
  assert.ok(secrets.size > 1, 'no secret was noted');
  for (const bytes of bytesIn(session)) assert.not.ok(secrets.has(toHex(bytes)), `a secret is left ${when}`);
}

test('no key is reachable from a session that failed or closed, at any step', () => {
  const endings: [string, (pair: Pair) => void][] = [
    ['after closed', (pair) => void [pair.client.closed(1006), pair.hub.closed(1006)]],
    ['after a failure', (pair) => void [pair.client.receive('x'), pair.hub.receive('x')]],
    [
      'after a bad message',
      (pair) => void [pair.client.receive(new Uint8Array(20)), pair.hub.receive(new Uint8Array(20))],
    ],
  ];
  for (const options of [{}, KK]) {
    for (const stopAfter of [1, 2, 3, 4, 5, 99]) {
      for (const [when, end] of endings) {
        const secrets = new Set([PSK, CLIENT_STATIC, HUB_STATIC].map(toHex));
        const crypto = spyingCrypto(secrets);
        const pair = new Pair({
          client: {
            ...(options as typeof KK).client,
            psks: [{ nodeId: NODE_ID, key: new Uint8Array(PSK) }],
            crypto,
          },
          hub: { ...(options as typeof KK).hub, crypto },
          stopAfter,
        }).run();
        end(pair);
        const where = `${when}, stopped after ${stopAfter} messages`;
        holdsNone(pair.client, secrets, where);
        holdsNone(pair.hub, secrets, where);
      }
    }
  }
});

for (const [what, clientState, hubState] of [
  ['a handshake', 'awaiting-message-2', 'awaiting-message-3'],
  ['a session that was ready', 'ready', 'ready'],
] as const) {
  test(`the keys of ${what} are wiped when it ends`, () => {
    const ends: ((session: Pair['client'] | Pair['hub']) => unknown)[] = [
      (session) => session.closed(),
      (session) => session.receive('nonsense'),
    ];
    for (const end of ends) {
      const secrets = new Set<string>();
      const crypto = spyingCrypto(secrets);
      const { client } = pairWithClientIn(clientState, { client: { crypto } });
      const { hub } = pairWithHubIn(hubState, { hub: { crypto } });
      for (const session of [client, hub]) {
        const own: Uint8Array[] = [CLIENT_STATIC, PSK]; // which stay the caller's
        const held = bytesIn(session).filter((bytes) => secrets.has(toHex(bytes)) && !own.includes(bytes));
        assert.ok(held.length > 0);
        end(session);
        assert.ok(held.every(isZero), session.constructor.name);
      }
    }
  });
}

test('a hub that ends during the handshake wipes its copy of the PSK', () => {
  const { hub } = pairWithHubIn('awaiting-message-3');
  const held = bytesIn(hub).filter((bytes) => bytes !== PSK && Buffer.compare(bytes, PSK) === 0);
  hub.closed(1006);
  assert.ok(held.length > 0 && held.every(isZero));
});

test('a session that ends before the PSK is proved wipes its copy', () => {
  const { client } = pairWithClientIn('awaiting-psk');
  client.providePsk(PSK);
  const held = bytesIn(client).filter((bytes) => Buffer.compare(bytes, PSK) === 0);
  client.closed(1006);
  assert.ok(held.length > 0 && held.every(isZero));
});

test('no handshake key is reachable once the session is ready', () => {
  const pair = readyPair();
  for (const session of [pair.client, pair.hub]) {
    const held = bytesIn(session).map(toHex);
    for (const secret of [PSK, CLIENT_STATIC, HUB_STATIC]) assert.not.ok(held.includes(toHex(secret)));
  }
});

test('key pairs made by the crypto are released with the handshake, since they hold keys outside of JavaScript', () => {
  const handle = { of: 'a key' };
  const { publicKey, sharedSecret } = nodeCrypto.x25519;
  const importKey = (privateKey: Uint8Array) => ({
    publicKey: publicKey(privateKey),
    sharedSecret: (remote: Uint8Array) => sharedSecret(privateKey, remote),
    handle,
  });
  const crypto = { ...nodeCrypto, x25519: { publicKey, sharedSecret, importKey } };
  for (const end of [(pair: Pair) => pair.run(), (pair: Pair) => pair.client.closed()]) {
    const pair = new Pair({ client: { crypto } });
    assert.ok(reachable(pair.client).includes(handle));
    end(pair);
    assert.not.ok(reachable(pair.client).includes(handle));
  }
});

test('an unfinished message is wiped when the session ends', () => {
  const pair = readyPair();
  const plaintext = new Uint8Array(65001).fill(0x5a);
  pair.client.receive(pair.hub.sendBinary(plaintext)[0]!);
  const held = () => bytesIn(pair.client).some((bytes) => bytes.includes(0x5a) && bytes.length >= 65000);
  assert.ok(held());
  pair.client.closed(1006);
  assert.not.ok(held());
});

/** All events of handshakes that go well and badly, with the errors in them. */
function manyEvents(): (SessionEvent | HubSessionEvent)[] {
  const wrong = new Uint8Array(32).fill(0x77);
  const runs = [
    new Pair(),
    new Pair(KK),
    new Pair({ client: { psks: [{ nodeId: NODE_ID, key: wrong }] } }),
    new Pair({ ...KK, client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: wrong }] } }),
    new Pair({ client: { pins: [{ nodeId: NODE_ID, key: CLIENT_KEY }], patterns: ['XXpsk2'] } }),
    new Pair({ hub: { clientKey: HUB_KEY } }),
  ];
  return runs.flatMap((pair) => {
    pair.run();
    return [...pair.clientEvents, ...pair.hubEvents, ...pair.client.closed(1008), ...pair.hub.closed(1008)];
  });
}

test('no event and no error holds a secret, in bytes, hex or base64', () => {
  const secrets = [PSK, CLIENT_STATIC, HUB_STATIC, new Uint8Array(32).fill(0x77)];
  const passwords = ['correct horse', 'kiosk-7'];
  for (const event of manyEvents()) {
    const shown =
      inspect(event, { showHidden: true, depth: 9, maxArrayLength: null }) + JSON.stringify(event);
    for (const bytes of bytesIn(event)) {
      for (const secret of secrets)
        assert.is(Buffer.from(bytes).includes(Buffer.from(secret)), false, event.type);
    }
    for (const secret of secrets) {
      assert.not.match(shown, toHex(secret));
      assert.not.match(shown, Buffer.from(secret).toString('base64'));
    }
    for (const password of passwords) assert.not.match(shown, password);
  }
});

test('every error has a code, and a sentence that a person can act on', () => {
  const errors = manyEvents().flatMap((event) => ('error' in event && event.error ? [event.error] : []));
  assert.ok(errors.length >= 8);
  for (const error of errors) {
    assert.match(error.code, /^[a-z0-9-]+$/);
    assert.ok(error.message.length > 20, error.code);
  }
});

test('an error contains no data from the peer', () => {
  const secret = 'node-4711-secret';
  const texts = [
    `{"msg_type":"hello","payload":{"node_id":["${secret}"]}}`,
    `{"msg_type":"${secret}","payload":{}}`,
    `{"msg_type":"hello","payload":"${secret}"}`,
    `{"${secret}":1,"${secret}":2}`,
    `["${secret}`,
    secret,
  ];
  for (const text of texts) {
    const events = newClient().receive(text);
    assert.type(codeOf(events), 'string');
    assert.not.match(inspect(events, { depth: 9, showHidden: true }), secret);
  }
});

test('no message contains the close reason, which the peer wrote', () => {
  for (const code of [1000, 1006]) {
    const { error } = find(newClient().closed({ code, reason: 'key 4711' }), 'ended');
    assert.not.match(`${error} ${error.message} ${error.stack}`, '4711');
  }
});

test('the error of a failed connection has the platform’s code in a field, but not in its message', () => {
  for (const cause of ['not-reachable', 'certificate-refused', 'not-a-hub', 'broker-refused'] as const) {
    const { error } = find(newClient().closed({ cause, platformCode: 'EXAMPLE' }), 'ended');
    assert.equal([error.code, (error as RemoteError).platformCode], [cause, 'EXAMPLE']);
    assert.not.match(error.message, 'EXAMPLE');
  }
});

test.run();
