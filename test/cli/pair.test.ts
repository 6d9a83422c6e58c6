/** `hub-protocol pair`: the code, as another program reads it, and where the key of the hub comes from. */
import { chmodSync } from 'node:fs';
import { createKeyring, parseIdentity, serializeKeyring, updateKeyring } from 'hub-protocol';
import { nodeCrypto, randomBytes } from 'hub-protocol/node';
import jsqr from 'jsqr';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Folder, IDENTITY, type Run, run } from './run.ts';

const test = suite('pair');
const PAGE = 'https://kiosk.example/chat.html';
const KEY = randomBytes(32);
const PIN = `hub-1=${Buffer.from(KEY).toString('hex')}`;
let folder: Folder;
let identity = '';
test.before.each(() => {
  folder = new Folder();
  identity = folder.write('identity.json', IDENTITY);
});
test.after.each(() => folder.remove());

const pair = (...args: string[]): Promise<Run> => run(['pair', identity, PAGE, ...args]);

/** What a camera reads from a terminal. */
function read(terminal: string): string {
  const lines = terminal.split('\n').filter((line) => /^[ █▀▄]+$/.test(line));
  const scale = 4;
  const [width, height] = [lines[0]!.length * scale, lines.length * 2 * scale];
  const image = new Uint8ClampedArray(width * height * 4);
  for (let i = 0; i < width * height; i++) {
    const [x, y] = [Math.floor((i % width) / scale), Math.floor(i / width / scale)];
    const half = lines[y >> 1]![x]!;
    const isLight = half === '█' || half === (y % 2 === 0 ? '▀' : '▄');
    image.set([isLight ? 255 : 0, isLight ? 255 : 0, isLight ? 255 : 0, 255], 4 * i);
  }
  const found = (jsqr as unknown as typeof jsqr.default)(image, width, height);
  return found?.data ?? '';
}

test('shows a code with the identity and the key of its hub, behind the address of the page', async () => {
  const { code, stdout } = await pair('--pin', PIN);
  assert.is(code, 0);
  const link = new URL(read(stdout));
  assert.is(link.origin + link.pathname, PAGE);
  const { hub_id, hub_key, ...issued } = Object.fromEntries(new URLSearchParams(link.hash.slice(1)));
  assert.equal([hub_id, hub_key], ['hub-1', Buffer.from(KEY).toString('base64')]);
  const { accessKey, password, siteId } = parseIdentity(issued);
  assert.equal([accessKey, password, siteId], [IDENTITY.access_key, IDENTITY.password, 'lobby']);
  assert.is(JSON.parse((await pair('--pin', PIN, '--json')).stdout).link, link.href);
});

test('gives the text about AI in the language of the person', async () => {
  folder.write('identity.json', {
    ...IDENTITY,
    ai_disclosure: { en: 'An AI answers.', fr: 'Une IA répond.' },
  });
  for (const [lang, text] of [
    ['en-us', 'An AI answers.'],
    ['fr-ca', 'Une IA répond.'],
  ] as const) {
    const fields = new URLSearchParams(
      new URL(read((await pair('--pin', PIN, '--lang', lang)).stdout)).hash.slice(1),
    );
    assert.equal([fields.get('lang'), fields.get('ai_disclosure')], [lang.slice(0, 2), text]);
  }
});

test('takes the key of the hub from the keyring of another client', async () => {
  const fresh = createKeyring({ accessKey: 'other', staticKey: randomBytes(32), crypto: nodeCrypto });
  const pinned = updateKeyring(fresh, { type: 'pin', nodeId: 'hub-1', key: KEY });
  const keyring = folder.write('other.keyring.json', serializeKeyring(pinned));
  const { stdout } = await pair('--keyring', keyring, '--json');
  assert.is(JSON.parse(stdout).hub_key, Buffer.from(KEY).toString('hex'));
  folder.write('other.keyring.json', serializeKeyring(fresh));
  assert.match((await pair('--keyring', keyring)).stderr, 'has the keys of 0 hubs');
});

test('takes the key of the hub that the command hub runs, unless that has a client already', async () => {
  const staticKey = randomBytes(32);
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const keys = { accessKey: 'a', psk: hex(randomBytes(32)), staticKey: hex(staticKey) };
  chmodSync(folder.write('hub.json', keys), 0o600);
  const json = JSON.parse((await pair('--json')).stdout);
  assert.equal([json.node_id, json.hub_key], ['hub.localhost', hex(nodeCrypto.x25519.publicKey(staticKey))]);
  folder.write('hub.json', { ...keys, clientKey: hex(KEY) });
  assert.match((await pair()).stderr, 'another client uses this identity');
});

test('refuses what would lead the password astray, and says what to do', async () => {
  for (const [page, told] of [
    ['http://kiosk.example/', 'a page without TLS gets no password'],
    ['kiosk.example', 'is not the address of a page'],
    [`${PAGE}#top`, 'must end before #'],
  ] as const) {
    const { code, stderr } = await run(['pair', identity, page, '--pin', PIN]);
    assert.is(code, 2);
    assert.match(stderr, told);
  }
  assert.match((await pair()).stderr, 'expected the key of the hub');
  assert.is((await run(['pair', identity, 'http://localhost:8000/', '--pin', PIN])).code, 0);
});

test('refuses to draw a code that the terminal would wrap', async () => {
  const { columns } = process.stdout;
  process.stdout.columns = 40;
  const { code, stderr } = await pair('--pin', PIN);
  process.stdout.columns = columns;
  assert.is(code, 2);
  assert.match(stderr, /the code has \d\d columns, and this terminal 40/);
});

test.run();
