/** A page with <hub-chat>: it does what the URL's query says, as a person would, and posts what can be seen and heard to /result. */
import '../../examples/hub-chat.js';

const query = new URLSearchParams(location.search);
const identity = query.get('identity');
document.documentElement.lang = 'en';
document.title = 'A talk';
const main = document.body.appendChild(document.createElement('main'));
main.innerHTML = '<h1>A talk</h1>';
const chat = document.createElement('hub-chat');
for (const name of ['voice', 'plaintext']) if (query.has(name)) chat.setAttribute(name, '');
if (identity) chat.setAttribute('identity', URL.createObjectURL(new Blob([identity])));
const played = [];
chat.addEventListener('played', ({ detail }) => played.push(detail));
main.append(chat);

const { shadowRoot } = chat;
const form = shadowRoot.querySelector('form');
const status = shadowRoot.querySelector('[role=status]');
const lines = () => Array.from(shadowRoot.querySelectorAll('[role=log] p'), ({ textContent }) => textContent);
const answered = () =>
  new Promise((resolve) => chat.addEventListener('answer', ({ detail }) => resolve(detail), { once: true }));
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function until(isTrue) {
  while (!isTrue()) await wait(20);
}
function type(text) {
  const answer = answered();
  form.text.value = text;
  form.requestSubmit();
  return answer;
}

const ACTS = {
  async talk() {
    const { ending } = await type('one');
    return { ending, lines: lines(), status: status.textContent, rest: form.text.value };
  },
  /** Ends a question that is never answered, and asks in place of another. */
  async stop() {
    const endings = [];
    chat.addEventListener('answer', ({ detail }) => endings.push(detail.ending));
    await until(() => status.textContent === 'Connected.');
    type('wait');
    await wait(300);
    form.stop.click();
    await until(() => endings.length === 1);
    type('wait');
    await wait(300);
    type('two');
    await until(() => endings.length === 3);
    return { endings, lines: lines() };
  },
  /** Speaks for a second, and hears the answer. */
  async voice() {
    await type('what time is it?');
    await until(() => played.length === 2);
    const answer = answered();
    form.speak.click();
    await until(() => form.speak.ariaPressed === 'true');
    await wait(1000);
    form.speak.click();
    await answer;
    await until(() => played.length === 3);
    return { lines: lines(), played, status: status.textContent };
  },
  /** The key that is stored before a hub has said anything. */
  async pair() {
    const address = location.href;
    const before = performance.now();
    await type('hello');
    return { address, lines: lines(), status: status.textContent, ms: performance.now() - before };
  },
  refused: async () => {
    await until(() => !/^Connect/.test(status.textContent));
    return { lines: lines(), status: status.textContent };
  },
};
const act = ACTS[query.get('act')];
if (act !== undefined) {
  const result = await act().catch((error) => String(error));
  await fetch('/result', { method: 'POST', body: JSON.stringify(result) });
}
