/** `hub-protocol explain` as a program: recordings and keys from files, text and JSON, exit status. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mistakenPsks } from 'hub-protocol-judge/internals';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toText } from '../../cli/src/commands/explain.ts';
import { draw } from '../../cli/src/derive.ts';
import type { Evidence } from '../../cli/src/explain/evidence.ts';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { createKeyring, serializeKeyring, storePsk, updateKeyring } from '../../src/index.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import {
  CLIENT_KEY,
  CLIENT_STATIC,
  closing,
  HUB_KEY,
  HUB_STATIC,
  KK,
  NODE_ID,
  OTHER_NONCE_ORDER,
  PSK,
  play,
  replacing,
  type Setup,
  secrets,
  why,
  withPsk,
  wrongPsk,
} from './faults.ts';
import { Folder, IDENTITY, type Run, run, runProgram } from './run.ts';

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
  const example = /^\$ hub-protocol explain client\.jsonl hub\.jsonl\n([\s\S]*?)```/m.exec(page)![1];
  assert.is((await explain([client, hub])).stdout, example);
});

test('prints JSON, with the place of the difference', async () => {
  const { client, hub } = record({ wire: replacing('"hub-1"', '"hub-2"') });
  const { verdict, cause } = JSON.parse((await explain([hub, client, '--json'])).stdout);
  assert.is(verdict, 'fault');
  assert.equal(cause.place, { payload: 'HELLO', path: 'node_id', offset: 16 });
});

test('reports that the cause is unknown and which evidence would help, and exits with 3', async () => {
  const { hub } = record({ wire: replacing('"hub-1"', '"hub-2"') });
  const { code, stdout } = await explain([hub]);
  assert.is(code, 3);
  assert.match(stdout, /^I cannot tell/);
  assert.match(stdout, /\nWhat would help\n {2}- the client's recording/);
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

test('reads a recording that ends in the middle of a character', async () => {
  const lines = play({ client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] } }).lines.client.join('\n');
  const path = folder.at('cut-character.jsonl');
  writeFileSync(path, Buffer.concat([Buffer.from(`${lines}\n{"text":"`), Buffer.of(0xe2, 0x82)]));
  assert.is((await explain([path])).code, 1);
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
  assert.match(stdout, /message 2 is correct/);
});

test('takes the PSK of --psk, even if the keyring has another one', async () => {
  const { client } = record({ hub: { psk: wrongPsk }, ephemeralKey: true });
  const staticKey = { privateKey: CLIENT_STATIC, publicKey: CLIENT_KEY };
  const keyring = storePsk(createKeyring({ accessKey: 'AKEY-12345', staticKey }), NODE_ID, PSK);
  const files = [folder.write('keyring.json', serializeKeyring(keyring)), folder.write('psk', hex(wrongPsk))];
  const { stdout } = await explain([client, '--keyring', files[0]!, '--psk', files[1]!]);
  assert.match(stdout, /message 2 is correct/);
});

test('takes the private key of --client-key, even if the keyring has another one', async () => {
  const { client } = record({ ...KK, hub: { ...KK.hub, psk: wrongPsk }, ephemeralKey: true });
  const keyring = createKeyring({ accessKey: 'AKEY-12345', staticKey: wrongPsk, crypto: nodeCrypto });
  const evidence = [
    ...[
      client,
      '--psk',
      folder.write('psk', hex(PSK)),
      '--hub-key',
      folder.write('hub.key', hex(HUB_STATIC)),
    ],
    ...['--keyring', folder.write('keyring.json', serializeKeyring(keyring))],
  ];
  assert.match((await explain(evidence)).stdout, /CAUSE: key-pair/);
  const { stdout } = await explain([...evidence, '--client-key', folder.write('own', hex(CLIENT_STATIC))]);
  assert.not.match(stdout, /key-pair/);
});

test('draws no progress bar where there is no terminal', () => {
  const { write } = process.stderr;
  let written = '';
  const take = (text: string): boolean => {
    written += text;
    return true;
  };
  Object.assign(process.stderr, { write: take });
  try {
    for (const progress of [0, 0.5, 1]) draw(progress, 'trying PSKs');
  } finally {
    Object.assign(process.stderr, { write });
  }
  assert.is(written, process.stderr.isTTY ? written : '');
});

/** What is written to a standard error that is a terminal of 30 columns. */
async function drawn(action: () => unknown): Promise<string[]> {
  const { write, isTTY, columns } = process.stderr;
  const written: string[] = [];
  Object.assign(process.stderr, {
    write: (text: string) => written.push(text) > 0,
    isTTY: true,
    columns: 30,
  });
  try {
    await action();
  } finally {
    Object.assign(process.stderr, { write, isTTY, columns });
  }
  return written;
}

