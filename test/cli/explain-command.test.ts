/** `hub-protocol explain` as a program: recordings and keys from files, text and JSON, exit status. */
import { readFileSync } from 'node:fs';
import { nodeCrypto } from 'hub-protocol-judge/internals';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toText } from '../../cli/src/commands/explain.ts';
import { draw } from '../../cli/src/derive.ts';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { createKeyring, serializeKeyring, storePsk, updateKeyring } from '../../src/index.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import { replacing as replacingIn } from '../world/replacing.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  HUB_KEY,
  HUB_STATIC,
  KK,
  NODE_ID,
  PSK,
  play,
  replacing,
  why,
  withPsk,
  wrongPsk,
} from './faults.ts';
import { deriveQuickly, Folder, IDENTITY, quickly, type Run, run, runProgram } from './run.ts';

const test = suite('explain');
const folder = new Folder();
test.after(() => folder.remove());

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const KEYS = [PSK, wrongPsk, CLIENT_STATIC, HUB_STATIC];

/** Plays a connection and writes both recordings. */
function record(setup: Parameters<typeof play>[0]): { client: string; hub: string } {
  const { client, hub } = play(setup).lines;
  return {
    client: folder.write('client.jsonl', `${client.join('\n')}\n`),
    hub: folder.write('hub.jsonl', `${hub.join('\n')}\n`),
  };
}

async function explain(args: readonly string[], input?: string): Promise<Run> {
  const result = await run(['explain', ...args], input);
  for (const key of KEYS) assert.not.ok((result.stdout + result.stderr).includes(hex(key)));
  assert.not.match(result.stdout + result.stderr, /battery/);
  return result;
}

test('names the cause, and exits with 1', async () => {
  const { client, hub } = record({ wire: replacing('"hub-1"', '"hub-2"') });
  const { code, stdout } = await explain([hub, client]);
  assert.is(code, 1);
  assert.match(
    stdout,
    /^CAUSE: hello-changed \(certain\)\n {2}in node_id of HELLO the hub sent "hub-1", and/,
  );
  assert.match(stdout, /\nWhat happened\n {2}- the connection ended/);
});

