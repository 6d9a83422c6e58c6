/** `hub-protocol explain` on messages: what was changed, lost or overtaken on the way, and what a side says itself. */
import { parseJson, REMOTE_ERRORS, type RemoteCode } from 'hub-protocol-judge/internals';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CannotRun } from '../../cli/src/command.ts';
import { changedMessage } from '../../cli/src/explain/arrivals.ts';
import { codeThatSpeaks } from '../../cli/src/explain/codes.ts';
import { payloadDifference, strippedPayloads } from '../../cli/src/explain/differences.ts';
import { Case, type Evidence } from '../../cli/src/explain/evidence.ts';
import { explain } from '../../cli/src/explain/explain.ts';
import { type Failure, type Recording, readRecording } from '../../cli/src/explain/recording.ts';
import { shownList } from '../../cli/src/shown.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import type { CryptoProvider, JsonObject, LocalError } from '../../src/index.ts';
import {
  blames,
  cannotTell,
  closing,
  HUB_STATIC,
  KK,
  knownPsk,
  PSK,
  play,
  replacing,
  secrets,
  why,
  withPsk,
  withTokens,
  wrongPsk,
} from './faults.ts';

// What the hub said, changed on the way

test('a field of HELLO that was changed, from both recordings', () => {
  const { client, hub } = play({ wire: replacing('"hub-1"', '"hub-2"') });
  const { cause } = why({ client, hub });
  assert.is(cause?.name, 'hello-changed');
  assert.equal(cause?.place, { payload: 'HELLO', path: 'node_id', offset: 16 });
});

test('a field of HELLO that was changed, from one recording and the payloads of the other side', () => {
  const { client, hub } = play({
    hub: { hello: { peer: { 'a b': ['x', 'y'] } } },
    wire: replacing('"y"', '"z"'),
  });
  const payloads = (of: typeof client): Partial<Evidence> => ({
    hello: of.hello!.payload,
    offer: of.offer!.payload,
  });
  for (const evidence of [
    { client, ...payloads(hub) },
    { hub, ...payloads(client) },
  ]) {
    const { cause } = why(evidence);
    assert.equal([cause?.name, cause?.place?.path], ['hello-changed', 'peer["a b"][1]']);
    assert.match(cause!.text, /the hub sent "y", and the client saw "z"/);
  }
});

test('a field of the offer that was changed, added or removed', () => {
  const hub = { handshake: { binarize: true, encodings: ['a', 'b'] } };
  for (const [from, to, path] of [
    ['"binarize":true', '"binarize":false', 'binarize'],
    ['"binarize":true', '"binarize":true,"preshared":1', 'preshared'],
    ['"binarize":true,', '', 'binarize'],
    ['["a","b"]', '["a"]', 'encodings[1]'],
  ] as const) {
    const { client, hub: other } = play({ hub, wire: replacing(from, to) });
    const { cause } = why({ client, hub: other });
    assert.equal([cause?.name, cause?.place?.path], ['offer-changed', path]);
  }
});

test('a field within others that was changed, with the names of all of them', () => {
  const { client, hub } = play({
    hub: { hello: { peer: { a: [{ b: 'x' }] } } },
    wire: replacing('"x"', '"y"'),
  });
  assert.is(why({ client, hub }).cause?.place?.path, 'peer.a[0].b');
});

test('of two fields that were changed, the one whose bytes come first in the canonical JSON', () => {
  const { client, hub } = play({
    hub: { hello: { zone: 'x', area: 'x' } },
    wire: replacing('"zone":"x","area":"x"', '"zone":"y","area":"y"'),
  });
  assert.is(why({ client, hub }).cause?.place?.path, 'area');
});