test('a progress bar is drawn when it has changed, is shorter than a line, and is removed at the end', async () => {
  const bars = await drawn(() => {
    for (const progress of [0, 0.24, 0.25, 0.26, 0.99, 1, 1]) draw(progress, 'a\u001bbcdefg');
  });
  assert.equal(bars, [
    '\r\u001b[K░░░░░░░░░░░░░░░░░░░░ a\\u001bb',
    '\r\u001b[K█████░░░░░░░░░░░░░░░ a\\u001bb',
    '\r\u001b[K████████████████████ a\\u001bb',
    '\r\u001b[K',
  ]);
});

test('shows on a terminal how far it is with what takes long, and removes that', async () => {
  const { client } = record({ hub: { psk: wrongPsk } });
  const all = Object.values(mistakenPsks(IDENTITY.password as string, NODE_ID)).flat();
  const psk = folder.write('mistaken.psk', all[2]!.derive()!);
  const identity = folder.write('identity.json', IDENTITY);
  let stdout = '';
  const bars = await drawn(async () => {
    ({ stdout } = await explain([client, '--identity', identity, '--psk', psk]));
  });
  assert.match(stdout, /^CAUSE: psk-derivation \(certain\)/);
  const bar = (twentieths: number, label: string): string =>
    `\r\u001b[K${'█'.repeat(twentieths).padEnd(20, '░')} ${label}`;
  const derived = Array.from({ length: 21 }, (_, index) => bar(index, 'deriving'));
  const tried = [0, 1, 2].map((index) => bar(Math.round((20 * index) / all.length), 'trying P'));
  assert.equal(bars, [...derived, '\r\u001b[K', ...new Set(tried), '\r\u001b[K']);
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
  const psk = Buffer.from('a102089b094aedde10ae279c95568c9cf982f20f3a96d48402f33ef4b1f5ec41', 'hex');
  const { client } = record({
    hub: { psk },
    client: { psks: [{ nodeId: NODE_ID, key: wrongPsk }] },
    ephemeralKey: true,
  });
  const identity = folder.write('identity.json', IDENTITY);
  const { code, stdout } = await explain([client, '--identity', identity]);
  assert.is(code, 1);
  assert.match(stdout, /^CAUSE: psk-stale \(likely\)/);
  const typed = await explain([client, '--password'], 'correct horse battery staple\n');
  assert.is(typed.stdout, stdout);
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

/** The recordings of both sides, or of one, and what else is known. */
const both = (setup: Setup, more: Partial<Evidence> = {}): Partial<Evidence> => {
  const { client, hub } = play(setup);
  return { client, hub, ...more };
};
const clientOf = (setup: Setup, more: Partial<Evidence> = {}): Partial<Evidence> => {
  return { client: play(setup).client, ...more };
};
const hubOf = (setup: Setup, more: Partial<Evidence> = {}): Partial<Evidence> => {
  return { hub: play(setup).hub, ...more };
};
/** Loses a message of a side; messages are counted from 1. */
const losing =
  (side: 'client' | 'hub', number: number): NonNullable<Setup['wire']> =>
  (from, data, count) =>
    from === side && count === number ? [] : [data];
/** The client sends three transport messages, and the second is lost. */
const losingTheSecond: NonNullable<Setup['after']> = ({ client, hub }) => {
  for (const message of client.sendJson(1)) hub.receive(message);
  client.sendJson(22);
  for (const message of client.sendJson(3)) hub.receive(message);
};
const WRONG_IN_KK: Setup = { ...KK, client: { ...KK.client, ...withPsk(wrongPsk) } };
const OTHER_CLIENT_IN_KK: Setup = { ...KK, client: { ...KK.client, staticKey: wrongPsk } };

/** What happened to a connection, and all that is said of it, in lines that are not broken. */
const SAID: readonly (readonly [what: string, evidence: () => Partial<Evidence>, text: string])[] = [
  [
    'a number that was rewritten',
    () => both({ hub: { hello: { ratio: 1.5 } }, wire: replacing('"ratio":1.5', '"ratio":1.50') }),
    `
CAUSE: number-rewritten (certain) a number was rewritten: in ratio of HELLO the hub sent 1.5, and the client saw 1.50. Something on the way parses JSON and writes it again; it has to keep each number as it came. The first byte that differs is byte 30 of the canonical JSON of HELLO.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: negotiation-refused
  - the hub gave up in state awaiting-message-1: prologue-differs
`,
  ],
  [
    'a suite that was removed, from the hub',
    () =>
      hubOf({
        wire: replacing(',"25519_AESGCM_SHA256"', ''),
      }),
    `
CAUSE: suites-stripped (certain) the client did not see 25519_AESGCM_SHA256 in noise.suites, which the hub offered: somebody removed it on the way.
What happened
  - the hub gave up in state awaiting-message-1: prologue-differs
`,
  ],
  [
    'a HELLO that was changed, from the hub',
    () => hubOf({ wire: replacing('"hub-1"', '"hub-2"') }),
    `
I cannot tell why this handshake failed.
What happened
  - the hub gave up in state awaiting-message-1: prologue-differs
What would help
  - the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)
`,
  ],
  [
    'a HELLO that was changed, from the client',
    () => clientOf({ wire: replacing('"hub-1"', '"hub-2"') }),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: negotiation-refused
What was checked
  - message 1 is correct: it decrypts with the keys known of both sides
What would help
  - hub-protocol-judge, if the hub is an implementation that was never tested with it: a mistake there looks like this
  - the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)
`,
  ],
  [
    'different PSKs, from the client',
    () => clientOf({ client: withPsk(wrongPsk) }),
    `
CAUSE: psk-differs (likely) the hub’s static key opened and the payload after it did not, so the PSKs differ: the password is wrong on one side, a stored PSK is stale, or one side derives it or mixes it in wrongly. With the password and an ephemeral key, explain tells which. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
`,
  ],
  [
    'different PSKs, from the client and the password',
    () => clientOf({ client: withPsk(wrongPsk) }, { password: PASSWORD }),
    `
CAUSE: psk-differs (likely) the hub’s static key opened and the payload after it did not, so the PSKs differ: the password is wrong on one side, a stored PSK is stale, or one side derives it or mixes it in wrongly. With the password and an ephemeral key, explain tells which. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
`,
  ],
  [
    'different PSKs, from both sides',
    () => both({ client: withPsk(wrongPsk) }),
    `
CAUSE: psk-differs (likely) the hub’s static key opened and the payload after it did not, so the PSKs differ: the password is wrong on one side, a stored PSK is stale, or one side derives it or mixes it in wrongly. With the password and an ephemeral key, explain tells which.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
  - the connection ended while the hub was in state awaiting-message-3, with 1008: dropped
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
  - the cleartext messages arrived as they were sent, and in that order
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
`,
  ],
  [
    'different PSKs, from the hub and both PSKs',
    () => hubOf({ client: withPsk(wrongPsk) }, { clientPsk: wrongPsk, hubPsk: PSK }),
    `
CAUSE: psk-differs (certain) the two sides have different PSKs: one of them has another password, or derived it wrongly. With the password, --password shows which.
What happened
  - the connection ended while the hub was in state awaiting-message-3, with 1008: dropped
`,
  ],
  [
    'PSKs that agree, though the recording says otherwise',
    () => clientOf({ client: withPsk(wrongPsk) }, { clientPsk: PSK, hubPsk: PSK }),
    `
I cannot tell why this handshake failed.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
What was checked
  - the PSKs of both sides agree
  - what only the PSK seals did not open, though the PSKs given agree: one of them is not the one that was used, one side mixes it in wrongly, or the message was changed
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
  - the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)
`,
  ],
  [
    'a stored PSK of another password, from the client and the password',
    () => clientOf({ client: withPsk(wrongPsk), hub: { psk: DERIVED }, ...secrets }, { password: PASSWORD }),
    `
CAUSE: psk-stale (likely) message 2 opens with the PSK of the password given, so the hub uses that; the client used another, which it had stored: forget it, and derive it again. A mistake in how it mixes the PSK in looks the same.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
What was checked
  - message 2 is correct: it decrypts with the keys known of both sides
`,
  ],
  [
    'a PSK of another password, from the hub’s PSK and the password',
    () =>
      clientOf(
        { client: withPsk(DERIVED), hub: { psk: wrongPsk } },
        { password: PASSWORD, hubPsk: wrongPsk },
      ),
    `
CAUSE: psk-differs (certain) the PSK of the hub was not derived from the password for this hub: it belongs to another password or another hub, or was derived in an unknown way.
What happened
  - the client gave up in state awaiting-message-2: psk-differs
`,
  ],
  [
    'different PSKs in KKpsk0, from both sides',
    () => both(WRONG_IN_KK),
    `
CAUSE: psk-differs (likely) prologue, pin and static keys agree, so the PSKs differ: the password is wrong on one side, or a stored PSK is stale. A mistake in the Noise handshake looks the same.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
  - the hub gave up in state awaiting-message-1: kk-failed
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
  - the cleartext messages arrived as they were sent, and in that order
  - the client has pinned the static key of this hub
  - the hub has pinned the static key of this client
What would help
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
`,
  ],
  [
    'different PSKs in KKpsk0, from the client',
    () => clientOf(WRONG_IN_KK),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
What would help
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
  - a recording of the next attempt with patterns: ['XXpsk2'], which distinguishes password, pin and static key
  - the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)
`,
  ],
  [
    'different PSKs in KKpsk0, from the client and the password',
    () => clientOf(WRONG_IN_KK, { password: PASSWORD }),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
  - a recording of the next attempt with patterns: ['XXpsk2'], which distinguishes password, pin and static key
  - the hub's recording, or the HELLO and HANDSHAKE as it sent them (--hello, --offer)
`,
  ],
  [
    'different PSKs in KKpsk0, from the hub',
    () => hubOf(WRONG_IN_KK),
    `
I cannot tell why this handshake failed.
What happened
  - the hub gave up in state awaiting-message-1: kk-failed
What would help
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
  - a recording of the next attempt with patterns: ['XXpsk2'], which distinguishes password, pin and static key
  - the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)
`,
  ],
  [
    'different PSKs in KKpsk0, from the hub and the password',
    () =>
      hubOf(
        { ...KK, client: { ...KK.client, ...withPsk(DERIVED) } },
        { password: PASSWORD, hubStatic: HUB_STATIC },
      ),
    `
CAUSE: psk-differs (likely) message 1 opens with the PSK of the password given, so the client uses that; the hub used another: it has another password, derives the PSK wrongly, or mixes it in wrongly.
What happened
  - the hub gave up in state awaiting-message-1: kk-failed
What was checked
  - message 1 is correct: it decrypts with the keys known of both sides
`,
  ],
  [
    'a hub with another key than the pinned one',
    () => both({ ...KK, hub: { ...KK.hub, staticKey: wrongPsk } }),
    `
CAUSE: hub-replaced (certain) the hub knows the password and has a static key other than the pinned one: it was reinstalled, or it is another hub. Find out which, and pin the new key only if it is the same hub. Pinned: ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59; the hub's: 57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
  - the hub gave up in state awaiting-message-1: kk-failed
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
  - the cleartext messages arrived as they were sent, and in that order
`,
  ],
  [
    'a client with another key than the pinned one, and with another pin in its keyring',
    () => both(OTHER_CLIENT_IN_KK, { clientPin: 'ab'.repeat(32) }),
    `
CAUSE: client-key-lost (certain) the client has a static key other than the one that the hub has pinned: it lost its key, or another program uses the identity. Restore the key, or let the operator reset it at the hub. Pinned: a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209; the client's: 57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: kk-refused
  - the hub gave up in state awaiting-message-1: kk-failed
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
  - the cleartext messages arrived as they were sent, and in that order
  - the client has pinned the static key of this hub
What contradicts itself
  - the client's recording has the pin ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59, and the keyring abababababababababababababababababababababababababababababababab: one of them is of another time or another client. The recording counts
`,
  ],
  [
    'a private key of another client',
    () => clientOf({ after: closing(1008) }, { clientStatic: wrongPsk }),
    `
CAUSE: key-pair (likely) the client used the public key a4e09292b651c278b9772c569f5fa9bb13d906b46ab68c9df9dc2b4409f8a209, and the private key given has another, 57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421: its stored public key does not match its private key, so every handshake fails; or the evidence contradicts itself, because the key given belongs to another client.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
`,
  ],
  [
    'a private key of another hub',
    () => hubOf({ client: withPsk(wrongPsk) }, { hubStatic: wrongPsk }),
    `
CAUSE: key-pair (likely) the hub used the public key ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59, and the private key given has another, 57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421: its stored public key does not match its private key, so every handshake fails; or the evidence contradicts itself, because the key given belongs to another hub.
What happened
  - the connection ended while the hub was in state awaiting-message-3, with 1008: dropped
`,
  ],
  [
    'a message 2 that was lost',
    () => both({ wire: losing('hub', 3), after: closing('timeout', 1000) }),
    `
CAUSE: message-lost (certain) a message of the hub never arrived while the client waited: a Noise message.
What happened
  - the connection ended while the client was in state awaiting-message-2: timeout
  - the connection ended while the hub was in state awaiting-message-3, with 1000: dropped
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
`,
  ],
  [
    'a message 1 that was lost, and a hub that closes',
    () => both({ wire: losing('client', 1), after: closing(1008, 1000) }),
    `
CAUSE: message-lost (likely) a message of the client never arrived while the hub waited: a Noise message. Or the hub closed before it could arrive.
What happened
  - the connection ended while the client was in state awaiting-message-2, with 1008: negotiation-refused
  - the connection ended while the hub was in state awaiting-message-1, with 1000: dropped
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
`,
  ],
  [
    'a message 3 that was lost, from the hub',
    () => hubOf({ wire: losing('client', 2) }),
    `
CAUSE: message-order (likely) bytes arrived where message 3 was due, and they are not an envelope: most likely an encrypted message that the client sent after message 3, which was lost or overtaken. Or message 3 was changed on the way, or the client sent something else.
What happened
  - the hub gave up in state awaiting-message-3: bad-utf8
`,
  ],
  [
    'a message 3 that was lost, from both sides',
    () => both({ wire: losing('client', 2) }),
    `
CAUSE: message-order (certain) an encrypted message of the client arrived before a cleartext one, which was lost or overtaken: a Noise message.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
  - the hub gave up in state awaiting-message-3: bad-utf8
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
`,
  ],
  [
    'a transport message that was lost, from the hub',
    () => hubOf({ after: losingTheSecond }),
    `
CAUSE: message-order (likely) 2 transport messages opened, and the next did not: one was lost, repeated, changed, or arrived out of order. The counters of both sides run without gaps.
What happened
  - the hub gave up in state ready: not-authentic
`,
  ],
  [
    'a transport message that was lost, from both sides',
    () => both({ after: losingTheSecond }),
    `
CAUSE: message-order (likely) where the transport message number 3 of the client was due, another one of it arrived: one was lost, repeated or overtaken on the way. Or it was changed, and happens to have the length of the other.
What happened
  - the client's handshake was done
  - the hub gave up in state ready: not-authentic
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
`,
  ],
  [
    'an access key that the hub refuses',
    () => clientOf({ wire: () => [], after: closing(1008) }),
    `
CAUSE: access-refused (likely) the hub closed the connection with 1008 before message 1, in state awaiting-hello: it does not know the access key, has not admitted it yet, or accepts no more clients. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state awaiting-hello, with 1008: access-refused
`,
  ],
  [
    'an access key that a server refuses with HTTP 403',
    () => clientOf({ wire: () => [], after: closing({ status: 403 }) }),
    `
CAUSE: access-refused (likely) the hub answered with HTTP 403 before message 1, in state awaiting-hello: it does not know the access key, has not admitted it yet, or accepts no more clients. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state awaiting-hello, with HTTP 403: access-refused
`,
  ],
  [
    'a hub that takes no more clients',
    () => clientOf({ wire: () => [], after: closing({ code: 1008, reason: 'connection_limit' }) }),
    `
CAUSE: unavailable (likely) the hub closed the connection with 1008: it accepts no connection at the moment. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state awaiting-hello, with 1008: unavailable
`,
  ],
  [
    'a hub that closes after XXpsk2',
    () => clientOf({ after: closing(1008) }),
    `
CAUSE: refused (likely) the hub closed the connection with 1008 after the handshake, before it sent anything: it may have revoked the access key, or it could not open message 3 or the first message of the client, or it may know this client by another key since. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
`,
  ],
  [
    'a hub that closes after XXpsk2, to a fresh key',
    () => clientOf({ client: { staticKeyIsFresh: true }, after: closing(1008) }),
    `
CAUSE: refused (likely) the hub closed with 1008 after message 3, once. If the next connection that is ready ends so too, the hub has most likely pinned another static key of this client. Or the hub reads message 3 wrongly, or failed for another reason; or somebody between client and hub closed. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state ready, with 1008: client-key-refused
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
  - the hub's recording
  - the session that follows, in the same recording
`,
  ],
  [
    'a hub that closes after KKpsk0',
    () => clientOf({ ...KK, after: closing(1008) }),
    `
CAUSE: refused (likely) the hub closed the connection with 1008 after the handshake, before it sent anything: it may have revoked the access key, or it could not open the first message of the client. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
`,
  ],
  [
    'a client and a hub without a common pattern',
    () =>
      clientOf({
        ...KK,
        client: { ...KK.client, patterns: ['KKpsk0'] },
        wire: replacing(',"KKpsk0"', ''),
      }),
    `
CAUSE: offer (likely) no common pattern: the hub offers XXpsk2, and the client may use KKpsk0. Or a message was changed, lost, repeated or overtaken on the way: the hub's recording shows whether.
What happened
  - the client gave up in state awaiting-offer: no-common-pattern
`,
  ],
  [
    'a hub that fails by itself',
    () => hubOf({ hub: { randomBytes: () => new Uint8Array(31) } }),
    `
CAUSE: own-fault (certain) the hub itself failed, with bad-random: nothing is known to be wrong with the other side.
What happened
  - the hub gave up in state awaiting-message-1: bad-random
`,
  ],
  [
    'a client that counts wrongly',
    () =>
      hubOf({ client: { crypto: OTHER_NONCE_ORDER }, ...secrets }, { hubPsk: PSK, hubStatic: HUB_STATIC }),
    `
CAUSE: noise-mistake (certain) the client makes a mistake in the Noise handshake, with which message 3 opens: nonce order: ChaChaPoly’s counter is little-endian, AESGCM’s is big-endian (Noise spec, section 12); here it is the other way round.
What happened
  - the hub gave up in state awaiting-message-3: static-key-not-authentic
`,
  ],
  [
    'a recording that ends early',
    () => hubOf({ wire: losing('hub', 3) }),
    `
The recording ends in the middle of the handshake.
What happened
  - the hub's recording ends in the middle of the handshake
What would help
  - the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)
  - the rest of the recording: a session records its end if the program calls closed() when the connection has gone
