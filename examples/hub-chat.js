/** <hub-chat identity="identity.json" lang="en-us" voice>: a talk with a hub in any page, typed or spoken: docs/guides/hub-chat.md. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';
import { pairing } from './pairing.js';

const CONTENT = `<style>
  :host { display: grid; gap: 0.5em; font: 1rem/1.4 system-ui; color: #1a1a1a; background: #fff }
  [role=log] { height: 20em; overflow: auto; border: 1px solid #767676; padding: 0 0.5em }
  .you { text-align: right } .note, [role=status] { color: #595959; margin: 0 } [aria-pressed=true] { background: #b00020; color: #fff }
  form, label { display: flex; flex-wrap: wrap; gap: 0.5em; flex: 1 1 12em } input { flex: 1; min-width: 0 } button, input { font: inherit }
</style><div role="log" aria-label="Talk" tabindex="0"></div><p role="status">Connecting.</p>
<form><label>Question <input name="text" autocomplete="off" required></label> <button>Ask</button>
<button type="button" name="stop">Stop</button> <button type="button" name="speak" aria-pressed="false">Speak</button></form>`;

class HubChat extends HTMLElement {
  #client;
  #started;
  #log;
  #status;
  #recorder;
  #playing = Promise.resolve(); // one after the other
  #quiet = new AbortController(); // aborted to play no more
  connectedCallback() {
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' });
    root.innerHTML = CONTENT;
    const form = root.querySelector('form');
    [this.#log, this.#status] = root.querySelectorAll('[role]');
    form.stop.onclick = () => this.stop();
    form.speak.onclick = () => this.#record(form.speak).catch((error) => this.#tell(error));
    form.onsubmit = () => {
      this.ask(form.text.value);
      form.reset();
      return false;
    };
    this.#started = this.#connect().catch((error) => this.#tell(error));
  }
  disconnectedCallback() {
    this.#quiet.abort();
    this.#client?.end();
  }
  /** Asks, in place of a question that runs. The event `answer` tells how it ended. */
  async ask(text) {
    this.#show('you', `You: ${text}`);
    this.#quiet.abort();
    await this.#started;
    const onPart = ({ text, speech, event }) => this.#show('hub', text, speech, event);
    const detail = await this.#client?.ask(text, { onPart, interrupt: true }).catch((error) => error);
    if (detail?.tell !== undefined) this.#tell(detail);
    this.dispatchEvent(new CustomEvent('answer', { detail }));
  }
  /** Ends the question that runs, and what is played. */
  stop() {
    this.#quiet.abort();
    this.#client?.stop();
  }
  async #connect() {
    const fetched = async () => parseIdentity(await (await fetch(this.getAttribute('identity'))).text());
    const [plays, allowPlaintext] = [this.hasAttribute('voice'), this.hasAttribute('plaintext')];
    const settings = { plays, allowPlaintext, disclosure: { isVoice: plays }, lang: this.lang || 'en-us' };
    const client = connect({
      ...(pairing() ?? { identity: await fetched() }),
      ...settings,
      userAgent: 'hub-chat',
    });
    this.#client = client;
    client.on('disclosure', ({ text = 'The AI notice is missing.' }) => this.#show('note', text, text));
    client.on('speak', ({ text, speech, message }) => this.#show('hub', text, speech, message));
    client.on('connect', () => this.#tell({ tell: 'Connected.' }));
    for (const type of ['ask', 'dropped', 'hub-replaced', 'reconnect'])
      client.on(type, (event) => this.#tell({ tell: 'Connecting again.', ...event }));
  }
  #tell({ tell, advice, message }) {
    if (advice !== undefined) console.warn(advice); // for the operator
    this.#status.textContent = tell ?? message;
  }
  #show(className, textContent, speech, spoken) {
    this.#log.append(Object.assign(document.createElement('p'), { className, textContent }));
    this.#log.scrollTop = this.#log.scrollHeight;
    if (speech && this.hasAttribute('voice')) this.#say(speech, spoken);
  }

  #say(speech, spoken) {
    if (this.#quiet.signal.aborted) this.#quiet = new AbortController();
    const { signal } = this.#quiet;
    const sounds = this.#client.synthesize(speech, { signal });
    sounds.catch(() => {}); // told when its turn comes
    const play = async () => {
      for (const bytes of await sounds) {
        const audio = new Audio(URL.createObjectURL(new Blob([bytes])));
        const ended = new Promise((resolve) => audio.addEventListener('pause', resolve));
        signal.addEventListener('abort', () => audio.pause());
        await audio.play();
        await ended;
        signal.throwIfAborted();
      }
      if (spoken) this.#client.spoken(spoken); // a skill may wait for that
      this.dispatchEvent(new CustomEvent('played', { detail: speech }));
    };
    this.#playing = this.#playing.then(play).catch((error) => signal.aborted || this.#tell(error));
  }
  /** Records until the next call, and asks what the hub has understood. */
  async #record(button) {
    if (this.#recorder?.state === 'recording') return this.#recorder.stop();
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
    const ask = async ({ data }) => {
      for (const track of stream.getTracks()) track.stop();
      button.ariaPressed = 'false';
      const decoder = new OfflineAudioContext(1, 1, 16_000); // the hub takes 16-bit mono at 16000 Hz
      const sound = await decoder.decodeAudioData(await data.arrayBuffer());
      const samples = Int16Array.from(sound.getChannelData(0), (x) => Math.max(-1, Math.min(1, x)) * 32767);
      const text = await this.#client.transcribe(new Uint8Array(samples.buffer));
      if (text === '') this.#tell({ tell: 'The hub understood nothing.' });
      else await this.ask(text);
    };
    this.#recorder = new MediaRecorder(stream);
    this.#recorder.ondataavailable = (event) => ask(event).catch((error) => this.#tell(error));
    button.ariaPressed = 'true';
    this.#recorder.start();
  }
}
customElements.define('hub-chat', HubChat);