test('compares the latest HELLO that came before the offer, which is the one that counts', () => {
  const { client, hub } = play({
    client: withPsk(wrongPsk),
    wire: (from, data, count) =>
      from === 'hub' && count === 1
        ? [(data as string).replace('"node_id"', '"x":1,"node_id"'), data]
        : [data],
  });
  assert.is(client.failure?.code, 'psk-differs');
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('a stripped list of patterns, from both recordings and from the hub’s alone', () => {
  const { client, hub } = play({ ...KK, wire: replacing(',"KKpsk0"', '') });
  assert.is(client.pattern, 'XXpsk2');
  assert.match(blames({ client, hub }, 'patterns-stripped'), /KKpsk0/);
  assert.match(blames({ hub }, 'patterns-stripped'), /KKpsk0/);
});

test('a stripped list of suites, from both recordings and from the hub’s alone', () => {
  const { client, hub } = play({ wire: replacing(',"25519_AESGCM_SHA256"', '') });
  assert.is(client.suite, '25519_ChaChaPoly_SHA256');
  assert.match(blames({ client, hub }, 'suites-stripped'), /AESGCM/);
  assert.match(blames({ hub }, 'suites-stripped'), /AESGCM/);
});

test('a list of suites from which everything was stripped', () => {
  const strip = /"suites":\[[^\]]*\]/;
  const { client, hub } = play({
    wire: (_, data) => [typeof data === 'string' ? data.replace(strip, '"suites":[]') : data],
  });
  blames({ client, hub }, 'suites-stripped');
  assert.match(blames({ client }, 'offer', 'likely'), /lacks .* 25519_ChaChaPoly_SHA256/);
});

test('a field of HELLO that was removed, from the recording of the hub alone', () => {
  const { hub } = play({ hub: { hello: { peer: 'x' } }, wire: replacing(',"peer":"x"', '') });
  assert.match(blames({ hub }, 'hello-changed'), /the field "peer" of HELLO/);
});

test('a number that was rewritten in transit', () => {
  const hub = { hello: { ratio: 1.5, version: 3 } };
  const { client, hub: other } = play({ hub, wire: replacing('"ratio":1.5', '"ratio":1.50') });
  assert.match(
    blames({ client, hub: other }, 'number-rewritten'),
    /the hub sent 1.5, and the client saw 1.50/,
  );
});

// Messages

test('says how many bytes arrived in place of a message, and which message was due', () => {
  for (const [from, count, due] of [
    ['hub', 1, 'HELLO'],
    ['hub', 2, 'HANDSHAKE with the offer'],
    ['hub', 3, 'a Noise message'],
    ['client', 1, 'a Noise message'],
  ] as const) {
    const { client, hub } = play({
      wire: (side, data, nth) => [side === from && nth === count ? '{"größer' : data],
    });
    const reader = from === 'hub' ? 'client' : 'hub';
    const text = `the ${reader} received 10 bytes that the ${from} did not send, where ${due} was due: `;
    assert.match(blames({ client, hub }, 'message-changed'), text);
  }
});

test('HANDSHAKE before HELLO', () => {
  const held: (string | Uint8Array)[] = [];
  const { client, hub } = play({
    wire: (from, data, count) => {
      if (from === 'hub' && count === 1) {
        held.push(data);
        return [];
      }
      return from === 'hub' && count === 2 ? [data, ...held] : [data];
    },
  });
  blames({ client, hub }, 'message-order');
  assert.match(blames({ client }, 'message-order', 'likely'), /lost, repeated or overtaken on the way/);
});

test('a message that was changed, and from which byte on', () => {
  for (const [number, from, count, length] of [
    [1, 'client', 1, 32 + 34],
    [2, 'hub', 3, 32 + 48 + 2 + 16],
    [3, 'client', 2, 48 + 16],
  ] as const) {
    // A message starts with an ephemeral key: if that differs, it may be one of another connection.
    for (const at of number === 3 ? [0, 31, 32, length - 1] : [0, 31, 32, 33, length - 1]) {
      const change = (text: string): string => {
        const start = text.indexOf('"msg":"') + 7 + 2 * at;
        const byte = text.slice(start, start + 2);
        assert.match(byte, /^[0-9a-f]{2}$/, `message ${number} has ${length} bytes`);
        return text.slice(0, start) + (byte === '09' ? '08' : '09') + text.slice(start + 2);
      };
      const { client, hub } = play({
        wire: (side, data, nth) => [side === from && nth === count ? change(data as string) : data],
      });
      const isKey = at < 32 && number !== 3;
      const text = blames({ client, hub }, 'message-changed', isKey ? 'likely' : 'certain');
      if (isKey) assert.match(text, `message ${number} has different ephemeral keys`);
      else assert.is(text, `message ${number} was changed on the way, from byte ${at} on`);
    }
  }
});

const published = (data: string | Uint8Array): Uint8Array =>
  typeof data === 'string' ? Buffer.from(data) : data;

test('a hub on MQTT that has lost the session, and greets the client again', () => {
  for (const count of [1, 2]) {
    let greeting: Uint8Array | undefined;
    const { client } = play({
      wire: (from, data, at) => {
        if (from === 'hub' && at === count) greeting = published(data);
        return [data];
      },
      after: ({ client }) => {
        client.receive(greeting!);
      },
    });
    assert.match(blames({ client }, 'session-lost', 'likely'), /repeated/);
  }
});

test('does not mistake a repeat of message 2 for a message that opened', () => {
  let message: Uint8Array | undefined;
  const { client } = play({
    wire: (from, data, count) => {
      if (from === 'hub' && count === 3) message = published(data);
      return [data];
    },
    after: ({ client }) => {
      client.receive(message!);
      client.closed(1008);
    },
  });
  assert.is(client.opened, 0);
  blames({ client }, 'refused', 'likely');
});

test('does not mistake a repeat of message 1 for message 3, even if it names only pattern or suite', () => {
  for (const without of [/$^/, /"pattern":"\w+",/, /,"suite":"\w+"|"suite":"\w+",/]) {
    const { client, hub } = play({
      wire: (from, data, count) =>
        from === 'client' && count === 1 ? [data, (data as string).replace(without, '')] : [data],
    });
    assert.equal(hub.messages, client.messages);
    assert.is(why({ client, hub }).verdict, 'no-fault');
  }
});

test('compares as many messages as there are, however often each was repeated', () => {
  const { client, hub } = play();
  let reads = 0;
  const repeated = (count: number): Evidence['client'] => {
    const hello = { ...hub.hello!, content: '' };
    Object.defineProperty(hello, 'content', {
      get: () => {
        reads++;
        return hub.hello!.content;
      },
    });
    return { ...hub, sent: Array(count).fill(hello), received: Array(count).fill(hello) };
  };
  const readsFor = (count: number): number => {
    reads = 0;
    const examined = new Case({
      client: { ...repeated(count)!, role: 'client', messages: client.messages },
      hub: repeated(count)!,
      derive: knownPsk,
      mistakenPsks: () => [],
    });
    changedMessage(examined);
    return reads;
  };
  assert.is(readsFor(2000), 2 * readsFor(1000));
});

test('tries only a limited number of fields that may have been removed', () => {
  const fields = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field-${index}`, index]));
  const tried = [...strippedPayloads(fields(5000), fields(5000))];
  assert.ok(tried.length < 200, `${tried.length}`);
});

test('recordings of two connections', () => {
  const first = play({ client: withPsk(wrongPsk) });
  const second = play({ client: withPsk(wrongPsk) });
  assert.match(
    blames({ client: first.client, hub: second.hub }, 'message-changed', 'likely'),
    /two connections/,
  );
});

test('a message that was lost', () => {
  const { client, hub } = play({
    wire: (from, data, count) => (from === 'hub' && count === 3 ? [] : [data]),
    after: closing('timeout', 1000),
  });
  assert.match(blames({ client, hub }, 'message-lost'), /a Noise message/);
  cannotTell({ client });
});

test('a message that never arrived is surely lost, unless a hub refused the client meanwhile', () => {
  for (const [lost, clientCode, hubCode, certainty] of [
    ['client', 1006, 1000, 'certain'],
    ['client', 1008, 1000, 'likely'],
    ['hub', 'timeout', 1008, 'certain'], // clients close as they like
  ] as const) {
    const { client, hub } = play({
      wire: (from, data, count) => (from === lost && (from === 'client' || count === 3) ? [] : [data]),
      after: closing(clientCode, hubCode),
    });
    const text = blames({ client, hub }, 'message-lost', certainty);
    assert.is(text.includes('Or the hub closed'), certainty === 'likely');
  }
});

test('does not blame the way for a transport message that a busy session refused twice', () => {
  const { client, hub } = play({
    after: ({ client, hub }) => {
      const [message] = hub.sendJson({ n: 1 });
      hub.sendJson({ n: 'longer' });
      const refused: string[] = [];
      const attempt = (): void => {
        try {
          client.receive(message!);
        } catch (error) {
          refused.push((error as LocalError).code);
        }
      };
      client.sendJson({
        get n() {
          attempt();
          attempt();
          return 1;
        },
      });
      assert.equal(refused, ['wrong-state', 'wrong-state']);
      client.closed('timeout');
    },
  });
  assert.is(why({ client, hub }).cause, undefined);
});

test('a message that was overtaken, though one from before it arrived last', () => {
  const { client, hub } = play({ client: withPsk(wrongPsk) });
  const [hello, , message2] = client.received;
  const received = [message2!, hello!];
  assert.match(
    blames({ client: { ...client, received }, hub }, 'message-order'),
    /overtaken: HANDSHAKE with the offer/,
  );
});

test('message 3 that was lost or overtaken, from the recording of the hub alone and from both', () => {
  for (const isLost of [true, false]) {
    const held: (string | Uint8Array)[] = [];
    const { client, hub } = play({
      wire: (from, data, count) => {
        if (from === 'hub' || count < 2) return [data];
        if (count === 2) held.push(data);
        return count === 2 ? [] : isLost ? [data] : [data, ...held];
      },
    });
    assert.match(blames({ hub }, 'message-order', 'likely'), /where message 3 was due/);
    assert.match(blames({ client, hub }, 'message-order'), /lost or overtaken: a Noise message/);
    assert.match(blames({ client }, 'refused', 'likely'), /lost, repeated or overtaken/);
  }
});

test('a wrong PSK behind a broker that rewrites JSON without effect', () => {
  const { client, hub } = play({
    client: withPsk(wrongPsk),
    wire: (_, data) => [typeof data === 'string' ? JSON.stringify(JSON.parse(data), null, 2) : data],
  });
  assert.equal(hub.messages.slice(0, 2), client.messages.slice(0, 2));
  blames({ client }, 'psk-differs', 'likely');
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('the HELLO of a client that was lost before the next frame, from both recordings', () => {
  const { client, hub } = play({
    ...KK,
    wire: (from, data, count) => (from === 'client' && count === 2 ? [] : [data]),
    after: ({ client, hub }) => {
      for (const message of client.sendJson({ n: 1 })) hub.receive(message);
    },
  });
  assert.match(blames({ client, hub }, 'message-order', 'likely'), /number 1 of the client was due/);
});

test('a wrong PSK, or something on the way, which added a message that its reader ignored', () => {
  for (const [to, at] of [
    ['hub', 1],
    ['client', 3],
  ] as const) {
    const { client, hub } = play({
      client: withPsk(wrongPsk),
      wire: (from, data, count) =>
        from !== to && count === at ? ['{"msg_type":"hello","payload":{}}', data] : [data],
    });
    assert.match(blames({ client, hub }, 'psk-differs', 'likely'), /Or a message was changed/);
  }
});

test('does not count as lost a HELLO that a client sends over MQTT before the hub has a session', () => {
  const { client, hub } = play({ client: withPsk(wrongPsk), isMqtt: true });
  assert.is(client.sent[0]?.type, 'hello');
  blames({ client, hub }, 'psk-differs', 'likely');
});

test('the first two transport messages in the wrong order', () => {
  const held: (string | Uint8Array)[] = [];
  const { hub } = play({
    ...secrets,
    wire: (from, data) => {
      if (from === 'client' && typeof data !== 'string') {
        held.push(data);
        return [];
      }
      return [data];
    },
    after: ({ client, hub }) => {
      for (const message of client.sendJson({})) hub.receive(message);
    },
  });
  assert.match(
    blames({ hub, hubPsk: PSK, hubStatic: HUB_STATIC }, 'message-order'),
    /counter 1 arrived first/,
  );
  cannotTell({ hub });
});

test('recognizes the first transport message that arrives if no more than 63 were sent before it', () => {
  for (const [before, cause] of [
    [63, 'message-order'],
    [64, undefined],
  ] as const) {
    const { hub } = play({
      ...secrets,
      wire: (from, data) => (from === 'client' && typeof data !== 'string' ? [] : [data]), // the first
      after: ({ client, hub }) => {
        for (let count = 1; count < before; count++) client.sendJson({});
        for (const message of client.sendJson({})) hub.receive(message);
      },
    });
    assert.is(why({ hub, hubPsk: PSK, hubStatic: HUB_STATIC }).cause?.name, cause, `${before}`);
  }
});

test('a transport message of which too little is left for a tag, or nothing', () => {
  const { lines } = play({
    ...secrets,
    wire: (from, data) => [
      from === 'client' && typeof data !== 'string' ? data.map((byte) => byte ^ 1) : data,
    ],
  });
  for (const sealed of ['', 'ab', 'ab'.repeat(15), 'ab'.repeat(16)]) {
    const text = lines.hub.join('\n').replace(/(?<="sealed":")\w+/, sealed);
    const hub = readRecording('hub', Buffer.from(text));
    assert.is(hub.failure?.code, 'not-authentic');
    cannotTell({ hub, hubPsk: PSK, hubStatic: HUB_STATIC });
  }
});

test('a later transport message that was lost', () => {
  const { hub } = play({
    after: ({ client, hub }) => {
      for (const message of client.sendJson(1)) hub.receive(message);
      client.sendJson(2);
      for (const message of client.sendJson(3)) hub.receive(message);
    },
  });
  blames({ hub }, 'message-order', 'likely');
});

// What a side says itself

test('a local fault', () => {
  const { hub } = play({ hub: { randomBytes: () => new Uint8Array(31) } });
  assert.match(blames({ hub }, 'own-fault'), /bad-random/);
});

test('a message 2 that is too short, which arrived as the hub sent it', () => {
  const { client, hub } = play({ around: { hub: withTokens([['e'], ['e'], ['s', 'se']]) } });
  assert.is(client.failure?.code, 'message-too-short');
  blames({ client }, 'bad-message', 'likely');
  blames({ client, hub }, 'bad-message');
});

test('is certain of a message that opened and cannot be read, from the recording of the hub alone', () => {
  for (const [marker, code] of [
    [0x02, 'message-while-open'], // the first chunk, and then a whole message
    [0x04, 'chunk-without-start'],
    [0x09, 'unknown-marker'],
  ] as const) {
    const { hub } = play({
      client: { crypto: withFirstMarker(marker) },
      after: ({ client, hub }) => {
        if (hub.state !== 'ready') return;
        for (const message of client.sendJson({})) hub.receive(message);
      },
    });
    assert.is(hub.failure?.code, code);
    blames({ hub }, 'bad-message');
  }
});

/** Cryptography that seals another marker in the first transport message. */
function withFirstMarker(marker: number): CryptoProvider {
  let isFirst = true;
  const ChaChaPoly: NonNullable<CryptoProvider['ciphers']['ChaChaPoly']> = (key) => {
    const cipher = nodeCrypto.ciphers.ChaChaPoly!(key);
    return {
      open: (nonce, associatedData, sealed) => cipher.open(nonce, associatedData, sealed),
      seal: (nonce, associatedData, plaintext) => {
        const isMarked = isFirst && associatedData.length === 0; // in the handshake it is the hash
        if (isMarked) isFirst = false;
        const sealed = isMarked ? Uint8Array.from([marker, ...plaintext.subarray(1)]) : plaintext;
        return cipher.seal(nonce, associatedData, sealed);
      },
    };
  };
  return { ...nodeCrypto, ciphers: { ChaChaPoly } };
}

for (const [what, from, to, name, change] of [
  ['an envelope that is not JSON', '{', '', 'bad-envelope', 'message-changed'],
  [
    'a hub of an older protocol',
    '"max_protocol_version":3',
    '"max_protocol_version":2',
    'offer',
    'offer-changed',
  ],
  ['a HELLO without a node id', '"node_id"', '"id"', 'offer', 'message-changed'],
] as const) {
  test(what, () => {
    const { client, hub } = play({ wire: replacing(from, to) });
    assert.match(blames({ client }, name, 'likely'), /changed, .* on the way: the hub's recording shows/);
    blames({ client, hub }, change);
  });
}

for (const [what, ending, name] of [
  ['a hub that closes before it says anything', 1008, 'access-refused'],
  ['a hub that answers with HTTP 403', { status: 403 }, 'access-refused'],
  ['a hub that takes no more clients', { code: 1008, reason: 'connection_limit' }, 'unavailable'],
] as const) {
  test(what, () => {
    const { client } = play({ wire: () => [], after: closing(ending) });
    blames({ client }, name, 'likely');
  });
}

test('a hub that revoked the access key after KKpsk0', () => {
  const { client } = play({ ...KK, after: closing(1008) });
  blames({ client }, 'refused', 'likely');
});

test('names what both sides may use if they have no common pattern, and is certain if nothing was changed', () => {
  const { client, hub } = play({ client: { ...KK.client, patterns: ['KKpsk0'] } });
  const [hello, offer] = [hub.hello!.payload, hub.offer!.payload];
  for (const [evidence, certainty] of [
    [{ client }, 'likely'],
    [{ client, hello, offer }, 'certain'],
    [{ client, hub }, 'certain'],
  ] as const) {
    const text = blames(evidence, 'offer', certainty);
    assert.match(text, /^no common pattern: the hub offers XXpsk2, and the client may use KKpsk0/);
  }
});

test('shows an empty list as none', () => {
  assert.is(shownList([]), 'none');
});

test('shows the first 59 characters of a long list in place of which a number arrived', () => {
  const list = Array<number>(40).fill(1);
  const { client, hub } = play({
    hub: { hello: { list } },
    wire: replacing('"list":[', '"list":0,"rest":['),
  });
  const text = blames({ client, hub }, 'hello-changed');
  assert.match(text, /the hub sent \[(?:1,){29}…, and the client saw 0/);
});

for (const what of ['pin', 'pattern', 'suite'] as const) {
  test(`calls no message correct that it could not compute without the ${what}`, () => {
    const { client } = play({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) }, ...secrets });
    const { checked } = cannotTell({ client: { ...client, [what]: undefined } });
    assert.not.ok(checked.some((text) => text.includes('is correct')));
  });
}

test('does not take a number that became a text for a number that was rewritten', () => {
  const { client, hub } = play({
    hub: { hello: { ratio: 1.5 } },
    wire: replacing('"ratio":1.5', '"ratio":"1.5"'),
  });
  blames({ client, hub }, 'hello-changed');
});

test('tries each way in which names were stripped from a list', () => {
  const suites = ['a', 'b', 'c'];
  const tried = [...strippedPayloads({}, { noise: { suites } })]
    .filter(({ name }) => name === 'suites-stripped')
    .map(({ offer }) => (offer.noise as { suites: string[] }).suites.join(''));
  assert.equal(tried, ['', 'a', 'b', 'ab', 'c', 'ac', 'bc']);
});

test('an encrypted message in place of a cleartext one of the same length is likely overtaking', () => {
  let due = 0;
  let isOver = false;
  const { client, hub } = play({
    wire: (from, data, count) => {
      if (from === 'hub' || count < 2) return [data];
      if (count === 2) due = Buffer.byteLength(data as string);
      return [];
    },
    after: ({ client, hub }) => {
      const [short] = client.sendJson({ n: '' });
      const [sealed] = client.sendJson({ n: 'x'.repeat(due - short!.length) });
      assert.is(sealed!.length, due);
      hub.receive(sealed!);
      isOver = true;
    },
  });
  assert.ok(isOver);
  assert.match(blames({ client, hub }, 'message-order', 'likely'), /since it has the same length/);
});

const changed = (at: string, sent: string, seen: string): string =>
  `in ${at} the hub sent ${sent}, and the client saw ${seen}: somebody changed it on the way, or the two do not belong to the same connection`;
const rewritten = (at: string, sent: string, seen: string): string =>
  `a number was rewritten: in ${at} the hub sent ${sent}, and the client saw ${seen}. Something on the way parses JSON and writes it again; it has to keep each number as it came`;
const stripped = (what: string, list: string): string =>
  `the hub offered ${what} in noise.${list}, and the client did not see it: somebody removed it on the way`;
const [N60, N61, V57, V70] = ['n'.repeat(60), 'n'.repeat(61), 'v'.repeat(57), 'v'.repeat(70)] as const;

/** What the hub sent and the client saw, as JSON; the first byte that differs, where it is, and what is said of it. */
const DIFFERENCES: readonly (readonly [
  payload: 'HELLO' | 'HANDSHAKE',
  hub: string,
  client: string,
  difference?: readonly [offset: number, path: string, name: string, text: string],
])[] = [
  ['HELLO', '{"a":1,"b":[1]}', '{"b":[1], "a":1}'],
  [
    'HELLO',
    '{"a":{"b":1,"c":2}}',
    '{"a":{"b":1,"c":3}}',
    [16, 'a.c', 'hello-changed', changed('a.c of HELLO', '2', '3')],
  ],
  [
    'HELLO',
    '{"a":[1,2]}',
    '{"a":[1]}',
    [7, 'a[1]', 'hello-changed', changed('a[1] of HELLO', '2', 'nothing')],
  ],
  [
    'HANDSHAKE',
    '{"a":[1]}',
    '{"a":[1,{"x":null}]}',
    [7, 'a[1]', 'offer-changed', changed('a[1] of HANDSHAKE', 'nothing', '{"x":null}')],
  ],
  [
    'HANDSHAKE',
    '{"x y":"a\\u001b"}',
    '{"x y":["b"]}',
    [7, '["x y"]', 'offer-changed', changed('["x y"] of HANDSHAKE', '"a\\u001b"', '["b"]')],
  ],
  ['HELLO', `{"${N60}":1}`, '{}', [1, N60, 'hello-changed', changed(`${N60} of HELLO`, '1', 'nothing')]],
  [
    'HELLO',
    `{"${N61}":1}`,
    '{}',
    [
      1,
      `["${'n'.repeat(57)}…"]`,
      'hello-changed',
      changed(`["${'n'.repeat(57)}…"] of HELLO`, '1', 'nothing'),
    ],
  ],
  [
    'HELLO',
    `{"a":"${V70}"}`,
    `{"a":["${V70}"]}`,
    [5, 'a', 'hello-changed', changed('a of HELLO', `"${V57}…"`, `["${V57}…`)],
  ],
  [
    'HELLO',
    `{"a":{"b":"${'v'.repeat(52)}"}}`,
    `{"a":["${'v'.repeat(56)}"]}`,
    [5, 'a', 'hello-changed', changed('a of HELLO', `{"b":"${'v'.repeat(52)}"}`, `["${'v'.repeat(56)}"]`)],
  ],
  [
    'HELLO',
    '{"a":1}',
    `{"a":["${V57}"]}`,
    [5, 'a', 'hello-changed', changed('a of HELLO', '1', `["${V57}…`)],
  ],
  ['HELLO', '{"é":1,"z":1}', '{"é":2,"z":2}', [5, 'z', 'hello-changed', changed('z of HELLO', '1', '2')]],
  ['HELLO', '{"a":1}', '{"a":1.0}', [6, 'a', 'number-rewritten', rewritten('a of HELLO', '1', '1.0')]],
  ['HELLO', '{"a":1}', '{"a":1.5}', [6, 'a', 'hello-changed', changed('a of HELLO', '1', '1.5')]],
  ['HELLO', '{"a":1}', '{"a":"1"}', [5, 'a', 'hello-changed', changed('a of HELLO', '1', '"1"')]],
  ['HELLO', '{"a":"1"}', '{"a":1}', [5, 'a', 'hello-changed', changed('a of HELLO', '"1"', '1')]],
  [
    'HELLO',
    '{"noise":{"suites":["s","t"]}}',
    '{"noise":{"suites":["s"]}}',
    [23, 'noise.suites[1]', 'hello-changed', changed('noise.suites[1] of HELLO', '"t"', 'nothing')],
  ],
  [
    'HANDSHAKE',
    '{"noise":{"suites":["s","t","u"]}}',
    '{"noise":{"suites":["t"]}}',
    [21, 'noise.suites[0]', 'suites-stripped', stripped('s, u', 'suites')],
  ],
  [
    'HANDSHAKE',
    '{"noise":{"patterns":["p",7],"suites":["s","t"]}}',
    '{"noise":{"patterns":["p"],"suites":["s"]}}',
    [25, 'noise.patterns[1]', 'patterns-stripped', stripped('7', 'patterns')],
  ],
  [
    'HANDSHAKE',
    '{"noise":{"suites":["s","t","u"]}}',
    '{"noise":{"suites":["t","s"]}}',
    [21, 'noise.suites[0]', 'offer-changed', changed('noise.suites[0] of HANDSHAKE', '"s"', '"t"')],
  ],
  [
    'HANDSHAKE',
    '{"noise":{"suites":["s","t"]}}',
    '{"noise":{"suites":["s","x"]}}',
    [25, 'noise.suites[1]', 'offer-changed', changed('noise.suites[1] of HANDSHAKE', '"t"', '"x"')],
  ],
  ['HANDSHAKE', '{"noise":{"suites":["s"]}}', '{}', [1, 'noise', 'suites-stripped', stripped('s', 'suites')]],
  [
    'HANDSHAKE',
    '{"noise":{"suites":["s"]}}',
    '{"noise":1}',
    [9, 'noise', 'suites-stripped', stripped('s', 'suites')],
  ],
  [
    'HANDSHAKE',
    '{"noise":{"suites":["s"]}}',
    '{"noise":{"suites":["s","t"]}}',
    [23, 'noise.suites[1]', 'offer-changed', changed('noise.suites[1] of HANDSHAKE', 'nothing', '"t"')],
  ],
];

for (const [payload, hub, client, difference] of DIFFERENCES) {
  test(`says how ${payload} ${client} differs from ${hub}`, () => {
    const found = payloadDifference(payload, parseJson(hub) as JsonObject, parseJson(client) as JsonObject);
    const [offset, path, name, text] = difference ?? [];
    assert.equal(found, difference && { payload, offset, path, name, text });
  });
}

test('tries each payload from which a list lost names, or which lost a field', () => {
  const hello = { a: 1, 'b c': 2 };
  const noise = { patterns: ['p', 7], suites: ['s'], z: 0 };
  const lost = (what: string): string => `the client did not see ${what}: somebody removed it on the way`;
  const from = (list: string, removed: string, left: unknown[]): object => {
    const text = lost(`${removed} in noise.${list}, which the hub offered`);
    return { name: `${list}-stripped`, text, hello, offer: { noise: { ...noise, [list]: left }, x: 1 } };
  };
  assert.equal(
    [...strippedPayloads(hello, { noise, x: 1 })],
    [
      from('patterns', 'p, 7', []),
      from('patterns', '7', ['p']),
      from('patterns', 'p', [7]),
      from('suites', 's', []),
      {
        name: 'hello-changed',
        text: lost('the field "a" of HELLO'),
        hello: { 'b c': 2 },
        offer: { noise, x: 1 },
      },
      {
        name: 'hello-changed',
        text: lost('the field "b c" of HELLO'),
        hello: { a: 1 },
        offer: { noise, x: 1 },
      },
      { name: 'offer-changed', text: lost('the field "noise" of HANDSHAKE'), hello, offer: { x: 1 } },
      { name: 'offer-changed', text: lost('the field "x" of HANDSHAKE'), hello, offer: { noise } },
    ],
  );
  const lists = (count: number): number =>
    [...strippedPayloads({}, { noise: { suites: new Array(count).fill('s') } })].length - 1;
  assert.equal([8, 9].map(lists), [255, 0]);
  const fields = (count: number): JsonObject =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]));
  assert.equal(
    [64, 65].map((count) => [...strippedPayloads(fields(count), fields(count))].length),
    [128, 128],
  );
});

