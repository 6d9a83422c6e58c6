/** examples/hub-chat.js in Chromium and Firefox: a talk, its end, the keyboard, a screen reader, and pairing by QR code. */
import { derivePsk } from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';
import { type HubClient, type HubServer, serveHub } from 'hub-protocol-client/hub';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { Folder, run } from '../cli/run.ts';
import { Firefox } from './firefox.ts';
import { runPage } from './run-page.ts';
import type { Tab } from './tab.ts';

const SCRIPTS = ['hub-chat-page.js', '../../client/dist/derive-worker-in-browser.js'];
const NOTICE = 'An AI answers.';
const PASSWORD = 'correct horse';
const nodeId = 'hub-1';
const psk = derivePsk({ crypto, password: PASSWORD, nodeId });
const staticKey = randomBytes(32);
const clients = new Map<string, HubClient>();
let hub: HubServer;
let firefox: Firefox;

const identityOf = (access_key: string): object => ({
  ...{ access_key, password: PASSWORD, site_id: 'lobby', ai_disclosure: { en: NOTICE } },
  data_plane_endpoints: { wss: hub.url },
});

const answer = (utterance: string): string | Promise<string> =>
  utterance === 'wait' ? new Promise(() => {}) : `You said: ${utterance}`;

test.before(async () => {
  hub = await serveHub({ nodeId, staticKey, clients, answer });
  firefox = await Firefox.open();
});
test.after(async () => {
  await firefox.stop();
  await hub.stop();
});

/** What the page posts, as a client of its own. */
function show(act: string, browser?: Firefox, opened?: (tab: Tab) => void): Promise<unknown> {
  const key = `${act}-${browser === undefined ? 'chromium' : 'firefox'}`;
  clients.set(key, { psk });
  const query = new URLSearchParams({ act, plaintext: '', identity: JSON.stringify(identityOf(key)) });
  return runPage(SCRIPTS, `?${query}`, { browser, ...(opened && { opened }) });
}

for (const name of ['Chromium', 'Firefox']) {
  const browser = (): Firefox | undefined => (name === 'Firefox' ? firefox : undefined);

  test(`${name} shows the notice before the answer`, async () => {
    assert.equal(await show('talk', browser()), {
      ...{ ending: 'handled', status: 'Connected.', rest: '' },
      lines: ['You: one', NOTICE, 'You said: one'],
    });
  });

  test(`${name} ends a question at “Stop”, and for another question`, async () => {
    assert.equal(await show('stop', browser()), {
      endings: ['interrupted', 'interrupted', 'handled'],
      lines: ['You: wait', NOTICE, 'You: wait', 'You: two', 'You said: two'],
    });
  });
}

const CHAT = `document.querySelector('hub-chat')?.shadowRoot`;

/** Asks with the keyboard alone, then looks for what a screen reader would miss. Returns what it has met. */
async function useKeyboard(tab: Tab): Promise<object> {
  await tab.until(`${CHAT}?.querySelector('[role=status]')?.textContent === 'Connected.'`);
  const focused: string[] = [];
  while (focused.length < 5) {
    await tab.press('Tab');
    focused.push(await tab.evaluate(`${CHAT}.activeElement.name || ${CHAT}.activeElement.textContent`));
    if (focused.at(-1) !== 'text') continue;
    await tab.paste('hello');
    await tab.press('Enter');
    await tab.until(`${CHAT}.textContent.includes('You said: hello')`);
  }
  const violations = await tab.violations();
  const { nodes } = await tab.call<{ nodes: { role?: { value: string }; name?: { value: string } }[] }>(
    'Accessibility.getFullAXTree',
  );
  const named = nodes.map(({ role, name }) => `${role?.value} ${name?.value}`);
  const parts = ['log Talk', 'textbox Question', 'button Ask', 'button Stop', 'button Speak'];
  return { focused, violations, missing: parts.filter((part) => !named.includes(part)) };
}

test('can be used with the keyboard alone, and axe finds nothing', async () => {
  const post = (tab: Tab) => (met: unknown) =>
    tab.evaluate(`void fetch('/result', { method: 'POST', body: ${JSON.stringify(JSON.stringify(met))} })`);
  const met = show('keys', undefined, (tab) => {
    useKeyboard(tab)
      .catch(String)
      .then(post(tab))
      .catch(() => {}); // the tab is closed then
  });
  const focused = ['', 'text', 'Ask', 'stop', 'speak'];
  assert.equal(await met, { focused, violations: [], missing: [] });
});

/** The address behind the code that a person scans. */
async function codeFor(accessKey: string, key = crypto.x25519.publicKey(staticKey)): Promise<string> {
  const folder = new Folder();
  const pin = `${nodeId}=${Buffer.from(key).toString('hex')}`;
  const file = folder.write('identity.json', identityOf(accessKey));
  const { stdout } = await run([
    'pair',
    file,
    'http://localhost/',
    '--pin',
    pin,
    '--allow-plaintext',
    '--json',
  ]);
  folder.remove();
  return new URL(JSON.parse(stdout).link).hash;
}

test('a page that a code opens pins the hub before first contact, and shows the code no longer', async () => {
  clients.set('paired', { psk });
  const query = `?act=pair&plaintext=${await codeFor('paired')}`;
  const { address, lines, status } = (await runPage(SCRIPTS, query)) as { [what: string]: string };
  assert.equal([lines, status], [['You: hello', NOTICE, 'You said: hello'], 'Connected.']);
  assert.not.ok(address!.includes(PASSWORD) || address!.includes('#'), address);
});

test('a page that a code opens trusts no hub but that of the code, though it knows the password', async () => {
  clients.set('misled', { psk });
  const query = `?act=refused&plaintext=${await codeFor('misled', crypto.x25519.publicKey(randomBytes(32)))}`;
  const { lines, status } = (await runPage(SCRIPTS, query)) as { [what: string]: string };
  assert.equal(lines, []);
  assert.match(status!, /does not recognise its hub/);
  assert.is(clients.get('misled')!.clientKey, undefined);
});

test.run();
