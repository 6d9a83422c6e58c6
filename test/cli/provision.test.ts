/** `hub-protocol provision`: the keyring and the connection it writes, who can read them, and what it refuses. */
import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename } from 'node:path';
import workers from 'node:worker_threads';
import { parseIdentity } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { connect } from 'hub-protocol-client';
import { serveHub } from 'hub-protocol-client/hub';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nodeCrypto } from '../../src/crypto/node.ts';
import { type Keyring, parseKeyring, readSlots } from '../../src/index.ts';
import { replacing as replacingIn } from '../world/replacing.ts';
import { deriveQuickly, Folder, IDENTITY, quickly, type Run, run, SECRETS } from './run.ts';

const test = suite('provision');
let folder: Folder;
let deriveAgain = (): void => {};
let identity = '';
let out = '';

test.before.each(() => {
  folder = new Folder();
  deriveAgain = deriveQuickly();
  identity = folder.write('identity.json', IDENTITY);
  out = folder.at('keyring.json');
});
test.after.each(() => {
  deriveAgain();
  folder.remove();
});

const KEY = '2fe57da347cd62431528daac5fbb290730fff684afc4cfc2ed90995f58cb3b74';
/** By argon2-cffi: the first vector of `vectors/argon2id.json`. */
const PSK = 'a102089b094aedde10ae279c95568c9cf982f20f3a96d48402f33ef4b1f5ec41';
/** What is derived quickly in its place. */
const DERIVED = quickly(IDENTITY.password as string, nodeCrypto.sha256(Buffer.from('hub-1')));

function provision(...args: string[]): Promise<Run> {
  return run(['provision', identity, '--out', out, ...args]);
}

