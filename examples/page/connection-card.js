/** The state of the connection: the status, the progress of the derivation, the policy's countdown and questions. */

const STATES = {
  idle: 'Not connected',
  connecting: 'Connecting',
  deriving: 'Deriving the pre-shared key',
  ready: 'Ready',
  waiting: 'Waiting, then connecting again',
  asking: 'Your decision',
  left: 'Disconnected',
};

const byId = (id) => document.getElementById(id);

/** The message of an error, as a sentence, and its code. */
export function sentence({ message, code, name }) {
  return `${message[0].toUpperCase()}${message.slice(1)}${message.endsWith('?') ? '' : '.'} (${code ?? name})`;
}

export class ConnectionCard {
  #ticking;

  /** Shows a state and its controls: elements name their states in `data-in`. */
  set(state, detail = '') {
    clearInterval(this.#ticking);
    const focused = document.activeElement;
    byId('connection').dataset.state = state;
    byId('status').textContent = STATES[state];
    byId('detail').textContent = detail;
    for (const part of document.querySelectorAll('[data-in]')) {
      part.hidden = !part.dataset.in.split(' ').includes(state);
    }
    for (const id of ['trust', 'to-forget']) byId(id).hidden = true;
    if (focused?.closest('[hidden]')) byId('status').focus(); // so that the keyboard does not start anew
  }

  /**
   * Takes an event of the client.
   * @param {import('hub-protocol-client/browser').ClientEvent} what
   */
  show(what) {
    if (what.type === 'connecting') this.set('connecting');
    else if (what.type === 'deriving') {
      if (byId('connection').dataset.state !== 'deriving') this.set('deriving');
      byId('derivation').value = what.progress;
    } else if (what.type === 'connect')
      this.set('ready', `${what.pattern}, ${what.suite}, with ${what.nodeId}`);
    else if (what.type === 'reconnect') this.#wait(what.after, what.advice);
    else if (what.type === 'end') this.set('left');
    else if (what.type === 'ask') {
      this.set('asking');
      const code = 'code' in what.error ? what.error.code : undefined;
      byId('trust').hidden = what.act !== 'trust';
      byId('to-forget').hidden = code !== 'client-key-refused';
      byId('question').textContent = `${what.advice} (${code ?? what.error.name})`;
    }
  }

  #wait(milliseconds, advice) {
    const until = performance.now() + milliseconds;
    const tick = () => {
      const left = Math.max(0, until - performance.now());
      byId('countdown').textContent = `${Math.ceil(left / 1000)} s`;
      byId('pause').value = milliseconds === 0 ? 1 : 1 - left / milliseconds;
    };
    this.set('waiting', advice);
    tick();
    this.#ticking = setInterval(tick, 100);
  }
}
