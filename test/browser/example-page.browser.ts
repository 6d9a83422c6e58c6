/** examples/page in Chromium: what a person does there, one step after the other. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ServedPage, servePage } from '../../examples/page/server.ts';
import { dialNow, isIn, KEEP_SEEN, pausesAt } from './page-steps.ts';
import { Tab } from './tab.ts';

const test = suite('the page');
let served: ServedPage;
let tab: Tab;
test.before(async () => {
  served = await servePage(0);
  tab = await Tab.open();
  await tab.navigate(served.url, pausesAt(0.4) + KEEP_SEEN); // the first pause takes 2 s
});
test.after(async () => {
  await tab.stop();
  await served.stop();
});

const state = (name: string): Promise<void> => tab.until(isIn(name));
const seen = (what: string): Promise<unknown[]> => tab.evaluate(`seen.${what}`);
const text = (id: string): Promise<string> => tab.evaluate(`document.getElementById('${id}').innerText`);
/** What was drawn for the last connection: names of messages, and notes. */
const drawn = async (): Promise<string[]> => {
  const lines = await tab.evaluate<string[]>(`Array.from(document.querySelectorAll('#sequence li'), (row) =>
    (row.querySelector('p') ?? row.querySelector('.name')).textContent + ' ' + (row.querySelector('.inside')?.textContent ?? ''))`);
  return lines
    .map((line) => line.trim())
    .slice(lines.map((line) => /^Connection/.test(line)).lastIndexOf(true));
};

test('says what is wrong with an identity', async () => {
  await tab.until(`document.getElementById('trouble')?.checkVisibility()`);
  await tab.evaluate(`document.getElementById('identity-text').focus()`);
  await tab.paste('{"access_key":"a"}');
  await tab.click('#identity-form .primary');
  assert.match(await text('identity-error'), /\(identity-password\)\.$/);
  await tab.evaluate(`document.getElementById('identity-text').value = ''`);
});

test('shows what was pasted without its secrets, by keyboard alone', async () => {
  await tab.evaluate(`document.getElementById('identity-text').focus()`);
  await tab.paste(JSON.stringify(served.identity));
  await tab.press('Tab');
  await tab.press('Enter');
  await state('idle');
  assert.match(await text('redacted'), /"accessKey": "\[redacted\]",\s+"password": "\[redacted\]"/);
  assert.is(await tab.evaluate(`document.getElementById('identity-text').value`), '');
});

test('derives the PSK in a worker, shows the progress, and makes first contact', async () => {
  await tab.press('Enter'); // the focus is on Connect
  await state('ready');
  assert.equal(await seen('status'), ['Not connected', 'Connecting', 'Deriving the pre-shared key', 'Ready']);
  assert.ok(new Set(await seen('progress')).size > 20);
  const rows = await drawn();
  assert.match(rows.splice(3, 1)[0]!, /^Derives the pre-shared key from the password: \d+\.\d{3} s$/);
  assert.is(rows.splice(5, 1)[0], 'Stores the pre-shared key');
  assert.match(rows.splice(5, 1)[0]!, /^Pins the hub’s key: (?:[0-9a-f]{4} ){4}…$/);
  assert.equal(rows, [
    'Connection 1',
    'HELLO',
    'HANDSHAKE, the offer',
    'Noise message 1, XXpsk2',
    'Noise message 2',
    'Noise message 3',
    'Encrypted HELLO',
    'Ready: XXpsk2, 25519_ChaChaPoly_SHA256',
  ]);
});

async function say(utterance: string): Promise<void> {
  await tab.evaluate(`document.getElementById('utterance').focus()`);
  await tab.paste(utterance);
  await tab.press('Enter');
  await tab.until(
    `document.querySelector('#conversation :last-child .text').textContent === 'You said: ${utterance}'`,
  );
}

test('sends what a person says, and shows the reply', async () => {
  await say('What is on today?');
  const [sent, spoken, handled] = (await drawn()).slice(-3);
  assert.is(sent, 'Encrypted recognizer_loop:utterance');
  assert.is(spoken, 'Encrypted speak');
  assert.is(handled, 'Encrypted ovos.utterance.handled');
});

test('dials again after the policy’s pause when the connection is cut', async () => {
  await tab.evaluate('seen.status.length = 0');
  await tab.click('#cut');
  await tab.until(`seen.status.at(-1) === 'Ready'`);
  assert.equal(await seen('status'), ['Waiting, then dialling again', 'Connecting', 'Ready']);
  const countdown = await seen('countdown');
  assert.is(countdown[0], '2.0 s');
  assert.ok(countdown.length > 5);
});

test('comes back with KKpsk0 when the hub has restarted', async () => {
  await tab.click('#power');
  await tab.until(`document.getElementById('power').textContent === 'Start the hub'`);
  await tab.until(`!(${isIn('ready')})`);
  await tab.click('#power');
  await tab.until(`document.getElementById('power').textContent === 'Stop the hub'`);
  await dialNow(tab, 'ready');
  assert.ok((await drawn()).includes('Ready: KKpsk0, 25519_ChaChaPoly_SHA256'));
  await say('Still there?');
});

test('asks a person when the hub has a new key, and connects once its pin is dropped', async () => {
  await tab.click('#new-key');
  await dialNow(tab, 'asking');
  assert.match(await text('question'), /hub-key-changed/);
  await tab.click('#pins button');
  await tab.click('#retry');
  await state('ready');
  assert.ok((await drawn()).includes('Ready: XXpsk2, 25519_ChaChaPoly_SHA256'));
});

test('rests when a person leaves', async () => {
  await tab.click('#leave');
  await state('left');
  assert.equal((await drawn()).slice(-3), ['Close', 'Ended: dropped', 'Rests, until a person connects']);
});

test('shows no secret anywhere', async () => {
  const { access_key, password } = served.identity as { access_key: string; password: string };
  const page = await tab.evaluate<string>('document.documentElement.outerHTML');
  assert.not.ok(page.includes(access_key) || page.includes(password));
});

test('names every control, and fits on a narrow screen', async () => {
  interface Node {
    role?: { value: string };
    name?: { value: string };
  }
  const { nodes } = await tab.call<{ nodes: Node[] }>('Accessibility.getFullAXTree');
  const controls = nodes.filter(({ role }) =>
    /^(button|textbox|link|progressbar|region)$/.test(role?.value ?? ''),
  );
  assert.ok(controls.length > 5);
  assert.equal(
    controls.filter(({ name }) => !name?.value),
    [],
  );
  await tab.resize(320, 640);
  const { scrollWidth, clientWidth } = await tab.evaluate<{ scrollWidth: number; clientWidth: number }>(
    '(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)',
  );
  assert.is(scrollWidth, clientWidth);
});

test('did nothing that its Content-Security-Policy forbids, and threw nothing', () => {
  assert.equal(tab.problems, []);
});

test.run();