`,
  ],
  [
    'a connection without a fault',
    () => both({}),
    `
The recording contains no failure.
What happened
  - the client's handshake was done
  - the hub's handshake was done
`,
  ],
  [
    'a hub that closes after KKpsk0, from the client and its keys',
    () =>
      clientOf({ ...KK, after: closing(1008), ...secrets }, { clientPsk: PSK, clientStatic: CLIENT_STATIC }),
    `
CAUSE: refused (likely) the hub closed the connection with 1008 after the handshake, before it sent anything: it may have revoked the access key, or it could not open the first message of the client. Or a message was changed, lost, repeated or overtaken on the way.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
`,
  ],
  [
    'different PSKs, from the hub and its keys',
    () => hubOf({ client: withPsk(wrongPsk), ...secrets }, { hubPsk: PSK, hubStatic: HUB_STATIC }),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the hub was in state awaiting-message-3, with 1008: dropped
What was checked
  - message 2 is correct: it decrypts with the keys known of both sides
What would help
  - hub-protocol-judge, if the client is an implementation that was never tested with it: a mistake there looks like this
  - the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)
`,
  ],
  [
    'different PSKs, from the hub and its private key',
    () => hubOf({ client: withPsk(wrongPsk), ...secrets }, { hubStatic: HUB_STATIC }),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the hub was in state awaiting-message-3, with 1008: dropped
What would help
  - the password (--password or --identity), or the PSKs (--psk, --hub-psk)
  - the client's recording, or the HELLO and HANDSHAKE as it saw them (--hello, --offer)
`,
  ],
  [
    'a private key of another hub, from the client and its keys',
    () =>
      clientOf(
        { after: closing(1008), ...secrets },
        { clientPsk: PSK, clientStatic: CLIENT_STATIC, hubStatic: wrongPsk },
      ),
    `
CAUSE: key-pair (likely) the hub used the public key ce8d3ad1ccb633ec7b70c17814a5c76ecd029685050d344745ba05870e587d59, and the private key given has another, 57db4b359f23ae5e146e4e2512056704722506348c150c14753d0c933d04d421: its stored public key does not match its private key, so every handshake fails; or the evidence contradicts itself, because the key given belongs to another hub.
What happened
  - the connection ended while the client was in state ready, with 1008: refused
`,
  ],
  [
    'a hub that counts wrongly, and a client with a fresh key',
    () =>
      both({
        client: { ...KK.client, patterns: ['XXpsk2'], staticKeyIsFresh: true },
        hub: { crypto: OTHER_NONCE_ORDER },
      }),
    `
I cannot tell why this handshake failed.
What happened
  - the connection ended while the client was in state ready, with 1008: client-key-refused
  - the hub gave up in state awaiting-message-3: static-key-not-authentic
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
  - the cleartext messages arrived as they were sent, and in that order
  - the client has pinned the static key of this hub
What would help
  - the private keys that the handshake needs: a recording of the next failure with ephemeralKey: true, and the static key of the side that made it (--keyring of the client, --hub-key of the hub)
`,
  ],
  [
    'a transport message of two chunks that was lost, from both sides',
    () =>
      both({
        after: ({ client, hub }) => {
          for (const message of client.sendJson({ text: 'x'.repeat(70_000) })) hub.receive(message);
          client.sendJson(22);
          for (const message of client.sendJson(3)) hub.receive(message);
        },
      }),
    `
CAUSE: message-order (likely) where the transport message number 4 of the client was due, another one of it arrived: one was lost, repeated or overtaken on the way. Or it was changed, and happens to have the length of the other.
What happened
  - the client's handshake was done
  - the hub gave up in state ready: not-authentic
What was checked
  - the client saw HELLO and HANDSHAKE as the hub sent them
`,
  ],
];

for (const [what, evidence, text] of SAID) {
  test(`says exactly this of ${what}`, () => {
    const broken = toText(why(evidence()));
    assert.is(
      broken
        .replace(/\n {2,4}(?=[^ -])/g, ' ')
        .replace(/\n+/g, '\n')
        .trim(),
      text.trim(),
    );
  });
}

const recording = folder.write('right.jsonl', play().lines.client.join('\n'));
const other = folder.write('other.jsonl', play().lines.hub.join('\n'));
const key = folder.write('key', 'battery');

for (const [what, args, message] of [
  ['no recording', [], /one or two recordings/],
  ['three recordings', [recording, recording, recording], /one or two recordings/],
  ['two recordings of one side', [recording, recording], /of the same side/],
  ['a recording that is missing', ['/nowhere.jsonl'], /no such file/],
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
