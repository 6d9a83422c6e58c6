/** Keyrings as they are stored: what is written, and what is refused when it is read again. */
import { inspect } from 'node:util';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  createKeyring,
  type Keyring,
  parseKeyring,
  readSlots,
  serializeChanges,
  serializeKeyring,
  storePsk,
  updateKeyring,
} from '../../src/index.ts';
import type { KeyPair } from '../../src/parts.ts';
import type { ReadyEvent } from '../../src/session/events.ts';
import { findHub } from '../../src/session/keyring-fields.ts';
import { CLIENT_STATIC, HUB_KEY, NODE_ID, PSK } from '../world/keys.ts';
import { raisesLocal } from '../world/raises.ts';
import { toHex } from '../world/vectors.ts';

const ACCESS_KEY = 'kiosk-7';
const READY = { type: 'ready', pattern: 'KKpsk0' } as ReadyEvent;
const FRESH = createKeyring({ accessKey: ACCESS_KEY, staticKey: CLIENT_STATIC });
const PINNED = updateKeyring(FRESH, { type: 'pin', nodeId: NODE_ID, key: HUB_KEY });

/** A keyring with everything in it, and its fields in JSON. */
const FULL = updateKeyring(storePsk(PINNED, NODE_ID, PSK), READY);
const STORED = JSON.parse(serializeKeyring(FULL));
const [PIN] = STORED.pins;
const [STORED_PSK] = STORED.psks;
const parse = (fields: object): Keyring => parseKeyring(JSON.stringify({ ...STORED, ...fields }), ACCESS_KEY);
const pskOf = (keyring: Keyring, nodeId: string = NODE_ID) => findHub(keyring.psks, nodeId)?.key;
const pinOf = (keyring: Keyring, nodeId: string = NODE_ID) => findHub(keyring.pins, nodeId)?.key;

test('a keyring is written as versioned JSON', () => {
  assert.equal(STORED, {
    version: 1,
    access_key: ACCESS_KEY,
    static_key: toHex(CLIENT_STATIC),
    static_key_is_fresh: false,
    pins: [{ node_id: NODE_ID, key: toHex(HUB_KEY) }],
    psks: [{ node_id: NODE_ID, key: toHex(PSK), is_provisioned: false }],
  });
});

test('changes are read without the provisioned pins and PSKs, and never the static key from them', () => {
  const other = serializeKeyring(createKeyring({ accessKey: ACCESS_KEY, staticKey: HUB_KEY }));
  const keyring = parseKeyring(serializeKeyring(FULL), ACCESS_KEY, other);
  assert.equal(keyring.staticKey.privateKey, CLIENT_STATIC);
  assert.equal([keyring.pins, keyring.psks, keyring.staticKeyIsFresh], [[], [], true]);
  raisesLocal(() => parseKeyring(serializeChanges(FULL), ACCESS_KEY), 'keyring-field');
});

test('changes that cannot be read, or of another identity, are errors', () => {
  const text = serializeKeyring(FULL);
  raisesLocal(() => parseKeyring(text, ACCESS_KEY, ''), 'keyring-not-json');
  raisesLocal(() => parseKeyring(text, ACCESS_KEY, '{}'), 'keyring-version');
  const others = serializeChanges(createKeyring({ accessKey: 'other', staticKey: HUB_KEY }));
  raisesLocal(() => parseKeyring(text, ACCESS_KEY, others), 'keyring-other-identity');
  raisesLocal(() => serializeChanges({} as Keyring), 'bad-argument');
});

test('which pin and which PSK are suspect is stored, and only then takes room', () => {
  for (const [type, list] of [
    ['pin-suspect', 'pins'],
    ['psk-suspect', 'psks'],
  ] as const) {
    const text = serializeKeyring(updateKeyring(FULL, { type, nodeId: NODE_ID }));
    assert.is(text.replace(',"is_suspect":true', ''), serializeKeyring(FULL));
    assert.is(JSON.parse(text)[list][0].is_suspect, true);
    assert.is(serializeKeyring(parseKeyring(text, ACCESS_KEY)), text);
  }
});

