/** A kiosk in a page, with a form, a list of messages, and a status. The identity is served with the page. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';

const byId = (id) => document.getElementById(id);
const status = (text) => (byId('status').textContent = text);
const say = (text) => byId('said').append(Object.assign(document.createElement('li'), { textContent: text }));

const response = await fetch('identity.json');
const client = connect({
  identity: parseIdentity(await response.text()),
  policy: { onKkFailure: 'keep-pin' }, // ask a person before accepting another key of the hub
  allowPlaintext: location.hostname === 'localhost',
  disclosure: { isShared: true },
});
let isLeft; // the timer after which the person has probably left

client.on('deriving', ({ progress }) => status(`Computing: ${Math.round(100 * progress)} %`));
client.on('connect', ({ nodeId }) => status(`Connected to ${nodeId}`));
client.on('reconnect', ({ after, tell, advice }) => {
  status(tell ?? `Connecting in ${Math.ceil(after / 1000)} s`);
  if (advice !== undefined) console.warn(advice); // for the operator
});
client.on('disclosure', ({ text = 'The AI notice is missing: tell the operator.' }) => say(text));
client.on('speak', ({ text }) => say(text));
client.on('ask', (event) => {
  status(event.tell);
  console.warn(event.advice);
  if (event.act === 'trust' && confirm(`${event.advice} Trust the new key?`)) client.trust(event);
});

byId('form').addEventListener('submit', async (submitted) => {
  submitted.preventDefault();
  const text = byId('question').value;
  byId('question').value = '';
  say(text);
  clearTimeout(isLeft);
  isLeft = setTimeout(() => {
    byId('said').replaceChildren(); // for the next person
    client.newConversation();
  }, 120_000);
  const onPart = (part) => say(part.text);
  const answer = await client.ask(text, { interrupt: true, onPart }).catch((error) => error);
  if (answer.tell === undefined) return;
  status(answer.tell); // the answer is missing or incomplete
  console.warn(answer.advice);
});