/** A case with the recording of one side, which ended so. */
function endedWith(role: 'client' | 'hub', failure: Partial<Failure>, more: Partial<Recording> = {}): Case {
  const recording = play({ client: withPsk(wrongPsk) })[role];
  const ending = {
    isOwn: true,
    isLocal: false,
    state: 'awaiting-offer',
    closeCode: undefined,
    status: undefined,
  };
  const ended = { ...recording, hidden: [], failure: { ...ending, ...failure } as Failure, ...more };
  return new Case({ [role]: ended, derive: knownPsk, mistakenPsks: () => [] });
}

const [ENVELOPE, MESSAGE, OFFER] = ['bad-envelope', 'bad-message', 'offer'] as const;
/** The name of the cause for each code of a failed session, and whether that is certain. */
const CAUSES: { readonly [code: string]: readonly [name: string, certainty: string] } = {
  'bad-utf8': [ENVELOPE, 'likely'],
  'bad-json': [ENVELOPE, 'likely'],
  'duplicate-key': [ENVELOPE, 'likely'],
  'lone-surrogate': [ENVELOPE, 'likely'],
  'json-depth': [ENVELOPE, 'likely'],
  'envelope-too-large': [ENVELOPE, 'likely'],
  'bad-envelope': [ENVELOPE, 'likely'],
  'bad-payload': [ENVELOPE, 'likely'],
  'bad-hex': [MESSAGE, 'likely'],
  'message-too-short': [MESSAGE, 'likely'],
  'message-too-long': [MESSAGE, 'likely'],
  'low-order-key': [MESSAGE, 'likely'],
  'bad-handshake-payload': [MESSAGE, 'certain'],
  'empty-plaintext': [MESSAGE, 'certain'],
  'unknown-marker': [MESSAGE, 'certain'],
  'chunk-without-start': [MESSAGE, 'certain'],
  'message-while-open': [MESSAGE, 'certain'],
  'missing-node-id': [OFFER, 'likely'],
  'bad-node-id': [OFFER, 'likely'],
  'protocol-version': [OFFER, 'likely'],
  'bad-offer': [OFFER, 'likely'],
  'not-offered': [OFFER, 'likely'],
  'handshake-before-hello': ['message-order', 'likely'],
  'unexpected-message': ['message-order', 'likely'],
  'text-after-ready': ['session-lost', 'likely'],
  'unknown-hub': ['unknown-hub', 'likely'],
  'hub-key-changed': ['hub-replaced', 'certain'],
  'client-key-changed': ['client-key-lost', 'certain'],
};

