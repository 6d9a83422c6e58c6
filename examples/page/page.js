/** The page: takes an identity, starts a client, and shows its events. */
import { parseIdentity, redactIdentity, selectEndpoint } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';
import { ConnectionCard, sentence } from './connection-card.js';
import { HubInPage } from './hub-in-page.js';
import { loseKeyring, showKeyring } from './keyring-card.js';
import { Sequence } from './sequence.js';
import { offerTrouble } from './trouble-card.js';

const byId = (id) => document.getElementById(id);

/** Longer than usual, to make a pause visible, but never ten minutes. In milliseconds. */
const POLICY = { basePause: 5000, maxPause: 20_000, onKkFailure: /** @type {const} */ ('keep-pin') };

/** A page from this machine may use a hub on this machine, which has no TLS. */
const allowPlaintext = location.hostname === 'localhost';

/** The first page of the site shows this one, which then begins at once, and leaves the focus where it is. */
const isFramed = location.search === '?run';

const hub = new HubInPage();
const sequence = new Sequence();
const card = new ConnectionCard();
let identity;
let client; // once the person has connected
let hurriedDials = 0; // how many pauses are still left out
let asked; // the last question

byId('identity-form').addEventListener('submit', (submitted) => {
  submitted.preventDefault();
  const text = byId('identity-text');
  try {
    identity = parseIdentity(text.value);
    const { url, tls } = selectEndpoint(identity, { supported: ['wss'], allowPlaintext });
    const isHere = identity.accessKey === hub.identity.access_key;
    byId('trouble').hidden = !isHere;
    byId('endpoint').textContent = isHere
      ? 'Goes to the hub in this page.'
      : `Goes to ${new URL(url).host}, ${tls ? 'with' : 'without'} TLS.`;
    showKeyring(identity.accessKey);
  } catch (error) {
    text.setAttribute('aria-invalid', 'true');
    byId('identity-error').hidden = false;
    byId('identity-error').textContent = sentence(error);
    return;
  }
  text.value = '';
  text.removeAttribute('aria-invalid');
  byId('redacted').textContent = JSON.stringify(redactIdentity(identity), undefined, 2);
  byId('redaction').open = true;
  showIdentity(true);
  card.set('idle');
  if (!isFramed) byId('connect').focus();
});

byId('other-identity').addEventListener('click', () => {
  client?.end();
  client = undefined;
  showIdentity(false);
  byId('identity-text').focus();
});

byId('connect').addEventListener('click', () => {
  byId('redaction').open = false; // to make room
  if (client) client.resume();
  else client = start();
});
for (const id of ['resume', 'retry']) byId(id).addEventListener('click', () => client.resume());
byId('trust').addEventListener('click', () => client.trust(asked));
byId('leave').addEventListener('click', () => {
  client.end();
});
byId('lose').addEventListener('click', () => {
  const wasConnecting = client !== undefined;
  client?.end();
  loseKeyring(identity.accessKey);
  client = undefined;
  if (wasConnecting) client = start();
});
byId('fill-in').hidden = false;
byId('fill-in').addEventListener('click', () => {
  byId('identity-text').value = JSON.stringify(hub.identity, undefined, 2);
});

byId('try-it').hidden = false;
byId('try').addEventListener('click', () => {
  byId('fill-in').click();
  byId('identity-form').requestSubmit();
  byId('connect').click();
});

if (isFramed) byId('try').click();

byId('talk-form').addEventListener('submit', async (submitted) => {
  submitted.preventDefault();
  const text = byId('utterance').value;
  byId('utterance').value = '';
  say('You', text);
  byId('stop').hidden = false;
  const onPart = (part) => part.text && say('Hub', part.text);
  const answer = await client.ask(text, { interrupt: true, onPart }).catch((error) => error);
  byId('stop').hidden = true;
  if (answer.tell !== undefined) say('Page', answer.tell); // the answer is missing or incomplete
});
byId('stop').addEventListener('click', () => client.stop());

offerTrouble(hub, () => {
  hurriedDials = 2; // a new key takes two: KKpsk0 is refused, XXpsk2 says why
  client?.resume();
});
byId('links').hidden = isFramed || !location.pathname.endsWith('/playground/'); // the site has the documents

function showIdentity(isKnown) {
  for (const id of ['try-it', 'identity-form']) byId(id).hidden = isKnown;
  byId('identity-error').hidden = true;
  for (const id of ['identity-shown', 'connection', 'talk', 'keyring']) byId(id).hidden = !isKnown;
  if (!isKnown) byId('trouble').hidden = true;
}

function start() {
  const started = connect({ identity, policy: POLICY, allowPlaintext, disclosure: { isShared: true } });
  const shown = /** @type {const} */ (['connecting', 'deriving', 'connect', 'reconnect', 'ask', 'end']);
  for (const type of shown) {
    started.on(type, (event) => card.show(event));
  }
  started.on('ask', (event) => {
    asked = event;
  });
  started.on('reconnect', () => hurriedDials-- > 0 && started.resume());
  for (const type of /** @type {const} */ (['connect', 'ask', 'end'])) {
    started.on(type, () => {
      hurriedDials = 0;
    });
  }
  started.on('disclosure', ({ text, language }) => {
    if (text === undefined) say('Note', 'The AI notice is missing: tell the operator.');
    else say('Note', text, language);
  });
  started.on('connecting', (event) => sequence.show(event));
  started.on('deriving', ({ progress }) => progress === 1 && sequence.derived());
  started.on('trace', ({ what }) => {
    sequence.show(what);
    const type = 'type' in what ? what.type : undefined;
    if (type !== 'received' && type !== 'transmit') showKeyring(identity.accessKey);
  });
  return started;
}

function say(who, text, language = 'en') {
  const line = byId('line').content.firstElementChild.cloneNode(true);
  line.className = who.toLowerCase();
  line.querySelector('.heard').textContent = `${who}:`;
  Object.assign(line.querySelector('.text'), { textContent: text, lang: language });
  const conversation = byId('conversation');
  conversation.append(line);
  conversation.scrollTop = conversation.scrollHeight;
}
