/** What all commands have in common: help, usage errors, exit status. */
import { spawn } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { localhostCertificate } from '../../cli/src/certificate.ts';
import { readAuthority, reasonOf } from '../../cli/src/files.ts';
import { hiding, hidingInJson } from '../../cli/src/hidden.ts';
import { shown, shownList } from '../../cli/src/shown.ts';
import { keyringOf } from '../../cli/src/talk.ts';
import { replacing } from '../world/replacing.ts';
import { CLI, Folder, IDENTITY, run, runProgram } from './run.ts';

const NAMES = ['hub', 'ask', 'chat', 'psk', 'provision', 'topics', 'redact', 'doctor', 'explain'];

test('--help lists the commands, and help on each has examples, options and exit status', async () => {
  const { code, stdout } = await run(['--help']);
  assert.is(code, 0);
  for (const name of NAMES) {
    assert.match(stdout, new RegExp(`^  ${name} `, 'm'));
    const help = await run([name, '--help']);
    assert.is(help.code, 0);
    assert.match(help.stdout, new RegExp(`^  hub-protocol ${name} `, 'm'));
    assert.match(help.stdout, /^ {2}--json /m);
    assert.match(help.stdout, /^Exit status$/m);
    for (const args of [
      ['help', name],
      ['-h', name],
      [name, '-h'],
    ])
      assert.equal(await run(args), help);
  }
});

test('help fits the width of a terminal', async () => {
  for (const name of [undefined, ...NAMES]) {
    const { stdout } = await run(['help', ...(name === undefined ? [] : [name])]);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `${name}: ${line}`);
  }
});

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../cli/package.json', import.meta.url), 'utf8'));
  for (const flag of ['--version', '-v'])
    assert.equal(await runProgram([flag]), { code: 0, stdout: `hub-protocol ${version}\n`, stderr: '' });
});

const folder = new Folder();
test.after(() => folder.remove());
mkdirSync(folder.at('folder'));
const FILES: readonly (readonly [name: string, contents: string | object])[] = [
  ['identity', IDENTITY],
  ['wss-only', { ...IDENTITY, mqtt: undefined }],
  ['no-password', { ...IDENTITY, password: undefined }],
  ['plain', { ...IDENTITY, data_plane_endpoints: { wss: 'ws://hub.example' }, mqtt: undefined }],
  ['no-owner', { static_key_is_fresh: true, static_key: '11'.repeat(32) }],
  ['empty-owner', { static_key_is_fresh: true, static_key: '11'.repeat(32), access_key: '' }],
  ['no-payload', { msg_type: 'hello' }],
  ['no-node-id', { msg_type: 'hello', payload: {} }],
  ['text', 'correct horse'],
  ['public', '{}'],
];
for (const [name, contents] of FILES) folder.write(name, contents);
chmodSync(folder.at('public'), 0o640);
folder.write('outside.json', {
  ...{ version: 1, access_key: IDENTITY.access_key, static_public_key: '09'.padEnd(64, '0') },
  ...{ static_key_is_fresh: true, pins: [], psks: [] },
});

const PASSWORD_HINT =
  'a password is never an argument, since other users can see those. It is asked for, or read from standard input';
const CREDENTIALS = 'the URL contains credentials: leave them out, the access key is taken from the identity';
const TIMEOUT = '--timeout expects a number of seconds, at most 86400';
const PIN = '--pin expects a node id, =, and a public key as 64 hex digits';
const SAME_FILE = 'the identity, --out, --connection and --slot have a file in common: name each another';
const PROVISION = 'provision D/identity --out D/new';