function written(): Keyring {
  return parseKeyring(readFileSync(out), 'AKEY-12345');
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function assertShowsNoSecret({ stdout, stderr }: Run): void {
  for (const secret of [
    ...SECRETS,
    ...written().psks.map(({ key }) => hex(key)),
    hex(written().staticKey.privateKey!),
  ]) {
    assert.not.ok((stdout + stderr).includes(secret));
  }
}

test('writes a keyring with a static key, the PSK of each hub, and pins, and shows no secret', async () => {
  deriveAgain();
  const shown = await provision('--hub', 'hub-1', '--pin', `a=b=${KEY}`);
  const { code, stderr } = shown;
  assertShowsNoSecret(shown);
  assert.is(stderr, '');
  assert.is(code, 0);
  const { psks, pins, staticKey, staticKeyIsFresh } = written();
  assert.equal(
    psks.map(({ nodeId, key, isProvisioned }) => [nodeId, hex(key), isProvisioned]),
    [['hub-1', PSK, true]],
  );
  assert.equal(
    pins.map(({ nodeId, key }) => [nodeId, hex(key)]),
    [['a=b', KEY]],
  );
  const { privateKey, publicKey } = staticKey;
  assert.equal(nodeCrypto.x25519.publicKey(privateKey!), publicKey);
  assert.is(staticKeyIsFresh, true);
});

test('a bridge needs no password: a client with the keyring alone is answered, and a thief learns no password', async () => {
  assert.is((await provision('--hub', 'hub-1')).code, 0);
  const clients = new Map([['AKEY-12345', { psk: DERIVED }]]);
  const server = await serveHub({ tls: undefined, nodeId: 'hub-1', staticKey: randomBytes(32), clients });
  const issued = { access_key: 'AKEY-12345', password: 'none', data_plane_endpoints: { wss: server.url } };
  const client = connect({
    identity: parseIdentity(issued),
    keyring: out,
    allowPlaintext: true,
    derive: () => Promise.reject(new Error('nothing is to be derived')),
  });
  try {
    assert.match((await client.ask('hello')).reply.text, 'hello');
    assert.is(written().psks.length, 1);
    assert.not.match(readFileSync(out, 'latin1'), /correct horse/);
  } finally {
    client.end();
    await server.stop();
  }
});

test('issues a password of 144 random bits to an identity without one, shows none, and keeps it the next time', async () => {
  const { password: _, ...others } = IDENTITY;
  const issue = async (): Promise<string> => {
    identity = folder.write('issued.json', { ...others, password: null });
    chmodSync(identity, 0o600);
    const { code, stdout } = await provision('--hub', 'hub-1', '--force');
    assert.is(code, 0);
    const { password, ...rest } = JSON.parse(readFileSync(identity, 'utf8'));
    assert.equal(rest, others);
    assert.is(Buffer.from(password, 'base64url').length, 18);
    assert.not.ok(stdout.includes(password));
    assert.match(stdout, `the new password is in ${identity}: give the hub the same\n`);
    assert.equal(
      written().psks[0]!.key,
      new Uint8Array(quickly(password, nodeCrypto.sha256(Buffer.from('hub-1')))),
    );
    const again = await provision('--hub', 'hub-1', '--force');
    assert.not.match(again.stdout, 'new password');
    assert.is(JSON.parse(readFileSync(identity, 'utf8')).password, password);
    return password;
  };
  assert.is.not(await issue(), await issue());
});

test('issues no password into a file that others may read', async () => {
  const { password: _, ...others } = IDENTITY;
  identity = folder.write('issued.json', others);
  chmodSync(identity, 0o644);
  const { code, stderr } = await provision();
  assert.is(code, 2);
  assert.match(stderr, `others may read ${identity}`);
  assert.not.ok(existsSync(out));
});

test('makes a new static key each time', async () => {
  await provision();
  const first = written().staticKey;
  out = folder.at('other.json');
  await provision();
  assert.not.equal(written().staticKey, first);
});

test('shows what it has written, and where', async () => {
  const [connection, slot] = [folder.at('connection.json'), folder.at('slot.txt')];
  const args = ['--pin', `hub-1=${KEY}`, '--connection', connection, '--slot', slot];
  const { stdout } = await provision(...args);
  const key = hex(written().staticKey.publicKey!);
  assert.is(
    stdout,
    `\
client key  ${key}  (public; no hub has accepted it yet)
pin         ${KEY}  of "hub-1"
PSKs        none: the client derives them from the password
written to  ${out} and ${connection} and ${slot}, readable by their owner only
`,
  );
  const json = JSON.parse((await provision(...args, '--keyring', out, '--force', '--json')).stdout);
  assert.equal(json, {
    file: out,
    connection_file: connection,
    slot_file: slot,
    site_id: 'lobby',
    client_key: key,
    static_key_is_fresh: true,
    pins: [{ node_id: 'hub-1', key: KEY }],
    psks: [],
  });
});

test('lets only the owner read the keyring, whatever the umask', async () => {
  const umask = process.umask(0);
  await provision();
  process.umask(umask);
  assert.is(statSync(out).mode & 0o777, 0o600);
});

/** Provisions with --connection, and returns what was written for the device. */
async function connectionFor(issued: object, ...args: string[]): Promise<{ [field: string]: unknown }> {
  const path = folder.write('issued.json', issued);
  const file = folder.at('connection.json');
  const { code, stderr } = await run(['provision', path, '--out', out, '--connection', file, ...args]);
  assert.is(stderr, '');
  assert.is(code, 0);
  return JSON.parse(readFileSync(file, 'utf8'));
}

test('resolves the WebSocket URL of a device, with its authorization', async () => {
  const { url, ...rest } = await connectionFor(IDENTITY, '--name', 'kiosk');
  assert.equal(rest, { access_key: 'AKEY-12345', site_id: 'lobby' });
  const { origin, searchParams } = new URL(url as string);
  assert.is(origin, 'wss://hub.example:5678');
  assert.is(Buffer.from(searchParams.get('authorization')!, 'base64').toString(), 'kiosk:AKEY-12345');
});

const MQTT = {
  publish: 'hivemind/hub-1/AKEY-12345/in',
  subscribe: 'hivemind/hub-1/AKEY-12345/out',
  status: 'hivemind/hub-1/AKEY-12345/status',
  qos: 1,
  broker: { url: 'mqtts://broker.example', host: 'broker.example', port: 8883, tls: true },
  client_id: 'client-AKEY-12345',
  username: 'mqtt-user',
  password: 'mqtt-password',
};

test('resolves broker and topics with --mqtt', async () => {
  const mqtt = { ...IDENTITY.mqtt, qos: 2 };
  assert.equal(await connectionFor({ ...IDENTITY, mqtt }, '--mqtt', '--name', 'kiosk'), {
    access_key: 'AKEY-12345',
    site_id: 'lobby',
    mqtt: { ...MQTT, qos: 2, client_id: 'kiosk-AKEY-12345' },
  });
});

test('resolves broker and topics if the hub serves only MQTT', async () => {
  const { mqtt } = await connectionFor({ ...IDENTITY, data_plane_endpoints: {} });
  assert.equal(mqtt, MQTT);
});

test('passes on the AI disclosure, also to a device that uses MQTT', async () => {
  const ai_disclosure = { en: 'You are talking to an AI.' };
  for (const args of [[], ['--mqtt', '--force']]) {
    const connection = await connectionFor({ ...IDENTITY, ai_disclosure }, ...args);
    assert.equal(connection.ai_disclosure, ai_disclosure);
  }
});

test('lets only the owner read the connection, whatever the umask, and names its file', async () => {
  const umask = process.umask(0);
  const file = folder.at('connection.json');
  const { stdout } = await provision('--connection', file, '--json');
  process.umask(umask);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.is(JSON.parse(stdout).connection_file, file);
  for (const secret of SECRETS) assert.not.ok(stdout.includes(secret));
});

test('replaces no connection without --force, and then writes no keyring either', async () => {
  const file = folder.write('connection.json', 'mine');
  const { code, stderr } = await provision('--connection', file);
  assert.is(code, 2);
  assert.match(stderr, /connection\.json exists/);
  assert.is(readFileSync(file, 'utf8'), 'mine');
  assert.is(existsSync(out), false);
});

for (const [what, issued, args, code] of [
  [
    'an address without TLS',
    { data_plane_endpoints: { wss: 'ws://hub.example' }, mqtt: undefined },
    [],
    /plaintext-endpoint/,
  ],
  ['an address that is not a URL', { data_plane_endpoints: { wss: 'hub' } }, [], /bad-endpoint/],
  ['an identity without an address', { data_plane_endpoints: {}, mqtt: undefined }, [], /no-endpoint/],
  ['--mqtt for an identity without a broker', { mqtt: undefined }, ['--mqtt'], /no-endpoint/],
  [
    'topics of another client',
    { mqtt: { ...IDENTITY.mqtt, c2s_topic: 'hivemind/hub-1/other/in' } },
    ['--mqtt'],
    /topic-out-of-scope/,
  ],
] as const) {
  test(`refuses ${what} for a connection, before it writes anything`, async () => {
    identity = folder.write('issued.json', { ...IDENTITY, ...issued });
    const { code: status, stderr } = await provision('--connection', folder.at('connection.json'), ...args);
    assert.is(status, 2);
    assert.match(stderr, code);
    assert.equal(readdirSync(folder.path).sort(), ['identity.json', 'issued.json']);
  });
}

test('accepts an address without TLS with --allow-plaintext', async () => {
  const issued = { ...IDENTITY, data_plane_endpoints: { wss: 'ws://hub.example' }, mqtt: undefined };
  const { url } = await connectionFor(issued, '--allow-plaintext');
  assert.match(url as string, /^ws:\/\/hub\.example/);
});

test('refuses to write two things into one file', async () => {
  const file = folder.at('file');
  for (const args of [
    ['--connection', out],
    ['--slot', out],
    ['--connection', file, '--slot', file],
  ]) {
    assert.match((await provision(...args)).stderr, /have a file in common/);
  }
  assert.is(existsSync(out), false);
});

test('writes with --slot what changes in the keyring, as both slots contain it, readable by the owner only', async () => {
  const file = folder.at('slot.txt');
  const shown = await provision('--pin', `hub-1=${KEY}`, '--slot', file, '--json');
  assert.is(JSON.parse(shown.stdout).slot_file, file);
  assertShowsNoSecret(shown);
  const slot = readFileSync(file, 'utf8');
  for (const slots of [
    [slot, slot],
    [undefined, slot],
  ]) {
    const text = readSlots(slots);
    assert.not.ok(text.includes(hex(written().staticKey.privateKey!)));
    assert.equal(parseKeyring(readFileSync(out), 'AKEY-12345', text), written());
    assert.is(parseKeyring(readFileSync(out), 'AKEY-12345', text).pins.length, 1);
  }
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.match((await provision('--slot', file, '--force')).stdout, 'slot.txt');
});

test('does not replace a slot without --force, and then writes no keyring either', async () => {
  const file = folder.write('slot.txt', 'mine');
  assert.is((await provision('--slot', file)).code, 2);
  assert.is(readFileSync(file, 'utf8'), 'mine');
  assert.is(existsSync(out), false);
});

test('keeps the identity that it reads, however --out, --connection or --slot writes its path', async () => {
  const issued = readFileSync(identity, 'utf8');
  symlinkSync(identity, folder.at('link.json'));
  for (const path of [
    identity,
    `${folder.path}/../${basename(folder.path)}/identity.json`,
    folder.at('link.json'),
  ]) {
    for (const args of [
      ['--out', path],
      ['--out', out, '--connection', path],
      ['--out', out, '--slot', path],
    ]) {
      const { code, stderr } = await run(['provision', identity, ...args, '--force']);
      assert.is(code, 2, args.join(' '));
      assert.match(stderr, /have a file in common/);
      assert.is(readFileSync(identity, 'utf8'), issued);
    }
  }
});

test('replaces no file without --force', async () => {
  await provision();
  const before = readFileSync(out, 'utf8');
  const { code, stderr } = await provision();
  assert.is(code, 2);
  assert.match(stderr, /locks the client out/);
  assert.is(readFileSync(out, 'utf8'), before);
  assert.is((await provision('--force')).code, 0);
  assert.not.equal(readFileSync(out, 'utf8'), before);
});

test('--keyring keeps the static key and the pins of an existing keyring, and --json shows no secret', async () => {
  await provision('--pin', `hub-1=${KEY}`);
  const before = written();
  const json = await provision('--keyring', out, '--force', '--hub', 'hub-1', '--json');
  assert.is(json.code, 0);
  assertShowsNoSecret(json);
  const fields = ['file', 'site_id', 'client_key', 'static_key_is_fresh', 'pins', 'psks'];
  assert.equal(Object.keys(JSON.parse(json.stdout)), fields);
  assert.equal(written().staticKey, before.staticKey);
  assert.equal(written().pins, before.pins);
  assert.is(written().psks.length, 1);
});

test('refuses to replace a file that its group or others could read or write', async () => {
  await provision();
  for (const mode of [0o640, 0o604, 0o620, 0o602, 0o644]) {
    chmodSync(out, mode);
    const { code, stderr } = await provision('--force');
    assert.is(code, 2, mode.toString(8));
    assert.match(stderr, /others may read/);
  }
});

test('writes nothing through a link that leads nowhere', async () => {
  symlinkSync(folder.at('victim'), out);
  for (const args of [[], ['--force']]) {
    assert.is((await provision(...args)).code, 2);
    assert.is(existsSync(folder.at('victim')), false);
  }
});

/** Calls a function of node:fs with another one in its place. */
const replacing = <Name extends 'openSync' | 'renameSync'>(
  name: Name,
  by: (original: (typeof fs)[Name]) => (typeof fs)[Name],
  body: () => Promise<void>,
): Promise<void> => replacingIn(fs, { [name]: by(fs[name]) }, body);

test('replaces no file that appears while it writes', async () => {
  const appearing =
    (original: typeof fs.renameSync): typeof fs.renameSync =>
    (from, to) => {
      writeFileSync(out, 'mine');
      original(from, to);
    };
  await replacing('renameSync', appearing, async () => {
    assert.match((await provision()).stderr, /there is a file of that name/);
  });
  assert.is(readFileSync(out, 'utf8'), 'mine');
  assert.equal(readdirSync(folder.path).sort(), ['identity.json', 'keyring.json']);
});

test('replaces no keyring that a running program has changed since it was read', async () => {
  await provision();
  const changed = readFileSync(out, 'utf8').replace('}', '} ');
  const changing =
    (original: typeof fs.openSync): typeof fs.openSync =>
    (path, flags, mode) => {
      if (typeof flags === 'number' && (flags & fs.constants.O_CREAT) !== 0) writeFileSync(out, changed);
      return original(path, flags, mode);
    };
  await replacing('openSync', changing, async () => {
    for (const base of [out, `${folder.path}/./keyring.json`]) {
      const { code, stderr } = await provision('--keyring', base, '--force', '--pin', `hub-1=${KEY}`);
      assert.is(code, 2);
      assert.match(stderr, /another program has changed/);
      writeFileSync(out, changed.replace('} ', '}'), { mode: 0o600 });
    }
  });
  writeFileSync(out, changed);
  assert.is(readFileSync(out, 'utf8'), changed);
  assert.is((await provision('--keyring', out, '--force', '--pin', `hub-1=${KEY}`)).code, 0);
  assert.equal(readdirSync(folder.path).sort(), ['identity.json', 'keyring.json']);
});

for (const name of ['connection', 'slot']) {
  test(`writes no keyring if the ${name} cannot be written`, async () => {
    const file = folder.at(`${name}.json`);
    const failing =
      (original: typeof fs.renameSync): typeof fs.renameSync =>
      (from, to) => {
        if (to === file) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
        original(from, to);
      };
    await replacing('renameSync', failing, async () => {
      const { code, stderr } = await provision(`--${name}`, file);
      assert.is(code, 2);
      assert.match(stderr, `${name}.json: the disk is full`);
    });
    assert.equal(readdirSync(folder.path), ['identity.json']);
  });
}

for (const name of ['keyring.json', 'connection.json']) {
  test(`looks at ${name} before it derives anything`, async () => {
    folder.write(name, 'mine');
    let derives = false;
    class Worker {
      constructor() {
        derives = true;
        throw new Error('it then derives in slices');
      }
    }
    const args = ['--hub', 'hub-1', '--connection', folder.at('connection.json')];
    const { code, stderr } = await replacingIn(workers, { Worker }, () => provision(...args));
    assert.equal([code, derives], [2, false]);
    assert.match(stderr, `${name} exists`);
    assert.is(readFileSync(folder.at(name), 'utf8'), 'mine');
  });
}

test('takes the node id of a hub from its HELLO', async () => {
  const hello = folder.write('hello.json', { msg_type: 'hello', payload: { node_id: 'hub-1' } });
  await provision('--hello', hello);
  assert.equal(
    written().psks.map(({ nodeId, key, isProvisioned }) => [nodeId, hex(key), isProvisioned]),
    [['hub-1', hex(DERIVED), true]],
  );
});

test('refuses a directory below one in which others may write', async () => {
  mkdirSync(folder.at('shared/own'), { recursive: true });
  chmodSync(folder.at('shared'), 0o777);
  chmodSync(folder.at('shared/own'), 0o700);
  symlinkSync(folder.at('shared/own'), folder.at('link'));
  for (const path of ['shared/own/keyring.json', 'link/keyring.json']) {
    out = folder.at(path);
    const { code, stderr } = await provision();
    assert.is(code, 2);
    assert.match(stderr, /others may write to the directory .*shared, /);
  }
});

test('refuses a directory in which its group or others may write', async () => {
  mkdirSync(folder.at('shared'));
  out = folder.at('shared/keyring.json');
  for (const mode of [0o777, 0o720, 0o702]) {
    chmodSync(folder.at('shared'), mode);
    const { code, stderr } = await provision();
    const said = 'so they could replace the file: chmod go-w it, or choose another';
    const place = realpathSync(folder.at('shared'));
    assert.equal(
      [code, stderr],
      [2, `hub-protocol: others may write to the directory ${place}, ${said}\n`],
      mode.toString(8),
    );
  }
  chmodSync(folder.at('shared'), 0o1777); // as /tmp: nobody else can replace the file
  assert.is((await provision()).code, 0);
});

test('refuses the keyring of another identity', async () => {
  await provision();
  const other = folder.write('other.json', { ...IDENTITY, access_key: 'AKEY-99999' });
  const { code, stderr } = await run(['provision', other, '--keyring', out, '--out', folder.at('new.json')]);
  assert.is(code, 2);
  assert.match(stderr, /keyring-other-identity/);
});

test('refuses a seventeenth pin', async () => {
  const pins = Array.from({ length: 17 }, (_, index) => ['--pin', `hub-${index}=${KEY}`]).flat();
  const { code, stderr } = await provision(...pins);
  assert.is(code, 2);
  assert.match(stderr, /keys of 16 hubs.*keyring-full/);
});

test.run();