test('takes each code of a failed session for its cause, and is certain only of what was authenticated', () => {
  for (const role of ['client', 'hub'] as const) {
    for (const code of Object.keys(REMOTE_ERRORS) as RemoteCode[]) {
      const found = codeThatSpeaks(endedWith(role, { code }));
      const common = /^no-common-(.*)/.exec(code)?.[1];
      if (common !== undefined) {
        assert.is(found?.name, 'offer');
        const names = common === 'suite' ? '25519_ChaChaPoly_SHA256, 25519_AESGCM_SHA256' : 'XXpsk2';
        assert.match(found!.text, `no common ${common}: the hub offers ${names}, and the client may use `);
        continue;
      }
      const [name, certainty] = CAUSES[code] ?? [];
      if (name === undefined) {
        assert.is(found, undefined, code);
        continue;
      }
      const other = role === 'client' ? 'hub' : 'client';
      const way = `. Or a message was changed, lost, repeated or overtaken on the way: the ${other}'s recording shows whether`;
      const text = `${REMOTE_ERRORS[code].means} (${code}, at the ${role} in state awaiting-offer)`;
      assert.equal(found, { name, certainty, text: certainty === 'certain' ? text : text + way });
    }
  }
});

test('takes for certain what a failed session says, if the messages or the greeting arrived as they were sent', () => {
  for (const [role, code, fact, certainty] of [
    ['client', 'bad-offer', 'payloads', 'certain'],
    ['client', 'unknown-hub', 'payloads', 'certain'],
    ['hub', 'not-offered', 'payloads', 'likely'],
    ['client', 'bad-json', 'payloads', 'likely'],
    ['client', 'bad-json', 'messages', 'certain'],
    ['hub', 'not-offered', 'messages', 'certain'],
    ['client', 'text-after-ready', 'messages', 'likely'],
    ['client', 'bad-offer', 'psks', 'likely'],
  ] as const) {
    const examined = endedWith(role, { code });
    examined.agree(fact, '');
    assert.is(codeThatSpeaks(examined)?.certainty, certainty, `${role} ${code} ${fact}`);
  }
});