test('prints what docs/reference/commands.md shows', async () => {
  const { client, hub } = record({ wire: replacing(',"25519_AESGCM_SHA256"', '') });
  const page = readFileSync(new URL('../../docs/reference/commands.md', import.meta.url), 'utf8');
  const example = /^\$ npx hub-protocol-cli explain client\.jsonl hub\.jsonl\n([\s\S]*?)```/m.exec(page)![1];
  assert.is((await explain([client, hub])).stdout, example);
});

test('prints JSON, with the place of the difference', async () => {
  const { client, hub } = record({ wire: replacing('"hub-1"', '"hub-2"') });
  const { verdict, cause } = JSON.parse((await explain([hub, client, '--json'])).stdout);
  assert.is(verdict, 'fault');
  assert.equal(cause.place, { payload: 'HELLO', path: 'node_id', offset: 16 });
});

test('reports that the cause is unknown and which evidence would help, and exits with 3', async () => {
  const { hub } = record({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } });
  const { code, stdout } = await explain([hub]);
  assert.is(code, 3);
  assert.match(stdout, /^I cannot tell/);
  assert.match(stdout, /\nWhat would help\n[\s\S]*- the client's recording/);
  assert.is(JSON.parse((await explain([hub, '--json'])).stdout).cause, null);
});

test('says that nothing failed, and exits with 0', async () => {
  const { client } = record({});
  const { code, stdout } = await explain([client]);
  assert.is(code, 0);
  assert.match(stdout, /^The recording contains no failure/);
});

test('says that a recording ends in the middle of the handshake, and exits with 3', async () => {
  const [header, ...rest] = play().lines.client;
  const path = folder.write('half.jsonl', [header, ...rest.slice(0, 2)].join('\n'));
  const { code, stdout } = await runProgram(['explain', path]);
  assert.is(code, 3);
  assert.match(stdout, /^The recording ends in the middle of the handshake\.\n/);
  assert.is(JSON.parse((await explain([path, '--json'])).stdout).verdict, 'unfinished');
});

/** A recording that ends with these two lines. */
function ending(call: object, close: object): string {
  return folder.write(
    'made-up.jsonl',
    [play().lines.client[0], ...[call, close].map((line) => JSON.stringify(line))].join('\n'),
  );
}

test('shows no control character of a recording, in text or in JSON', async () => {
  const hostile = '\u001b]0;title\u0007\u009b31m\u202e\u2028';
  const hello = { msg_type: 'hello', payload: { [hostile]: hostile, node_id: hostile } };
  const path = ending(
    { call: 'receive', state: `ready${hostile}`, text: JSON.stringify(hello) },
    { event: 'close', error: hostile, isLocal: true, code: 1008 },
  );
  for (const args of [[path], [path, '--json'], [path, '--hello', folder.write('hello.json', hello)]]) {
    const { stdout, stderr } = await explain(args);
    assert.not.match(stdout + stderr, /[^\P{C}\n]|[\u2028\u2029]/u);
    assert.match(stdout, 'gave up in state unknown: unknown');
  }
});

for (const name of ['constructor', '__proto__', 'toString']) {
  test(`does not treat ${name} as a known error code`, async () => {
    const { code, stdout } = await explain([
      ending({ call: 'receive', state: name, text: '{}' }, { event: 'close', error: name, code: 1008 }),
    ]);
    assert.is(code, 3);
    assert.match(stdout, /^I cannot tell/);
  });
}

test('reads an offer with invalid names', async () => {
  const noise = { patterns: ['XXpsk2'], suites: [{ toString: 1 }, ['x'], null] };
  const offer = JSON.stringify({ msg_type: 'shake', payload: { noise } });
  const { code, stdout, stderr } = await explain([
    ending(
      { call: 'receive', state: 'awaiting-offer', text: offer },
      { event: 'close', error: 'no-common-suite', code: 1008 },
    ),
  ]);
  assert.is(code, 1, stderr);
  assert.match(stdout, /^CAUSE: offer/);
});

test('reads the payloads of the other side from files', async () => {
  const { client } = record({ wire: replacing('"hub-1"', '"hub-2"') });
  const { hello, offer } = play().hub;
  const args = [
    '--hello',
    folder.write('hello.json', { msg_type: 'hello', payload: hello!.payload }),
    '--offer',
    folder.write('offer.json', offer!.payload),
  ];
  const { stdout } = await explain([client, ...args]);
  assert.match(stdout, /^CAUSE: hello-changed/);
});

test('reads keys from files: raw, in hex and in base64', async () => {
  const { client } = record({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } });
  const psk = folder.write('psk.hex', `${hex(wrongPsk)}\n`);
  for (const hubPsk of [hex(PSK), Buffer.from(PSK).toString('base64'), Buffer.from(PSK).toString('latin1')]) {
    const { stdout } = await explain([client, '--psk', psk, '--hub-psk', folder.write('hub.psk', hubPsk)]);
    assert.match(stdout, /^CAUSE: psk-differs \(certain\)/);
  }
});

test('reads the PSK and the static key from the keyring, and the password from standard input', async () => {
  const { client } = record({
    hub: { psk: wrongPsk },
    client: { psks: [{ nodeId: NODE_ID, key: PSK }] },
    ephemeralKey: true,
  });
  const keyring = storePsk(
    createKeyring({ accessKey: 'AKEY-12345', staticKey: CLIENT_STATIC }),
    NODE_ID,
    wrongPsk,
  );
  const path = folder.write('keyring.json', serializeKeyring(keyring));
  // The keyring has the PSK of the hub, with which message 2 opens.
  const { stdout } = await explain([client, '--keyring', path]);
  assert.match(stdout, /message 2 is right/);
});

test('draws no progress bar where there is no terminal', () => {
  const written: string[] = [];
  replacingIn(process.stderr, { write: (text: string) => written.push(text), isTTY: false }, () => {
    for (const progress of [0, 0.5, 1]) draw(progress, 'trying PSKs');
  });
  assert.equal(written, []);
});

test('a progress bar is drawn when it has changed, is shorter than a line, and is removed at the end', () => {
  const bars: string[] = [];
  replacingIn(process.stderr, { write: (text: string) => bars.push(text), isTTY: true, columns: 30 }, () => {
    for (const progress of [0, 0.24, 0.25, 0.26, 0.99, 1, 1]) draw(progress, 'a\u001bbcdefg');
  });
  assert.equal(bars, [
    '\r\u001b[K░░░░░░░░░░░░░░░░░░░░ a\\u001bb',
    '\r\u001b[K█████░░░░░░░░░░░░░░░ a\\u001bb',
    '\r\u001b[K████████████████████ a\\u001bb',
    '\r\u001b[K',
  ]);
});

test('reads the pin from the keyring if the client made no recording', async () => {
  const { hub } = record({ ...KK, hub: { ...KK.hub, staticKey: wrongPsk } });
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: CLIENT_KEY };
  const keyring = updateKeyring(createKeyring({ accessKey: 'AKEY-12345', staticKey }), {
    type: 'pin',
    nodeId: NODE_ID,
    key: HUB_KEY,
  });
  const { stdout } = await explain([
    hub,
    '--keyring',
    folder.write('keyring.json', serializeKeyring(keyring)),
  ]);
  assert.match(stdout, /^CAUSE: hub-replaced \(certain\)/);
});

test('reads the password from an identity', async () => {
  const psk = quickly(IDENTITY.password as string, nodeCrypto.sha256(Buffer.from(NODE_ID)));
  const { client } = record({
    hub: { psk },
    client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
    ephemeralKey: true,
  });
  const identity = folder.write('identity.json', IDENTITY);
  const deriveAgain = deriveQuickly();
  const { code, stdout } = await explain([client, '--identity', identity]).finally(deriveAgain);
  assert.is(code, 1);
  assert.match(stdout, /^CAUSE: psk-stale \(likely\)/);
});

test('explains the last session of a recording that has several', async () => {
  const failed = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } }).lines.client;
  const path = folder.write('several.jsonl', [...play().lines.client, ...failed].join('\n'));
  const { code, stdout } = await explain([path]);
  assert.is(code, 1);
  assert.match(stdout, /has 2 sessions: this is about the last one/);
});

test('reads a recording that ends in the middle of a line, whichever that is', async () => {
  const { client } = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } }).lines;
  for (let count = 1; count <= client.length; count++) {
    const path = folder.write('cut.jsonl', `${client.slice(0, count).join('\n')}\n{"event":"en`);
    assert.is((await explain([path])).code, count === client.length ? 1 : 3, `${count}`);
  }
});

