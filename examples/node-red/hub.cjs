/**
 * Three nodes for Node-RED: `hub` (a configuration with the identity), `hub ask` (a question; its outputs are each part of the answer, and
 * the whole answer) and `hub in` (what the hub sends unasked). docs/guides/node-red.md explains them.
 */
const { join } = require('node:path');
const { parseIdentity } = require('hub-protocol');
const { connect } = require('hub-protocol-client'); // with require, from Node.js 20.19 on

/** How a node shows the state of the client. */
const LOOKS = { ready: ['green', 'dot'], asking: ['red', 'ring'], ended: ['grey', 'ring'] };
const CHANGES = ['connecting', 'connect', 'close', 'reconnect', 'ask', 'end'];

module.exports = (RED) => {
  function Hub(settings) {
    RED.nodes.createNode(this, settings);
    try {
      this.client = connect({
        identity: parseIdentity(this.credentials.identity ?? ''),
        keyring: join(RED.settings.userDir, `hub-${settings.id}.keyring.json`),
        socket: settings.ca ? { ca: settings.ca } : undefined,
        lang: settings.lang || undefined,
        allowPlaintext: settings.plaintext === true,
        userAgent: 'node-red',
      });
    } catch (error) {
      this.error(error.message); // such as an identity that is none
      return;
    }
    for (const type of ['ask', 'hub-replaced', 'dropped', 'unsent'])
      this.client.on(type, ({ advice }) => this.warn(advice));
    let notice; // goes out with the first part
    this.client.on('disclosure', ({ text = 'The AI notice is missing: tell the operator.' }) => {
      notice = text;
    });
    this.takeNotice = () => {
      const taken = notice;
      notice = undefined;
      return taken;
    };
    this.on('close', () => this.client.end());
  }
  RED.nodes.registerType('hub', Hub, { credentials: { identity: { type: 'password' } } });

  /** The configuration of a node, whose client it follows until it is closed. */
  function hubOf(node, settings) {
    RED.nodes.createNode(node, settings);
    const hub = RED.nodes.getNode(settings.hub);
    if (hub?.client === undefined) {
      node.status({ fill: 'red', shape: 'ring', text: 'no hub' });
      return undefined;
    }
    const show = ({ tell } = {}) =>
      setImmediate(() => {
        const [fill, shape] = LOOKS[hub.client.state] ?? ['yellow', 'ring'];
        node.status({ fill, shape, text: tell ?? hub.client.state });
      });
    for (const type of CHANGES) hub.client.on(type, show);
    node.on('close', () => {
      for (const type of CHANGES) hub.client.off(type, show);
    });
    show();
    return hub;
  }

  RED.nodes.registerType('hub ask', function Ask(settings) {
    const hub = hubOf(this, settings);
    if (hub === undefined) return;
    const gone = new AbortController();
    this.on('close', () => gone.abort());
    this.on('input', (msg, send, done) => {
      if (msg.stop === true) {
        hub.client.stop(); // the question that runs ends with what has come
        done();
        return;
      }
      const { payload, lang, session: sessionId, interrupt, timeout } = msg;
      const onPart = ({ text, expectsAnswer }) =>
        send([{ ...msg, payload: text, notice: hub.takeNotice(), expectsAnswer }, null]);
      hub.client
        .ask({ text: String(payload), lang, sessionId }, { onPart, interrupt, timeout, signal: gone.signal })
        .then(({ reply, ending, tell }) => {
          send([null, { ...msg, payload: reply.text, ending, tell, expectsAnswer: reply.expectsAnswer }]);
          done();
        }, done);
    });
  });

  RED.nodes.registerType('hub in', function In(settings) {
    const hub = hubOf(this, settings);
    if (hub === undefined) return;
    const speak = ({ text }) => this.send({ topic: 'speak', payload: text, notice: hub.takeNotice() });
    const tell = ({ message: { type, data } }) => this.send({ topic: type, payload: data });
    hub.client.on('speak', speak);
    if (settings.topic) hub.client.on('message', settings.topic, tell);
    this.on('close', () => {
      hub.client.off('speak', speak);
      if (settings.topic) hub.client.off('message', settings.topic, tell);
    });
  });
};