/** What one side recorded, and at which message the handshake failed. */
const POINTS: readonly (readonly [
  role: 'client' | 'hub',
  code: string,
  failure: object,
  more: object,
  point?: readonly [index: number, reader: string, isRecorded: boolean],
])[] = [
  ['client', 'not-authentic', { state: 'ready' }, { opened: 0 }, [3, 'client', true]],
  ['client', 'not-authentic', { state: 'ready' }, { opened: 1 }],
  ['hub', 'prologue-differs', { state: 'awaiting-message-1' }, {}, [0, 'hub', true]],
  ['hub', 'kk-failed', { state: 'awaiting-message-1' }, {}, [0, 'hub', true]],
  ['hub', 'psk-differs', { state: 'awaiting-message-1' }, {}],
  ...(['psk-differs', 'kk-failed', 'static-key-not-authentic', 'payload-not-authentic'] as const).flatMap(
    (code) =>
      [
        ['client', code, { state: 'awaiting-message-2' }, {}, [1, 'client', true]],
        ['hub', code, { state: 'awaiting-message-3' }, {}, [2, 'hub', true]],
      ] as const,
  ),
  ['client', 'bad-json', { state: 'awaiting-message-2' }, {}],
  ['client', 'negotiation-refused', { isOwn: false }, {}, [0, 'hub', false]],
  ['client', 'kk-refused', { isOwn: false }, {}, [0, 'hub', false]],
  ['client', 'client-key-refused', { isOwn: false }, { pattern: 'XXpsk2' }, [2, 'hub', false]],
  ['client', 'refused', { isOwn: false }, { pattern: 'XXpsk2' }, [2, 'hub', false]],
  ['client', 'refused', { isOwn: false }, { pattern: 'KKpsk0' }, [3, 'hub', false]],
  ['hub', 'dropped', { isOwn: false, state: 'awaiting-message-3' }, {}, [1, 'client', false]],
  ['hub', 'dropped', { isOwn: false, state: 'awaiting-first-message' }, {}, [1, 'client', false]],
  ['hub', 'dropped', { isOwn: false, state: 'awaiting-message-1' }, {}],
  ['client', 'dropped', { isOwn: false, state: 'awaiting-message-3' }, {}],
];

test('finds the message at which a handshake failed', () => {
  for (const [role, code, failure, more, point] of POINTS) {
    const found = endedWith(role, { code, ...failure } as Partial<Failure>, more).point;
    const [index, reader, isRecorded] = point ?? [];
    assert.equal(found, point && { index, reader, isRecorded }, `${role} ${code} ${JSON.stringify(failure)}`);
  }
});

test('looks at what the other side says if that of one names no cause and no message', () => {
  const [client, hub] = (
    [
      ['client', { code: 'prologue-differs' }],
      ['hub', { code: 'low-order-key', state: 'awaiting-message-1' }],
    ] as const
  ).map(([role, failure]) => endedWith(role, failure).evidence[role]);
  const parts = { derive: knownPsk, mistakenPsks: () => [] };
  assert.equal(codeThatSpeaks(new Case({ client, hub, ...parts })), {
    name: 'bad-message',
    certainty: 'likely',
    text: `${REMOTE_ERRORS['low-order-key'].means} (low-order-key, at the hub in state awaiting-message-1). Or a message was changed, lost, repeated or overtaken on the way`,
  });
  const failed = endedWith('hub', { code: 'kk-failed', state: 'awaiting-message-1' }).evidence.hub;
  const { point } = new Case({ client, hub: failed, ...parts });
  assert.equal(point, { index: 0, reader: 'hub', isRecorded: true });
});