test('says exactly this of a stored PSK of another password, and of one about which too little is known', () => {
  const plain = (evidence: Partial<Evidence>): string =>
    toText(why(evidence))
      .replace(/\n {2,4}(?=[^ -])/g, ' ')
      .replace(/\n+/g, '\n')
      .trim();
  const { client } = play({ client: withPsk(wrongPsk), hub: { psk: DERIVED }, ephemeralKey: true });
  assert.is(
    plain({ client, password: PASSWORD }),
    `CAUSE: psk-stale (likely) message 2 opens with the PSK of the password given, so the hub uses that; the client used another, which it had stored: forget it, and derive it again. A mistake in how it mixes the PSK in looks the same.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
What was checked
  - message 2 is right: it opens with the keys known of both sides`,
  );
  const inKk = play({ ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } });
  assert.is(
    plain({ client: inKk.client }),
    `I cannot tell why this handshake failed.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
What would help
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
  - a recording of the next attempt with patterns: ['XXpsk2'], which distinguishes password, pin and static key
  - the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)`,
  );
});

const recording = folder.write('right.jsonl', play().lines.client.join('\n'));
const other = folder.write('other.jsonl', play().lines.hub.join('\n'));
const key = folder.write('key', 'battery');

for (const [what, args, message] of [
  ['two recordings of one side', [recording, recording], /of the same side/],
  ['what is no recording', [folder.write('a.json', '{"a":1}\n{}')], /is not a recording: its first line/],
  [
    'a recording whose key is a list',
    [
      folder.write(
        'key.jsonl',
        play()
          .lines.client.join('\n')
          .replace(/"publicKey":"\w+"/, '"publicKey":["5"]'),
      ),
    ],
    /its publicKey is not a key of 32 bytes in hex/,
  ],
  ['what is not JSON', [folder.write('a.txt', 'battery')], /is not a recording: line 1/],
  [
    'a line that is not JSON',
    [folder.write('b.txt', '{"role":"client"}\nbattery\n{}')],
    /line 2 is not a JSON object/,
  ],
  ['another version', [folder.write('v.txt', '{"recording":2,"role":"hub"}')], /another version/],
  ...['hello', 'offer'].map(
    (name) =>
      [
        `${name} of a third side`,
        [recording, other, `--${name}`, recording],
        `hub-protocol: --${name} is of the side that made no recording, and both did: leave it out\n`,
      ] as const,
  ),
  ...(
    [
      ['psk', 'the PSK'],
      ['hub-psk', 'the PSK'],
      ['hub-key', 'a private key'],
      ['client-key', 'a private key'],
    ] as const
  ).map(
    ([name, what]) =>
      [
        `a key of the wrong length for --${name}`,
        [recording, `--${name}`, key],
        `hub-protocol: ${key} is not ${what}: expected 32 bytes, in hex or base64\n`,
      ] as const,
  ),
  ['what is no keyring', [recording, '--keyring', key], /is not a keyring/],
  ['two passwords', [recording, '--password', '--identity', key], /one of --password and --identity/],
] as const) {
  test(`refuses ${what}`, async () => {
    const { code, stdout, stderr } = await explain(args);
    assert.is(code, 2);
    assert.is(stdout, '');
    if (typeof message === 'string') assert.is(stderr, message);
    else assert.match(stderr, message);
  });
}

test.run();