/** Command lines, split at spaces, that cannot run, and all that is said of them. `D` is a folder. */
const REFUSED: readonly (readonly [args: string, said: string])[] = [
  ['', 'expected a command: hub, ask, chat, psk, provision, pair, topics, redact, doctor, explain'],
  [
    'horse',
    'there is no command "horse"; there are hub, ask, chat, psk, provision, pair, topics, redact, doctor, explain',
  ],
  ['aks', 'there is no command "aks": did you mean ask?'],
  ['prov', 'there is no command "prov": did you mean provision?'],
  ['help aks', 'there is no command "aks": did you mean ask?'],
  [
    'x'.repeat(60),
    `there is no command "${'x'.repeat(57)}…"; there are hub, ask, chat, psk, provision, pair, topics, redact, doctor, explain`,
  ],
  ['psk --password=horse', `Unknown option '--password': ${PASSWORD_HINT}`],
  ['explain --password=horse', `Option '--password' does not take an argument: ${PASSWORD_HINT}`],
  ['psk --passwrod', "Unknown option '--passwrod': see --help"],
  ['psk --node-id', "Option '--node-id <value>' argument missing: see --help"],
  ['hub /dev/null/a b', 'expected at most one folder: see --help'],
  ['hub /dev/null/a --port x', '--port expects 1 to 65535, got x'],
  ...['65536', '0', '=-1', '1.5'].map(
    (port) =>
      [
        `hub /dev/null/a --port${port.replace(/^(?!=)/, ' ')}`,
        `--port expects 1 to 65535, got ${port.replace('=', '')}`,
      ] as const,
  ),
  ...['ask', 'ask D/identity'].map(
    (args) => [args, 'expected an identity and a question: see --help'] as const,
  ),
  ...['chat', 'chat D/identity b'].map((args) => [args, 'expected one identity: see --help'] as const),
  [
    'ask D/wss-only hello --ca /nowhere',
    'cannot read the certificate authority, /nowhere: there is no such file. Is the path right?',
  ],
  [
    'ask D/wss-only hello --keyring D/none/keyring',
    'cannot write the keyring to the directory D/none: there is no such file. Is the path right?',
  ],
  [
    'ask D/wss-only hello --keyring D/identity/keyring',
    'cannot write the keyring to the directory D/identity: a part of its path is not a directory',
  ],
  [
    'ask D/wss-only hello --keyring D/folder',
    'D/folder: the keyring cannot be read (EISDIR): its path is that of a folder. Name a file in it',
  ],
  [
    'chat D/wss-only --keyring D/identity',
    'the keyring does not have version 1: find out which program wrote it (keyring-version)',
  ],
  ['chat D/none', 'cannot read the identity, D/none: there is no such file. Is the path right?'],
  ['chat D/text', 'D/text: the identity is not JSON: it does not begin with { (identity-not-json)'],
  [
    'chat D/plain',
    'the address in this identity does not use TLS: pass --allow-plaintext if the hub is on this machine',
  ],
  ['psk horse', 'expected no arguments but options: the password is asked for, and --node-id names the hub'],
  ...['psk', 'psk --node-id=', 'psk --node-id a --hello D/no-node-id'].map(
    (args) => [args, 'expected one of --node-id ID and --hello FILE: see --help'] as const,
  ),
  ...['hax', 'constructor'].map(
    (format) =>
      [`psk --node-id a --format ${format}`, `--format expects hex or base64, got ${format}`] as const,
  ),
  ['psk --hello D/none', 'cannot read the HELLO, D/none: there is no such file. Is the path right?'],
  ['psk --hello D/no-payload', 'D/no-payload is neither the HELLO nor its payload'],
  [
    'psk --hello D/no-node-id',
    'D/no-node-id: the HELLO has no node_id: check that the address belongs to a hub (missing-node-id)',
  ],
  ['psk --hello D/text', 'D/text: not JSON: a value is missing after 0 bytes (bad-json)'],
  [
    'psk --node-id a --identity D/no-password',
    'D/no-password: the identity’s password is missing, empty or not a string: issue it again, or pass the identity and not a copy (identity-password)',
  ],
  ...['provision', 'provision D/identity D/identity --out D/new'].map(
    (args) => [args, 'expected one file of an identity: see --help'] as const,
  ),
  ['provision D/identity', 'expected --out FILE: where to write the keyring'],
  ...['=00', 'a=00', `=${'11'.repeat(32)}`, 'a'].map((pin) => [`${PROVISION} --pin ${pin}`, PIN] as const),
  [`${PROVISION} --pin a=${'0'.repeat(64)}`, '--pin got a key that no hub can have: copy it again'],
  [`${PROVISION} --hub=`, '--hub expects a node id, got nothing'],
  [
    `${PROVISION} --keyring D/none/keyring`,
    'cannot read the keyring, D/none/keyring: there is no such file. Is the path right?',
  ],
  [
    `${PROVISION} --pin a=${'11'.repeat(32)} --pin a=${'22'.repeat(32)}`,
    'two different pins for "a": make sure which is right, and start from a keyring without the other',
  ],
  [`${PROVISION} --slot D/new`, SAME_FILE],
  ['provision D/identity --out D/identity --force', SAME_FILE],
  [`${PROVISION} --slot D/identity --force`, SAME_FILE],
  [
    'provision D/identity --out D/text',
    'D/text exists. If you mean to replace the file, add --force. Replacing a keyring locks the client out of every hub that has pinned its static key; --keyring keeps that key',
  ],
  ['provision D/identity --out D/folder --force', 'D/folder is not a file: choose another path'],
  [
    'provision D/identity --out D/public --force',
    'others may read D/public, and may have read its secrets: find out, then chmod 600 it or remove it',
  ],
  [
    'provision D/identity --out D/none/new',
    'cannot write D/none/new to the directory D/none: there is no such file. Is the path right?',
  ],
  ...['topics', 'topics a b'].map((args) => [args, 'expected one file of an identity: see --help'] as const),
  [
    'topics D/wss-only',
    'D/wss-only has no MQTT broker: it needs an address, a user name and a password of one',
  ],
  ...['redact', 'redact a b'].map(
    (args) => [args, 'expected one file of an identity or a keyring: see --help'] as const,
  ),
  ...['no', 'empty'].map(
    (which) => [`redact D/${which}-owner`, 'the keyring has no access_key: restore it'] as const,
  ),
  ['redact D/folder', 'cannot read the identity or keyring, D/folder: it is a directory. Name a file in it'],
  ['redact D/text/x', 'cannot read the identity or keyring, D/text/x: a part of its path is not a directory'],
  ...['doctor', 'doctor wss://hub', 'doctor D/identity wss://b c'].map(
    (args) =>
      [
        args,
        'expected an identity, which has the access key, and after it at most one URL: see --help',
      ] as const,
  ),
  ['doctor D/identity hub', 'expected a URL such as wss://hub.local:5678'],
  ['doctor D/identity wss://a:b@hub', CREDENTIALS],
  ['doctor D/identity wss://hub?x=1&AUTHORIZATION=AKEY', CREDENTIALS],
  ['doctor D/identity --protocol ftp', '--protocol expects wss, https or mqtt'],
  ...['https', 'mqtt'].map(
    (name) =>
      [
        `doctor D/identity wss://hub --protocol ${name}`,
        'a URL is the address of a WebSocket: leave --protocol out',
      ] as const,
  ),
  ...['soon', '0', '=', '86401', '=-1', 'Infinity'].map(
    (time) => [`doctor D/identity --timeout${time.replace(/^(?!=)/, ' ')}`, TIMEOUT] as const,
  ),
  [
    'doctor D/identity --ask hello',
    '--ask needs the keyring of the client with its private key, and D/identity.keyring.json is none: "ask" creates one',
  ],
  [
    'doctor D/identity --timeout 86400 --ask hello', // a day is not too long
    '--ask needs the keyring of the client with its private key, and D/identity.keyring.json is none: "ask" creates one',
  ],
  [
    'doctor D/identity --ask hello --keyring D/outside.json',
    '--ask needs the keyring of the client with its private key, and D/outside.json is none: "ask" creates one',
  ],
  [
    'doctor D/identity --keyring D/none',
    'cannot read the keyring, D/none: there is no such file. Is the path right?',
  ],
  ...['explain', 'explain a b c'].map(
    (args) => [args, 'expected one or two recordings: see --help'] as const,
  ),
  [
    'explain D/identity',
    'D/identity is not a recording: its first line has no role. See docs/reference/commands.md, "Recordings"',
  ],
  ['explain D/none', 'cannot read the recording, D/none: there is no such file. Is the path right?'],
];