test('computes nothing at a message that is not recorded', () => {
  const failure = { code: 'prologue-differs', state: 'awaiting-message-1' } as const;
  const { evidence } = endedWith('hub', failure, { messages: [undefined, undefined, undefined] });
  assert.is(explain({ ...evidence, hubPsk: PSK }).cause, undefined);
});

test('takes payloads that were given for those of the side that made no recording alone', () => {
  const { client, hub } = play();
  const given = { hello: hub.hello!.payload, offer: hub.offer!.payload };
  for (const missing of ['hello', 'offer'] as const) {
    const { views } = new Case({
      ...given,
      client: { ...client, [missing]: undefined },
      derive: knownPsk,
      mistakenPsks: () => [],
    });
    assert.equal(views, { client: undefined, hub: given });
  }
});

test('tells how each side saw the end', () => {
  const told = (role: 'client' | 'hub', failure: object, more: object = {}): readonly string[] =>
    explain(endedWith(role, { code: 'dropped', ...failure } as Partial<Failure>, more).evidence).happened;
  const state = 'awaiting-message-2';
  for (const [failure, more, said] of [
    [
      { isOwn: false, state },
      {},
      ['the connection ended while the client was in state awaiting-message-2: dropped'],
    ],
    [
      { isOwn: false, state, closeCode: 1008 },
      {},
      ['the connection ended while the client was in state awaiting-message-2, with 1008: dropped'],
    ],
    [
      { isOwn: false, state, closeCode: 1006, status: 401 },
      {},
      ['the connection ended while the client was in state awaiting-message-2, with HTTP 401: dropped'],
    ],
    [{ state, code: 'bad-json' }, {}, ['the client gave up in state awaiting-message-2: bad-json']],
    [
      { state, code: 'bad-json' },
      { sessions: 2 },
      [
        "the client's recording has 2 sessions: this is about the last one",
        'the client gave up in state awaiting-message-2: bad-json',
      ],
    ],
    [{}, { failure: undefined, isReady: true }, ["the client's handshake was done"]],
    [
      {},
      { failure: undefined, isReady: false },
      ["the client's recording ends in the middle of the handshake"],
    ],
  ] as const) {
    assert.equal(told('client', failure, more), said);
  }
});

// What a recording says

const HEADER = { recording: 1, role: 'client', publicKey: '11'.repeat(32) };
const recordingOf = (...lines: object[]): Recording =>
  readRecording('x', Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n')));
const call = (state: string): object => ({ call: 'receive', state, text: '{}' });
const opens = { call: 'receive', state: 'ready', isText: false, length: 20 };
const ready = (pattern = 'XXpsk2'): object => ({ event: 'ready', pattern });
const close = (error: string, more: object = {}): object => ({ event: 'close', error, ...more });
const ended = (error: string, reason: string, more: object = {}): object => ({
  ...{ event: 'ended', error, reason },
  ...more,
});
const longest = `a${'-'.repeat(50)}`;

/** The lines of a recording, and the failure that it has. */
const RECORDED: readonly (readonly [
  lines: readonly object[],
  failure?: Partial<Record<keyof Failure, unknown>>,
])[] = [
  [[]],
  [[call('awaiting-offer'), close('bad-json')], { code: 'bad-json', isOwn: true, state: 'awaiting-offer' }],
  [[call('a'), call('b'), close('bad-json'), call('c')], { code: 'bad-json', isOwn: true, state: 'b' }],
  [
    [call('a'), close('bad-random', { isLocal: true })],
    { code: 'bad-random', isOwn: true, isLocal: true, state: 'a' },
  ],
  [[close('bad-json', { isLocal: 'yes' })], { code: 'bad-json', isOwn: true, state: 'unknown' }],
  [
    [call('a'), ended('dropped', 'dropped', { code: 1006 })],
    { code: 'dropped', state: 'a', closeCode: 1006 },
  ],
  [
    [call('a'), ended('access-refused', 'refused', { code: 1000 })],
    { code: 'dropped', state: 'a', closeCode: 1000 },
  ],
  [
    [call('a'), ended('access-refused', 'refused', { code: 1008 })],
    { code: 'access-refused', state: 'a', closeCode: 1008 },
  ],
  [
    [call('a'), ended('client-key-refused', 'client-key-refused', { code: 1000 })],
    { code: 'dropped', state: 'a', closeCode: 1000 },
  ],
  [
    [call('a'), ended('access-refused', 'refused', { status: 401 })],
    { code: 'access-refused', state: 'a', status: 401 },
  ],
  [[call('a'), ended('access-refused', 'refused', { code: '1008' })], { code: 'dropped', state: 'a' }],
  [[call('a'), ended('timeout', 'timeout')], { code: 'timeout', state: 'a' }],
  [
    [call('a'), close('bad-json'), ended('bad-json', 'failed', { code: 1008 })],
    { code: 'bad-json', isOwn: true, state: 'a', closeCode: 1008 },
  ],
  [[call(longest), close(longest)], { code: longest, isOwn: true, state: longest }],
  [[call(`${longest}-`), close(`${longest}-`)], { code: 'unknown', isOwn: true, state: 'unknown' }],
  [[call('A'), close('a b')], { code: 'unknown', isOwn: true, state: 'unknown' }],
  // Once the peer was heard, an ending says nothing about the handshake.
  [[ready(), opens, ended('dropped', 'dropped')]],
  [[ready(), opens, call('ready'), close('bad-utf8')], { code: 'bad-utf8', isOwn: true, state: 'ready' }],
  [
    [ready(), opens, close('bad-json'), ended('dropped', 'dropped')],
    { code: 'bad-json', isOwn: true, state: 'ready' },
  ],
];

test('reads of a recording how the session ended', () => {
  const none = { isOwn: false, isLocal: false, closeCode: undefined, status: undefined };
  for (const [lines, failure] of RECORDED) {
    const found = recordingOf(HEADER, ...lines).failure;
    assert.equal(found, failure && { ...none, ...failure }, JSON.stringify(lines));
  }
});

test('counts the transport messages that opened, and not the one that ended the session', () => {
  for (const [lines, opened] of [
    [[], 0],
    [[opens], 1],
    [[opens, opens], 2],
    [[opens, opens, close('not-authentic')], 1],
    [[opens, { threw: 'out-of-memory' }, call('ready')], 0],
    [[opens, { event: 'transmit' }, close('not-authentic')], 0],
    [[{ ...opens, state: 'awaiting-first-message' }], 1],
    [[{ ...opens, state: 'awaiting-message-2' }], 0],
    [[{ ...opens, isText: true }], 0],
    [[{ ...opens, call: 'send' }], 0],
    [[opens, call('ready'), call('ready')], 1],
  ] as const) {
    assert.is(recordingOf(HEADER, ...lines).opened, opened, JSON.stringify(lines));
  }
});

test('reads of the earlier sessions of a file whether the hub has accepted or refused the key', () => {
  const other = { ...HEADER, publicKey: '22'.repeat(32) };
  const refused = ended('client-key-refused', 'client-key-refused', { code: 1008 });
  for (const [earlier, keyWasRefused, code] of [
    [[], false, 'client-key-refused'],
    [[HEADER, ready(), refused], true, 'client-key-refused'],
    [[HEADER, refused], false, 'client-key-refused'], // it was not ready
    [[other, ready(), refused], false, 'client-key-refused'],
    [[HEADER, ready(), refused, HEADER, ready()], false, 'client-key-refused'],
    [[HEADER, ready(), opens, HEADER, ready(), refused], true, 'refused'],
    [[HEADER, ready(), opens], false, 'refused'],
    [[HEADER, ready('KKpsk0')], false, 'refused'],
    [[other, ready(), opens], false, 'client-key-refused'],
  ] as const) {
    const found = recordingOf(...earlier, HEADER, ready(), refused);
    assert.equal([found.keyWasRefused, found.failure?.code], [keyWasRefused, code], JSON.stringify(earlier));
  }
  assert.is(recordingOf(HEADER, ready(), opens, HEADER, close('bad-json')).failure?.code, 'bad-json');
});

test('reads of a recording what was sent, what arrived, and what only its length tells', () => {
  const shake = (noise: object): string => JSON.stringify({ msg_type: 'shake', payload: { noise } });
  const send = (text: string): object => ({ event: 'transmit', isText: true, text });
  const receive = (text: string, state = 'a'): object => ({ call: 'receive', state, text });
  const hello = (id: string): string => `{"msg_type":"hello","payload":{"node_id":"${id}"}}`;
  const found = recordingOf(
    HEADER,
    receive(hello('first')),
    receive(hello('hub-1')),
    receive(shake({ patterns: ['XXpsk2'] })),
    receive(hello('late')),
    { lookedUp: 'pin', key: '33'.repeat(32) },
    { lookedUp: 'psk', found: true },
    send(shake({ pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: 'aa' })),
    send(shake({ pattern: 'XXpsk2', suite: '25519_ChaChaPoly_SHA256', msg: 'ab' })),
    receive(shake({ msg: 'bb' })),
    { event: 'static-key-fresh' },
    send(shake({ msg: 'cc' })),
    ready(),
    { event: 'transmit', isText: false, length: 7 },
    { event: 'transmit', isText: false, lengths: [8, 'x', 9] },
    { ...opens, length: 21 },
    { call: 'receive', state: 'ready', isText: true, length: 3 },
    receive('{"msg_type":"bus","payload":{}}'),
    receive('{'),
    receive(hello('over'), 'closed'),
    { ephemeralKey: '44'.repeat(32), sealed: 'ee' },
  );
  const bytes = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, 'hex'));
  const types = (all: Recording['sent']): string[] => all.map(({ type }) => type);
  assert.equal(types(found.sent), ['message', 'message', 'message']);
  assert.equal(types(found.received), ['hello', 'hello', 'offer', 'hello', 'message', 'other', 'other']);
  assert.equal(found.received.map(({ length }) => length).slice(-2), [31, 1]);
  assert.equal(found.hello?.payload, { node_id: 'hub-1' });
  assert.equal(found.offer?.payload, { noise: { patterns: ['XXpsk2'] } });
  assert.equal(found.messages, ['aa', 'bb', 'cc'].map(bytes));
  assert.equal(found.sealedLengths, [7, 8, 9]);
  assert.equal(found.hidden, [
    { length: 21, isText: false, state: 'ready' },
    { length: 3, isText: true, state: 'ready' },
  ]);
  const { pattern, suite, pin, foundPsk, isReady, staticKeyIsFresh, sessions, publicKey } = found;
  assert.equal([pattern, suite], ['XXpsk2', '25519_ChaChaPoly_SHA256']);
  assert.equal([pin, publicKey, sessions], ['33'.repeat(32), HEADER.publicKey, 1]);
  assert.equal([foundPsk, isReady, staticKeyIsFresh], [true, true, true]);
  assert.equal([found.ephemeralKey, found.sealed], [bytes('44'.repeat(32)), bytes('ee')]);
  const bare = recordingOf(HEADER, receive(hello('a')), receive(hello('b')), {
    lookedUp: 'psk',
    found: false,
  });
  assert.equal(
    [bare.pin, bare.hello, bare.offer, bare.ephemeralKey, bare.sealed],
    new Array(5).fill(undefined),
  );
  assert.equal([bare.foundPsk, bare.isReady, bare.staticKeyIsFresh], [false, false, false]);
});

