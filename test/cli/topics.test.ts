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

test('topics shows where a client connects, without the access key', async () => {
  const { code, stdout, stderr } = await run(['topics', identity]);
  assert.is(code, 0, stderr);
  assert.is(
    stdout,
    `\
publish    hivemind/hub-1/[access key]/in
subscribe  hivemind/hub-1/[access key]/out
status     hivemind/hub-1/[access key]/status
QoS        1
broker     mqtts://broker.example  (port 8883, with TLS)
client id  client-[access key]
`,
  );
  const json = JSON.parse((await run(['topics', identity, '--json', '--name', 'kiosk'])).stdout);
  assert.equal(json, {
    publish: 'hivemind/hub-1/[access key]/in',
    subscribe: 'hivemind/hub-1/[access key]/out',
    status: 'hivemind/hub-1/[access key]/status',
    qos: 1,
    broker: { url: 'mqtts://broker.example', host: 'broker.example', port: 8883, tls: true },
    client_id: 'kiosk-[access key]',
  });
});

/** The prefix of the topics, what else the identity has, and what is shown of the prefix. */
const PREFIXES: readonly (readonly [
  what: string,
  prefix: string,
  more: object,
  mqtt: object,
  shown: string,
])[] = [
  ['the access key', 'a/client-AKEY-12345/AKEY-12345', {}, {}, 'a/[access key]/[access key]'],
  ['the crypto key', 'CRYPTO-1/AKEY-12345', { crypto_key: 'CRYPTO-1' }, {}, '[access key]/[access key]'],
  ['the password', 'my-horse/AKEY-12345', { password: 'my-horse' }, {}, '[access key]/[access key]'],
  ['the user name', 'mqtt-user/AKEY-12345', {}, {}, '[access key]/[access key]'],
  [
    'the password of the broker',
    'BROKER-1/AKEY-12345',
    {},
    { password: 'BROKER-1' },
    '[access key]/[access key]',
  ],
  ['six characters', 'xsecretx/AKEY-12345', { password: 'secret' }, {}, '[access key]/[access key]'],
  ['five characters as a level', 'horse/AKEY-12345', { password: 'horse' }, {}, '[access key]/[access key]'],
  ['five characters only as a level', 'horses/AKEY-12345', { password: 'horse' }, {}, 'horses/[access key]'],
];
for (const [what, topic_prefix, more, mqtt, expected] of PREFIXES) {
  test(`topics hides ${what} in a topic`, async () => {
    const issued = { ...IDENTITY, ...more, mqtt: { ...IDENTITY.mqtt, ...mqtt, topic_prefix } };
    const { stdout } = await run(['topics', folder.write('secret.json', issued)]);
    const [publish, subscribe, status] = stdout.split('\n').map((line) => line.slice(11));
    assert.equal(
      [publish, subscribe, status],
      ['in', 'out', 'status'].map((end) => `${expected}/${end}`),
    );
  });
}

test('a short secret hides no ordinary word of a topic, only a level that is the secret', async () => {
  const mqtt = { ...IDENTITY.mqtt, username: 'hub', password: 'b', topic_prefix: 'hivemind/hub-1/b' };
  const short = folder.write('short.json', { ...IDENTITY, access_key: 'b', mqtt });
  assert.match((await run(['topics', short])).stdout, /^publish {4}hivemind\/hub-1\/\[access key\]\/in$/m);
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

test('topics takes the quality of service of the identity', async () => {
  for (const qos of [0, 2]) {
    const issued = folder.write('qos.json', { ...IDENTITY, mqtt: { ...IDENTITY.mqtt, qos } });
    assert.match((await run(['topics', issued])).stdout, new RegExp(`^QoS {8}${qos}$`, 'm'));
    assert.is(JSON.parse((await run(['topics', issued, '--json'])).stdout).qos, qos);
  }
});

test('redact shows an identity without its secrets', async () => {
  for (const args of [[], ['--json']]) {
    const { code, stdout } = await run(['redact', identity, ...args]);
    assert.is(code, 0);
    const hidden = '[redacted]';
    assert.equal(JSON.parse(stdout), {
      accessKey: hidden,
      password: hidden,
      siteId: 'lobby',
      defaultPort: 5679,
      defaultPath: '',
      dataPlaneEndpoints: { wss: 'wss://hub.example:5678' },
      protocols: { wss: true, https: false, mqtt: true },
      mqtt: {
        endpoint: 'mqtts://broker.example',
        username: hidden,
        password: hidden,
        tls: true,
        qos: 1,
        accessKey: hidden,
        topicPrefix: hidden,
        hashTopics: false,
      },
    });
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
  assert.equal(json, {
    client_key: '7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13',
    static_key_is_fresh: false,
    pins: [{ node_id: 'hub-1', key: pin }],
    psks: [{ node_id: 'hub\n\u001b[31m-2', is_provisioned: false }],
  });
});

test('redact shows of a keyring its keys that are public, and of each PSK where it comes from', async () => {
  const show = async (keyring: object): Promise<string> =>
    (await run(['redact', folder.write('keyring.json', keyring)])).stdout;
  const key = '7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13';
  assert.is(
    await show(KEYRING),
    `\
client key  ${key}  (public; accepted by a hub)
pin         ${pin}  of "hub-1"
PSK         [redacted], derived, for "hub\\n\\u001b[31m-2"
`,
  );
  const psks = [{ ...KEYRING.psks[0]!, is_provisioned: true }];
  assert.is(
    await show({ ...KEYRING, static_key_is_fresh: true, pins: [], psks }),
    `\
client key  ${key}  (public; no hub has accepted it yet)
PSK         [redacted], provisioned, for "hub\\n\\u001b[31m-2"
pins        none: the client trusts each hub that knows the password, at first contact
`,
  );
  assert.match(
    await show({ ...KEYRING, psks: [] }),
    /\nPSKs {8}none: the client derives them from the password\n$/,
  );
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