for (const [line, said] of REFUSED) {
  test(`refuses “${line}”, and says exactly why`, async () => {
    const args = line === '' ? [] : line.split(' ').map((word) => word.replace(/\bD\//, `${folder.path}/`));
    const { code, stdout, stderr } = await run(args, '');
    assert.equal([code, stdout, stderr.split(folder.path).join('D')], [2, '', `hub-protocol: ${said}\n`]);
  });
}

test('shows no control character of an argument in an error', async () => {
  const { code, stderr } = await run(['redact', '/nowhere\u001b[2J\u009b.json']);
  assert.is(code, 2);
  assert.not.match(stderr, /[^\P{C}\n]/u);
});

/** What is said when standard input fails with an error that is not of the commands. */
async function saidOf(error: Error): Promise<string> {
  const stdin = new Readable({ read: () => stdin.destroy(error) });
  const { code, stderr } = await replacing(process, { stdin }, () => run(['psk', '--node-id', 'hub-1']));
  assert.is(code, 2);
  assert.not.match(stderr, 'correct horse');
  return stderr;
}

test('shows of an error that is not its own neither the message nor what that quotes, and nothing if it has no place', async () => {
  const error = new RangeError('correct horse');
  const said = 'a defect of hub-protocol-cli, please report it: RangeError';
  assert.match(await saidOf(error), new RegExp(`${said} \\n(?: {4}at .*\\n){2,}$`));
  assert.match(await saidOf(Object.assign(error, { stack: String(error) })), new RegExp(`${said}\\s*$`));
});

test('exits with the status of the command, as a program', async () => {
  const { code, stdout, stderr } = await runProgram(['redact', '/nowhere.json']);
  assert.is(code, 2);
  assert.is(stdout, '');
  assert.match(stderr, /^hub-protocol: cannot read the identity or keyring, \/nowhere\.json/);
});

test('ends without a word when the reader of its output has left, such as head', async () => {
  const child = spawn(process.execPath, [CLI, '--help']);
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  await once(child, 'close');
  assert.is(stderr, '');
});

test('says of each error of the system what to do, and quotes none', () => {
  for (const [code, reason] of [
    ['ENOENT', 'there is no such file. Is the path right?'],
    ['EISDIR', 'it is a directory. Name a file in it'],
    ['ENOTDIR', 'a part of its path is not a directory'],
    ['EACCES', 'access denied. Are you its owner?'],
    ['EEXIST', 'there is a file of that name'],
    ['ENOSPC', 'the disk is full. Nothing was changed'],
    ['EROFS', 'EROFS'],
    [undefined, 'unknown error'],
  ] as const) {
    assert.is(reasonOf(Object.assign(new Error('correct horse'), { code })), reason);
  }
});

test('shows a text of a peer quoted, on one line, and cut', () => {
  for (const [text, expected] of [
    ['hub-1', '"hub-1"'],
    ['', '""'],
    ['a"b\n\u001b\u009b', '"a\\"b\\n\\u001b\\u009b"'],
    ['x'.repeat(58), `"${'x'.repeat(58)}"`],
    ['x'.repeat(59), `"${'x'.repeat(57)}…"`],
  ] as const) {
    assert.is(shown(text), expected);
  }
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `n${index}`);
  for (const [texts, expected] of [
    [[], 'none'],
    [['XXpsk2', 'a b', ''], 'XXpsk2, "a b", ""'],
    [['x'.repeat(60), 'x'.repeat(61)], `${'x'.repeat(60)}, "${'x'.repeat(57)}…"`],
    [names(20), names(20).join(', ')],
    [names(22), `${names(20).join(', ')}, and 2 more`],
  ] as const) {
    assert.is(shownList(texts), expected);
  }
});

test('hides an access key in each of its forms, and nothing that is like it', () => {
  for (const [key, text, expected] of [
    ['k.1', 'k.1 K.1 kx1 <k%2E1> %6b%2e%31', '[access key] [access key] kx1 <[access key]> [access key]'],
    ['k.1', '6b2e31 6B2E31', '[access key] [access key]'], // hex of six digits
    ['k.1', 'ay4x', 'ay4x'], // base64 of four characters
    ['ab', 'ab 6162', '[access key] 6162'],
    ['a\tb', 'a\tb a%09b a%9b', '[access key] [access key] a%9b'],
    ['é1', 'é1 %c3%a91 %C3%A9%31', '[access key] [access key] [access key]'],
    ['a+b/c', 'a+b/c aab/c', '[access key] aab/c'],
  ] as const) {
    assert.is(hiding(key)(text), expected);
  }
  assert.is(
    hidingInJson('k.1')('{"k.1":["k.1",{"x":"6B2E31"}],"n":1.50,"t":true,"z":null}'),
    '{"[access key]":["[access key]",{"x":"[access key]"}],"n":1.50,"t":true,"z":null}',
  );
});

test('names the keyring after the identity', () => {
  for (const [identity, keyring] of [
    ['a/kiosk.json', 'a/kiosk.keyring.json'],
    ['kiosk', 'kiosk.keyring.json'],
    ['kiosk.json.old', 'kiosk.json.old.keyring.json'],
  ] as const) {
    assert.is(keyringOf(identity), keyring);
  }
});

test('trusts the authority that was given, or else the one of a hub of the same user', async () => {
  mkdirSync(folder.at('hub'));
  const [ofHub, other] = [(await localhostCertificate()).ca, (await localhostCertificate()).ca];
  for (const name of ['ca.pem', 'hub.json']) chmodSync(folder.write(`hub/${name}`, ofHub), 0o600);
  const identity = folder.at('hub/identity.json');
  const given = folder.write('given.pem', `${other}\n${ofHub}`);
  assert.is(readAuthority(undefined, identity), ofHub);
  assert.is(readAuthority(given, identity), `${other}\n${ofHub}`);
  assert.is(readAuthority(undefined, folder.at('identity')), undefined);
  const stranger = process.getuid!() + 1;
  replacing(process, { getuid: () => stranger }, () =>
    assert.is(readAuthority(undefined, identity), undefined),
  );
});

test('reads an authority as DER, or as PEM with a comment in any encoding', async () => {
  const { raw, fingerprint256 } = new X509Certificate((await localhostCertificate()).ca);
  const given = folder.at('given.der');
  const pem = Buffer.from(new X509Certificate(raw).toString());
  for (const contents of [raw, Buffer.concat([Buffer.of(0x23, 0xe9, 0x0a), pem])]) {
    writeFileSync(given, contents);
    const read = readAuthority(given, folder.at('identity.json'))!;
    assert.is(new X509Certificate(read).fingerprint256, fingerprint256);
  }
});

test.run();