test('refuses what is no recording, and says why', () => {
  const first = 'its first line has no role. See docs/reference/commands.md, "Recordings"';
  for (const [text, said] of [
    ['', `x is not a recording: ${first}`],
    [' \n\t\n', `x is not a recording: ${first}`],
    ['{"role":"server"}', `x is not a recording: ${first}`],
    ['horse', 'x is not a recording: line 1 is not a JSON object'],
    ['[]', 'x is not a recording: line 1 is not a JSON object'],
    ['{"a":1}\n\n[]\n{}', 'x is not a recording: line 2 is not a JSON object'],
    ['{"a":1}\nhorse\n{}', 'x is not a recording: line 2 is not a JSON object'],
    ['{"a":1}\n5', 'x is not a recording: line 2 is not a JSON object'],
    ['{"a":1}\n!\n{}', 'x is not a recording: line 2 is not a JSON object'],
    [
      '{"role":"hub","recording":2}',
      'x is a recording of another version: use the commands of the version that wrote it',
    ],
    [
      '{"role":"hub","recording":1,"publicKey":"11"}',
      'x is not a recording: its publicKey is not a key of 32 bytes in hex',
    ],
    [
      `${JSON.stringify(HEADER)}\n{"ephemeralKey":1}`,
      'x is not a recording: its ephemeralKey is not a key of 32 bytes in hex',
    ],
  ] as const) {
    assert.throws(
      () => readRecording('x', Buffer.from(text)),
      (error: unknown) => error instanceof CannotRun && error.message === said,
      text,
    );
  }
});

// What one side sent and the other received

const shakeOf = (noise: object): string => JSON.stringify({ msg_type: 'shake', payload: { noise } });
const sends = (text: string): object => ({ event: 'transmit', isText: true, text });
const hears = (text: string, state = 'awaiting-message-1'): object => ({ call: 'receive', state, text });
const seals = (length: number): object => ({ event: 'transmit', isText: false, length });
const arrives = (length: number, state = 'ready'): object => ({
  call: 'receive',
  state,
  isText: false,
  length,
});
const GREETING = '{"msg_type":"hello","payload":{"node_id":"hub-1"}}';
const OFFERED = shakeOf({ patterns: ['XXpsk2'] });
const message = (hex: string, more: object = {}): string => shakeOf({ msg: hex, ...more });
const FIRST = message('aa'.repeat(40), { pattern: 'XXpsk2' });
const SECOND = message('bb'.repeat(40));
const waits = ended('dropped', 'dropped', { code: 1006 });
const refusedHere = ended('negotiation-refused', 'refused', { code: 1008 });
const HUB = { ...HEADER, role: 'hub' };

type Told = readonly [name: string, certainty: string, text: string];
/** All messages arrived as they were sent. */
const WHOLE = 'whole';
const lostOf = (writer: string, reader: string, what: string): Told => [
  'message-lost',
  'certain',
  `a message of the ${writer} never arrived while the ${reader} waited: ${what}`,
];
const foreignAt = (due: string, length: number): Told => [
  'message-changed',
  'certain',
  `the client received ${length} bytes that the hub did not send, where ${due} was due: it was changed on the way, or somebody sent another message`,
];
const changedTo = (number: number, writer: string, length: number): Told => [
  'message-changed',
  'certain',
  `the transport message number ${number} of the ${writer} was changed on the way: no message that it sent has the ${length} bytes that arrived`,
];
const EARLY =
  'an encrypted message of the client arrived before a cleartext one, which was lost or overtaken: a Noise message';

