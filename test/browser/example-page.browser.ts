/** examples/page in Chromium: what a person does there, one step after the other. */
import { readFileSync } from 'node:fs';
import { derivePsk } from 'hub-protocol';
import { nodeCrypto } from 'hub-protocol/node';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ServedPage, servePage } from '../../examples/page/server.ts';
import { isIn, KEEP_SEEN, pausesAt } from './page-steps.ts';
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
  served.stop();
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

test('reports what is wrong with an identity', async () => {
  await tab.until(`document.getElementById('fill-in')?.checkVisibility()`);
  await tab.evaluate(`document.getElementById('identity-text').focus()`);
  await tab.paste('{"access_key":"a"}');
  await tab.click('#identity-form .primary');
  assert.match(await text('identity-error'), /\. \(identity-password\)$/);
  await tab.evaluate(`document.getElementById('identity-text').value = ''`);
});

let identity: { access_key: string; password: string; ai_disclosure: string };

test('shows the pasted identity without its secrets, by keyboard alone', async () => {
  await tab.click('#fill-in');
  const issued = await tab.evaluate<string>(`document.getElementById('identity-text').value`);
  identity = JSON.parse(issued);
  await tab.evaluate(`document.getElementById('identity-text').select()`);
  await tab.paste(issued);
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

const conversation = (): Promise<string[]> =>
  tab.evaluate(
    `Array.from(document.querySelectorAll('#conversation p'), (line) => line.textContent.replace(/\\s+/g, ' ').trim())`,
  );

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
  assert.equal((await drawn()).slice(-3), [
    'Encrypted recognizer_loop:utterance',
    'Encrypted speak',
    'Encrypted ovos.utterance.handled',
  ]);
});

test('shows the parts of an answer as they come, and stops it', async () => {
  await tab.evaluate(`document.getElementById('utterance').focus()`);
  await tab.paste('Tell me a story');
  await tab.press('Enter');
  const last = `document.querySelector('#conversation :last-child .text').textContent`;
  await tab.until(`${last} === 'It asked a hub for the time.'`);
  await tab.click('#stop');
  await tab.until(`!document.getElementById('stop').checkVisibility()`);
  await say('And now?');
  assert.equal((await conversation()).slice(-5), [
    'You: Tell me a story',
    'Hub: Once there was a kiosk.',
    'Hub: It asked a hub for the time.',
    'You: And now?',
    'Hub: You said: And now?',
  ]);
});

test('shows the AI disclosure, whole, before the first answer', async () => {
  const [you, note, hub] = await conversation();
  assert.equal([you, hub], ['You: What is on today?', 'Hub: You said: What is on today?']);
  assert.is(note, `Note: ${identity.ai_disclosure}`);
});

test('dials again after the policy’s pause when the connection is cut', async () => {
  await tab.evaluate('seen.status.length = 0');
  await tab.click('#cut');
  await tab.until(`seen.status.at(-1) === 'Ready'`);
  assert.equal(await seen('status'), ['Waiting, then connecting again', 'Connecting', 'Ready']);
  const countdown = await seen('countdown');
  assert.is(countdown[0], '2 s');
  assert.ok(countdown.includes('1 s'));
});

test('says what to check when no hub answers, and comes back with KKpsk0 at once when it has started', async () => {
  await tab.click('#power');
  await tab.until(`document.getElementById('power').textContent === 'Start the hub'`);
  await tab.click('#resume');
  await tab.until(`document.getElementById('sequence').innerText.includes('No hub answers')`);
  await state('waiting');
  await tab.click('#power');
  await state('ready'); // within a second: the pause is cut short
  assert.ok((await drawn()).includes('Ready: KKpsk0, 25519_ChaChaPoly_SHA256'));
  await say('Still there?');
});

test('pauses between dials while the hub is stopped, whatever happens to it', async () => {
  const connections = `document.querySelectorAll('#sequence .connection').length`;
  await tab.click('#power');
  await tab.click('#forget');
  const before = await tab.evaluate<number>(connections);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.ok((await tab.evaluate<number>(connections)) - before <= 3);
  await tab.click('#power');
  await state('ready');
});

test('asks a person at once when the hub has a new key, and trusts that key if told to', async () => {
  await tab.evaluate('seen.countdown.length = 0');
  await tab.click('#new-key');
  await state('asking');
  assert.ok(new Set(await seen('countdown')).size <= 2); // '2 s', which was cut short, and '0 s'
  await tab.click('#trust');
  await state('ready');
  await say('Are you the one?');
});

test('does not show the AI disclosure again after these reconnects', async () => {
  assert.is((await conversation()).filter((line) => line.startsWith('Note: ')).length, 1);
});

test('connects after a new key if its pin was dropped', async () => {
  await tab.click('#new-key');
  await state('asking');
  await tab.click('#pins button');
  await tab.click('#retry');
  await state('ready');
  assert.ok((await drawn()).includes('Ready: XXpsk2, 25519_ChaChaPoly_SHA256'));
});

test('is refused with another keyring until the hub’s operator removes the client', async () => {
  await tab.click('#lose');
  await state('asking');
  assert.match(await text('question'), /ask its operator, who can forget the other key.*client-key-refused/);
  await tab.until(`document.getElementById('to-forget').checkVisibility()`);
  await tab.click('#forget');
  await state('ready');
  await say('Do you know me?');
});

test('reconnects with KKpsk0 after the page was loaded again', async () => {
  await tab.evaluate('location.reload()');
  await tab.until(`document.getElementById('fill-in')?.checkVisibility()`);
  await tab.until(`document.querySelector('main button')?.id === 'try'`); // the first one
  await tab.click('#try');
  await state('ready');
  assert.ok((await drawn()).includes('Ready: KKpsk0, 25519_ChaChaPoly_SHA256'));
});

test('stays offline when a person leaves', async () => {
  await tab.click('#leave');
  await state('left');
  assert.equal((await drawn()).slice(-3), ['Close', 'Ended: dropped', 'Rests, until a person connects']);
});

test('shows no secret anywhere', async () => {
  const { access_key, password } = identity;
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

test('shows the session below what to do on a narrow screen, and cuts nothing of it', async () => {
  await tab.resize(390, 800);
  const [session, controls] = await tab.evaluate<number[]>(
    `['.session', '.controls'].map((part) => document.querySelector(part).getBoundingClientRect().top)`,
  );
  assert.ok(session! > controls!);
  const [content, box] = await tab.evaluate<number[]>(
    `(({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight])(document.getElementById('scroll'))`,
  );
  assert.ok(content! > 400 && content === box, `${content} px in a box of ${box}`);
});

test('derives the right PSK from the password', async () => {
  const script = readFileSync(new URL('../../examples/page/hub-in-page.js', import.meta.url), 'utf8');
  const psk = derivePsk({ crypto: nodeCrypto, password: identity.password, nodeId: 'hub.example' });
  assert.ok(script.includes(`'${Buffer.from(psk).toString('hex')}'`));
});

test('violates no Content-Security-Policy, and throws nothing', () => {
  assert.equal(tab.problems, []);
});

test.run();