test('anything but a string or bytes is the caller’s mistake', () => {
  for (const input of [undefined, {}, null]) {
    raisesLocal(() => parseKeyring(input as never, ACCESS_KEY), 'bad-argument');
  }
  for (const accessKey of ['', undefined, 7]) {
    raisesLocal(() => parseKeyring(serializeKeyring(FULL), accessKey as string), 'bad-argument');
  }
});

test('a keyring of another version is refused, whatever else is in it', () => {
  for (const version of [2, 0, '1', null, undefined, 1.5]) {
    raisesLocal(() => parse({ version, access_key: 'another', pins: 7 }), 'keyring-version');
  }
});

test('an unreadable static key is never treated as absent', () => {
  const bad = [undefined, null, '', 7, [], 'zz'.repeat(32), '00'.repeat(31), '00'.repeat(33), '0'.repeat(63)];
  for (const key of bad) {
    raisesLocal(() => parse({ static_key: key }), 'keyring-field');
    raisesLocal(() => parse({ static_key: undefined, static_public_key: key }), 'keyring-field');
    if (key !== undefined) raisesLocal(() => parse({ static_public_key: key }), 'keyring-field');
  }
});

test('a static key of zeros is refused', () => {
  raisesLocal(() => parse({ static_key: '00'.repeat(32) }), 'keyring-field');
  raisesLocal(() => parse({ static_key: undefined, static_public_key: '00'.repeat(32) }), 'keyring-field');
});

test('an unreadable pin is never treated as absent', () => {
  const entries = [
    null,
    'x',
    [],
    {},
    { ...PIN, key: '' },
    { ...PIN, key: '00'.repeat(31) },
    { ...PIN, key: null },
    { ...PIN, node_id: '' },
    { ...PIN, node_id: 7 },
    { ...PIN, nodeId: 'x' },
    { key: PIN.key },
    { node_id: NODE_ID },
  ];
  for (const entry of entries) raisesLocal(() => parse({ pins: [entry] }), 'keyring-field');
  for (const pins of [undefined, null, '', {}, [PIN, PIN], [PIN, null]]) {
    raisesLocal(() => parse({ pins }), 'keyring-field');
  }
});

test('another field that is missing, unknown or of another type is refused', () => {
  const bad: object[] = [
    { access_key: undefined },
    { access_key: 7 },
    { access_key: '' },
    { static_key_is_fresh: undefined },
    { static_key_is_fresh: 0 },
    { pin: [] },
    { constructor: 1 },
  ];
  for (const fields of bad) raisesLocal(() => parse(fields), 'keyring-field');
});

test('an unreadable derived PSK is ignored, and the other PSKs stay', () => {
  const { is_provisioned, ...unmarked } = STORED_PSK;
  for (const entry of [
    null,
    'x',
    {},
    { ...STORED_PSK, key: '' },
    { ...unmarked, key: 7 },
    { key: PIN.key },
  ]) {
    const keyring = parse({ psks: [entry, { ...unmarked, node_id: 'hub-2' }] });
    assert.is(pskOf(keyring), undefined);
    assert.equal(pskOf(keyring, 'hub-2'), PSK);
    assert.equal(pinOf(keyring), HUB_KEY);
  }
  for (const psks of [undefined, null, 'x', {}]) assert.is(pskOf(parse({ psks })), undefined);
  assert.is(is_provisioned, false);
});

test('if a hub has two PSKs, the first is used', () => {
  const keyring = parse({ psks: [STORED_PSK, { ...STORED_PSK, key: '00'.repeat(32) }] });
  assert.is(keyring.psks.length, 1);
  assert.equal(pskOf(keyring), PSK);
});

