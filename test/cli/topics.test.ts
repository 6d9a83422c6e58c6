/** `hub-protocol topics` and `redact`: what they show, and that secrets show only where that is asked for. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Folder, IDENTITY, run, runProgram, SECRETS } from './run.ts';

const test = suite('topics and redact');
const folder = new Folder();
test.after(() => folder.remove());
const identity = folder.write('identity.json', IDENTITY);

function showsNoSecret(output: string): void {
  for (const secret of SECRETS) assert.not.ok(output.includes(secret), `${secret} in ${output}`);
}

test('topics hides the access key', async () => {
  const { code, stdout, stderr } = await run(['topics', identity]);
  assert.is(code, 0, stderr);
  assert.match(stdout, /^publish {4}hivemind\/hub-1\/\[access key\]\/in$/m);
  assert.match(stdout, /^broker {5}mqtts:\/\/broker\.example {2}\(port 8883, with TLS\)$/m);
  assert.match(stdout, /^client id {2}client-\[access key\]$/m);
  showsNoSecret(stdout);
});

test('a short secret hides no ordinary word of a topic, only a level that is the secret', async () => {
  const mqtt = { ...IDENTITY.mqtt, username: 'hub', password: 'b', topic_prefix: 'hivemind/hub-1/b' };
  const short = folder.write('short.json', { ...IDENTITY, access_key: 'b', mqtt });
  assert.match((await run(['topics', short])).stdout, /^publish {4}hivemind\/hub-1\/\[access key\]\/in$/m);
});

test('topics hides the crypto key, too, if it is in a topic', async () => {
  const crypto_key = 'CRYPTO-KEY-12345';
  const mqtt = { ...IDENTITY.mqtt, topic_prefix: `hivemind/${crypto_key}/AKEY-12345` };
  const { stdout } = await run(['topics', folder.write('crypto.json', { ...IDENTITY, crypto_key, mqtt })]);
  assert.match(stdout, /^status {5}hivemind\/\[access key\]\/\[access key\]\/status$/m);
});

test('topics hides the password of the broker, too, if it is in a topic', async () => {
  const mqtt = {
    ...IDENTITY.mqtt,
    password: 'BROKER-12345',
    topic_prefix: 'hivemind/BROKER-12345/AKEY-12345',
  };
  const { stdout } = await run(['topics', folder.write('broker.json', { ...IDENTITY, mqtt })]);
  assert.match(stdout, /^status {5}hivemind\/\[access key\]\/\[access key\]\/status$/m);
});

test('topics hides a level in which the access key comes after something else', async () => {
  const mqtt = { ...IDENTITY.mqtt, topic_prefix: 'hivemind/client-AKEY-12345/AKEY-12345' };
  const { stdout } = await run(['topics', folder.write('inside.json', { ...IDENTITY, mqtt })]);
  assert.match(stdout, /^publish {4}hivemind\/\[access key\]\/\[access key\]\/in$/m);
});

test('topics prints them for scripts with --secrets', async () => {
  const { stdout } = await run(['topics', identity, '--secrets', '--json', '--name', 'kiosk']);
  assert.equal(JSON.parse(stdout), {
    publish: 'hivemind/hub-1/AKEY-12345/in',
    subscribe: 'hivemind/hub-1/AKEY-12345/out',
    status: 'hivemind/hub-1/AKEY-12345/status',
    qos: 1,
    broker: { url: 'mqtts://broker.example', host: 'broker.example', port: 8883, tls: true },
    client_id: 'kiosk-AKEY-12345',
  });
});

test('topics refuses a broker without TLS, unless it is allowed', async () => {
  const plain = folder.write('plain.json', {
    ...IDENTITY,
    mqtt: { ...IDENTITY.mqtt, endpoint: 'mqtt://broker' },
  });
  const refused = await run(['topics', plain]);
  assert.is(refused.code, 2);
  assert.match(refused.stderr, /or pass --allow-plaintext if .*plaintext-endpoint/);
  assert.match((await run(['topics', plain, '--allow-plaintext'])).stdout, /port 1883, without TLS/);
});

test('topics says that an identity has no broker', async () => {
  const { mqtt: _, ...rest } = IDENTITY;
  const { code, stderr } = await run(['topics', folder.write('wss.json', rest)]);
  assert.is(code, 2);
  assert.match(stderr, /has no MQTT broker/);
});

test('redact shows an identity without its secrets', async () => {
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await run(['redact', identity, ...args]);
    assert.is(code, 0);
    assert.is(JSON.parse(stdout).siteId, 'lobby');
    showsNoSecret(stdout);
  }
});

const [secret, psk, pin] = ['11', '22', '33'].map((digits) => digits.repeat(32)) as [string, string, string];
const KEYRING = {
  version: 1,
  access_key: 'AKEY-12345',
  static_key: secret,
  static_key_is_fresh: false,
  pins: [{ node_id: 'hub-1', key: pin }],
  psks: [{ node_id: 'hub\n\u001b[31m-2', key: psk, is_provisioned: false }],
};

test('redact shows a keyring without its secrets, from standard input too', async () => {
  const keyring = JSON.stringify(KEYRING);
  const { stdout } = await runProgram(['redact', '-'], keyring);
  showsNoSecret(stdout);
  assert.not.ok(stdout.includes(secret) || stdout.includes(psk) || stdout.includes('\u001b'));
  assert.ok(stdout.includes(pin));
  const json = JSON.parse((await runProgram(['redact', '-', '--json'], keyring)).stdout);
  assert.equal(json.psks, [{ node_id: 'hub\n\u001b[31m-2', is_provisioned: false }]);
});

test('redact says whether a hub has accepted the key, and where each PSK comes from', async () => {
  const show = async (keyring: object): Promise<string> =>
    (await run(['redact', folder.write('keyring.json', keyring)])).stdout;
  const used = await show(KEYRING);
  assert.match(used, /^client key .*accepted by a hub\)$/m);
  assert.match(used, /^PSK .*, derived, for "hub/m);
  const psks = [{ ...KEYRING.psks[0]!, is_provisioned: true }];
  const made = await show({ ...KEYRING, static_key_is_fresh: true, psks });
  assert.match(made, /^client key .*no hub has accepted it yet\)$/m);
  assert.match(made, /^PSK .*, provisioned, for "hub/m);
  const bare = await show({ ...KEYRING, pins: [], psks: [] });
  assert.match(bare, /^pins {8}none: .*\nPSKs {8}none: /m);
});

for (const [what, path] of [
  ['a device that never ends', '/dev/zero'],
  ['a pipe that never ends', '-'],
] as const) {
  test(`redact refuses ${what}`, async () => {
    const input = path === '-' ? '0'.repeat(2 ** 25 + 1) : '';
    const { code, stdout, stderr } = await runProgram(['redact', path], input);
    assert.is(code, 2);
    assert.is(stdout, '');
    assert.match(stderr, /longer than 32 MiB/);
  });
}

test('redact shows no control character, in text or in JSON', async () => {
  const path = folder.write('hostile.json', { ...IDENTITY, site_id: '\u009b31m\u202e\u2028', '\u009b': 1 });
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await run(['redact', path, ...args]);
    assert.is(code, 0);
    assert.not.match(stdout, /[^\P{C}\n]|[\u2028\u2029]/u);
    assert.is(JSON.parse(stdout).siteId, '\u009b31m\u202e\u2028');
  }
});

for (const [what, contents] of [
  ['neither an identity nor JSON', 'correct horse'],
  ['an identity without a password', { access_key: 'AKEY-12345' }],
  ['a keyring without an access key', { static_key_is_fresh: true, static_key: 'correct horse' }],
  [
    'a keyring with an unknown field',
    { static_key_is_fresh: true, access_key: 'AKEY-12345', version: 1, x: 'correct horse' },
  ],
] as const) {
  test(`redact refuses ${what}, and quotes nothing of it`, async () => {
    const { code, stdout, stderr } = await run(['redact', folder.write('wrong.json', contents)]);
    assert.is(code, 2);
    assert.is(stdout, '');
    showsNoSecret(stderr);
  });
}

test.run();