/** The lines of both recordings, and what is found between them. */
const ARRIVALS: readonly (readonly [
  what: string,
  client: readonly object[],
  hub: readonly object[],
  found: Told | typeof WHOLE | undefined,
])[] = [
  [
    'all messages as they were sent',
    [hears(GREETING), hears(OFFERED), sends(FIRST), hears(SECOND), waits],
    [sends(GREETING), sends(OFFERED), hears(FIRST), sends(SECOND), waits],
    WHOLE,
  ],
  [
    'HELLO that arrived twice',
    [hears(GREETING), hears(GREETING), hears(OFFERED), waits],
    [sends(GREETING), sends(OFFERED), waits],
    WHOLE,
  ],
  [
    'HELLO that was sent twice, and arrived twice',
    [hears(GREETING), hears(GREETING), hears(OFFERED), waits],
    [sends(GREETING), sends(GREETING), sends(OFFERED), waits],
    WHOLE,
  ],
  [
    'an envelope that nobody sent, to a client that goes on',
    [hears(GREETING), hears('{"msg_type":"x"}'), waits],
    [sends(GREETING)],
    undefined,
  ],
  [
    'an envelope in place of HELLO, without an end',
    [hears('{"msg_type":"x"}')],
    [sends(GREETING)],
    undefined,
  ],
  [
    'another message after message 3',
    [sends(FIRST), hears(SECOND), sends(message('cc'))],
    [hears(FIRST), sends(SECOND), hears(message('cc')), hears(message('ee'))],
    undefined,
  ],
  ...(
    [
      ['pattern', 60],
      ['suite', 60],
      ['max_protocol_version', 3],
    ] as const
  ).map(([field, value]) => {
    const changed = JSON.parse(FIRST);
    if (field === 'max_protocol_version') changed.payload[field] = value;
    else changed.payload.noise[field] = value;
    const text = JSON.stringify(changed);
    return [
      `message 1 with another ${field}`,
      [sends(FIRST)],
      [hears(text), close('bad-envelope')],
      [
        'message-changed',
        'certain',
        `the hub received ${text.length} bytes that the client did not send, where a Noise message was due: it was changed on the way, or somebody sent another message`,
      ],
    ] as const;
  }),
  [
    'message 1 changed at byte 32',
    [sends(message(`${'aa'.repeat(32)}bb`))],
    [hears(message(`${'aa'.repeat(32)}cc`))],
    ['message-changed', 'certain', 'message 1 was changed on the way, from byte 32 on'],
  ],
  [
    'message 1 changed at byte 31',
    [sends(message(`${'aa'.repeat(31)}bb`))],
    [hears(message(`${'aa'.repeat(31)}cc`))],
    [
      'message-changed',
      'likely',
      'message 1 has different ephemeral keys in the two recordings: they are of two connections, or somebody replaced the message',
    ],
  ],
  [
    'message 3 changed at byte 0',
    [sends(FIRST), hears(SECOND), sends(message('cc'))],
    [hears(FIRST), sends(SECOND), hears(message('dd'))],
    ['message-changed', 'certain', 'message 3 was changed on the way, from byte 0 on'],
  ],
  [
    'message 2 that was cut',
    [sends(FIRST), hears(message('bb'.repeat(39)))],
    [hears(FIRST), sends(SECOND)],
    ['message-changed', 'certain', 'message 2 was changed on the way, from byte 39 on'],
  ],
  ['HELLO that was lost', [waits], [sends(GREETING)], lostOf('hub', 'client', 'HELLO')],
  [
    'an offer that was lost, while the client waits',
    [hears(GREETING), waits],
    [sends(GREETING), sends(OFFERED)],
    lostOf('hub', 'client', 'HANDSHAKE with the offer'),
  ],
  ['an offer that had not arrived yet', [hears(GREETING)], [sends(GREETING), sends(OFFERED)], WHOLE],
  [
    'message 1 that a hub did not wait for',
    [hears(GREETING), hears(OFFERED), sends(FIRST), refusedHere],
    [sends(GREETING), sends(OFFERED), waits],
    [
      'message-lost',
      'likely',
      'a message of the client never arrived while the hub waited: a Noise message. Or the hub closed before it could arrive',
    ],
  ],
  [
    'message 1 that was lost',
    [hears(GREETING), hears(OFFERED), sends(FIRST), waits],
    [sends(GREETING), sends(OFFERED), waits],
    lostOf('client', 'hub', 'a Noise message'),
  ],
  [
    'HELLO that the offer has overtaken',
    [hears(OFFERED), close('handshake-before-hello')],
    [sends(GREETING), sends(OFFERED)],
    [
      'message-order',
      'certain',
      'a message of the hub had not arrived when the next one did, so it was lost or overtaken: HELLO',
    ],
  ],
  [
    'an offer that came before HELLO, to a client that goes on',
    [hears(OFFERED), hears(GREETING), waits],
    [sends(GREETING), sends(OFFERED)],
    undefined,
  ],
  [
    'another envelope in place of the offer',
    [hears(GREETING), hears('{"msg_type":"x"}', 'awaiting-offer'), close('unexpected-message')],
    [sends(GREETING), sends(OFFERED)],
    foreignAt('HANDSHAKE with the offer', 16),
  ],
  [
    'an envelope that nobody sent',
    [hears(GREETING), hears('{"msg_type":"x"}', 'awaiting-offer'), close('unexpected-message')],
    [sends(GREETING)],
    foreignAt('the next message', 16),
  ],
  [
    'another envelope, and a client that goes on',
    [hears('{"msg_type":"xyz"}'), waits],
    [sends(GREETING)],
    foreignAt('HELLO', 18),
  ],
  [
    'an encrypted message before message 3',
    [sends(FIRST), sends(message('cc')), seals(20)],
    [hears(FIRST), arrives(20, 'awaiting-message-3'), close('bad-json')],
    ['message-order', 'certain', EARLY],
  ],
  [
    'an encrypted message as long as message 3, before it',
    [sends(FIRST), sends(message('cc')), seals(Buffer.byteLength(message('cc')))],
    [hears(FIRST), arrives(Buffer.byteLength(message('cc')), 'awaiting-message-3'), close('bad-json')],
    ['message-order', 'likely', `${EARLY}. Or that one was changed on the way, since it has the same length`],
  ],
  [
    'a HELLO of the client, which no hub needs',
    [sends(GREETING), hears(GREETING), waits],
    [sends(GREETING), waits],
    WHOLE,
  ],
  [
    'an envelope that was lost',
    [sends('{"msg_type":"bus","payload":{}}'), waits],
    [waits],
    lostOf('client', 'hub', 'an envelope'),
  ],
  [
    'a second transport message that was lost',
    [ready(), seals(20), seals(21), waits],
    [ready(), arrives(20), call('ready'), waits],
    undefined,
  ],
  [
    'a first transport message that was lost',
    [ready(), seals(20), waits],
    [ready(), waits],
    lostOf('client', 'hub', 'the transport message number 1'),
  ],
  [
    'a transport message that overtook another',
    [ready(), seals(20), seals(21)],
    [ready(), arrives(21), close('not-authentic')],
    [
      'message-order',
      'likely',
      'where the transport message number 1 of the client was due, another one of it arrived: one was lost, repeated or overtaken on the way. Or it was changed, and happens to have the length of the other',
    ],
  ],
  [
    'a transport message of another length',
    [ready(), seals(20), seals(21)],
    [ready(), arrives(20), arrives(22), close('not-authentic')],
    changedTo(2, 'client', 22),
  ],
  [
    'a transport message of another length that opened',
    [ready(), seals(20)],
    [ready(), arrives(22), waits],
    WHOLE,
  ],
  [
    'a transport message of the hub of another length',
    [ready(), arrives(22), close('not-authentic')],
    [ready(), seals(20)],
    changedTo(1, 'hub', 22),
  ],
  ['a transport message that has not arrived yet', [ready(), seals(20)], [ready()], WHOLE],
  [
    'a message after the end',
    [ready(), seals(20)],
    [ready(), arrives(9, 'closed'), close('not-authentic')],
    WHOLE,
  ],
  [
    'HELLO that did not come before the offer, to a client that goes on',
    [hears(OFFERED), waits],
    [sends(GREETING), sends(OFFERED)],
    lostOf('hub', 'client', 'HELLO'),
  ],
  [
    'HELLO that did not come before the offer, without an end',
    [hears(OFFERED)],
    [sends(GREETING), sends(OFFERED)],
    undefined,
  ],
  [
    'a message of each side that was lost',
    [sends('{"msg_type":"bus","payload":{}}'), waits],
    [sends(GREETING), waits],
    lostOf('hub', 'client', 'HELLO'),
  ],
  [
    'a transport message of another length, at which the hub ran out of memory',
    [ready(), seals(20)],
    [ready(), arrives(22), { threw: 'out-of-memory' }, waits],
    WHOLE,
  ],
];

for (const [what, client, hub, expected] of ARRIVALS) {
  test(`compares what was sent with what arrived: ${what}`, () => {
    const recordings = { client: recordingOf(HEADER, ...client), hub: recordingOf(HUB, ...hub) };
    const examined = new Case({ ...recordings, derive: knownPsk, mistakenPsks: () => [] });
    const cause = changedMessage(examined);
    const isWhole = expected === WHOLE;
    const [name, certainty, text] = isWhole ? [] : (expected ?? []);
    assert.equal(cause, name === undefined ? undefined : { name, certainty, text });
    const agreed = ['the cleartext messages arrived as they were sent, and in that order'];
    assert.equal(examined.checked, isWhole ? agreed : []);
    assert.is(examined.agrees('messages'), isWhole);
  });
}

test.run();