test('an unreadable provisioned PSK is never treated as absent', () => {
  const provisioned = { ...STORED_PSK, is_provisioned: true };
  const entries = [
    { ...provisioned, key: '' },
    { ...provisioned, key: undefined },
    { ...provisioned, node_id: '' },
    { ...provisioned, is_provisioned: 1 },
    { ...provisioned, is_provisioned: 'yes' },
    { ...provisioned, is_provisioned: 'yes', key: '' },
  ];
  for (const entry of entries) raisesLocal(() => parse({ psks: [entry] }), 'keyring-field');
});

const hexOf = (byte: number): string => toHex(new Uint8Array(32).fill(byte));
const HEAD = '"version":1,"access_key":"kiosk-7"';
const REST = `"static_key_is_fresh":true,"pins":[{"node_id":"hub-1","key":"${hexOf(2)}"}],"psks":[{"node_id":"hub-1","key":"${hexOf(3)}"`;
const PUBLIC = '"static_public_key":"a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209"';
/** A text of each form that a commit of this library wrote, from that commit on. Add one for each form; remove none. */
const WRITTEN: { readonly [commit: string]: readonly [keyring: string, slot?: string] } = {
  '6a3bdba9': [`{${HEAD},"static_key":"${hexOf(1)}",${REST}}]}`],
  '36bcc8f8': [`{${HEAD},"static_key":"${hexOf(1)}",${REST},"is_provisioned":true}]}`],
  '36bcc8f8 with a static key elsewhere': [`{${HEAD},${PUBLIC},${REST},"is_provisioned":true}]}`],
  c439b805: [`{${HEAD},"static_key":"${hexOf(1)}",${PUBLIC},${REST},"is_provisioned":true}]}`],
  '22c6060d with suspicions': [
    `{${HEAD},"static_key":"${hexOf(1)}",${REST.replace('}],', ',"is_suspect":true}],')},"is_suspect":true,"is_provisioned":true}]}`,
  ],
  '11ad4871 in slots': [
    `{${HEAD},"static_key":"${hexOf(1)}",${PUBLIC},"static_key_is_fresh":true,"pins":[],"psks":[]}`,
    `1242034962 1 {${HEAD},${REST},"is_provisioned":true}]}`,
  ],
};
for (const [commit, [stored, slot]] of Object.entries(WRITTEN)) {
  test(`a keyring that ${commit} wrote is read, and so is what is written from it`, () => {
    const first = parseKeyring(stored, ACCESS_KEY, slot && readSlots([slot, undefined]));
    for (const keyring of [first, parseKeyring(serializeKeyring(first), ACCESS_KEY)]) {
      assert.equal(pinOf(keyring, 'hub-1'), new Uint8Array(32).fill(2));
      assert.equal(pskOf(keyring, 'hub-1'), new Uint8Array(32).fill(3));
      assert.is(keyring.psks[0]!.isProvisioned, stored.includes('is_provisioned') || slot !== undefined);
      assert.is(keyring.pins[0]!.isSuspect, stored.includes('is_suspect'));
      const { privateKey } = keyring.staticKey as KeyPair;
      assert.equal(privateKey, stored.includes('"static_key"') ? new Uint8Array(32).fill(1) : undefined);
    }
  });
}

test('no error shows the contents of a keyring', () => {
  const secret = 'S3cr3t';
  const stored = { ...STORED, access_key: secret };
  const inputs = [
    secret,
    JSON.stringify({ ...stored, version: secret }),
    JSON.stringify(stored),
    JSON.stringify({ ...STORED, [secret]: secret }),
    JSON.stringify({ ...STORED, static_key: secret }),
    JSON.stringify({ ...STORED, pins: [{ node_id: secret, key: secret }] }),
    JSON.stringify({ ...STORED, psks: [{ node_id: secret, key: secret, is_provisioned: true }] }),
  ];
  for (const input of inputs) {
    let error: unknown;
    try {
      parseKeyring(input, ACCESS_KEY);
    } catch (caught) {
      error = caught;
    }
    assert.ok(error instanceof Error);
    assert.not.match(`${error} ${inspect(error, { showHidden: true })}`.replace(/\n {4}at .*/g, ''), secret);
  }
});

test.run();
