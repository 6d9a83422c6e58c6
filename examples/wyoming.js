/**
 * Lets Home Assistant, or whoever speaks the Wyoming protocol, use a hub as conversation agent (handle), speech-to-text (asr) and
 * text-to-speech (tts). Each connection is a conversation of its own. docs/guides/wyoming.md explains it.
 *
 *     node wyoming.mjs IDENTITY.json [PORT] [CA.pem]
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client';

const [file, port = '10700', caFile] = process.argv.slice(2);
const identity = parseIdentity(readFileSync(file, 'utf8'));
const client = connect({
  identity,
  keyring: file.replace(/\.json$/, '.keyring.json'),
  socket: caFile === undefined ? undefined : { ca: readFileSync(caFile, 'utf8') },
  allowPlaintext: true, // HiveMind's hub has no TLS unless its operator sets it up
  userAgent: 'wyoming',
});
for (const type of ['ask', 'hub-replaced', 'reconnect', 'dropped'])
  client.on(type, ({ advice }) => advice && console.error(advice));
/** What people must be told before the first answer. */
let notice = '';
client.on('disclosure', ({ text = 'The AI notice is missing: tell the operator.' }) => {
  notice = `${text} `;
});

const about = { name: 'hub', description: 'a HiveMind hub', version: '1', installed: true };
const hub = { ...about, attribution: { name: 'hub-protocol', url: '' } };
const models = [{ ...hub, languages: ['en', 'fr', 'de', 'es', 'it', 'nl', 'pt'] }]; // those to offer: the hub's plugins decide
const INFO = {
  asr: [{ ...hub, models }],
  handle: [{ ...hub, models, supports_handled_streaming: true }],
  tts: [{ ...hub, voices: models }],
};

/** The format, and the samples, of a WAV file. */
function readWav(bytes) {
  const wav = Buffer.from(bytes);
  const start = wav.indexOf('data') + 8;
  const [rate, width, channels] = [wav.readUInt32LE(24), wav.readUInt16LE(34) / 8, wav.readUInt16LE(22)];
  return {
    format: { rate, width, channels },
    samples: wav.subarray(start, start + wav.readUInt32LE(start - 4)),
  };
}

/** What a peer may ask for on one connection, by the type of its event. `signal` is aborted when it has gone. */
function handlersOf(write, sessionId, signal) {
  let lang;
  let speech = [];
  return {
    describe: () => write('info', INFO),
    ping: (data) => write('pong', data),
    async transcript({ text, language }) {
      write('handled-start');
      const onPart = (part) => {
        write('handled-chunk', { text: `${notice}${part.text} ` });
        notice = '';
      };
      const { reply, tell } = await client.ask({ text, lang: language, sessionId }, { onPart, signal });
      write('handled-stop');
      if (reply.text === '') write('not-handled', { text: tell });
      else write('handled', { text: reply.text, context: { expects_answer: reply.expectsAnswer } });
    },
    transcribe({ language }) {
      lang = language;
    },
    'audio-start'({ rate, width, channels }) {
      speech = [];
      if (rate !== 16_000 || width !== 2 || channels !== 1) throw new Error('send 16-bit mono at 16000 Hz');
    },
    'audio-chunk': async (_, samples) => speech.push(samples),
    'audio-stop': async () =>
      write('transcript', { text: await client.transcribe(Buffer.concat(speech), { lang, signal }) }),
    async synthesize({ text, voice }) {
      const sounds = await client.synthesize(text, { lang: voice?.language, signal });
      const pieces = sounds.map(readWav);
      if (pieces.length > 0) write('audio-start', pieces[0].format);
      for (const { format, samples } of pieces) write('audio-chunk', format, samples);
      write('audio-stop');
    },
  };
}

let conversations = 0;
createServer((socket) => {
  const write = (type, data = {}, payload = Buffer.alloc(0)) => {
    const text = Buffer.from(JSON.stringify(data));
    const head = { type, version: '1', data_length: text.length, payload_length: payload.length };
    socket.write(Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), text, payload]));
  };
  const gone = new AbortController();
  const handlers = handlersOf(write, `wyoming-${++conversations}`, gone.signal);
  let waiting = Buffer.alloc(0);
  let work = Promise.resolve(); // one after the other
  const read = (bytes) => {
    waiting = Buffer.concat([waiting, bytes]);
    for (let end = waiting.indexOf('\n'); end >= 0; end = waiting.indexOf('\n')) {
      const { type, data, data_length = 0, payload_length = 0 } = JSON.parse(waiting.subarray(0, end));
      const [from, to] = [end + 1 + data_length, end + 1 + data_length + payload_length];
      if (waiting.length < to) return;
      const all = data_length > 0 ? JSON.parse(waiting.subarray(end + 1, from)) : (data ?? {});
      const payload = waiting.subarray(from, to);
      waiting = waiting.subarray(to);
      work = work
        .then(() => Object.hasOwn(handlers, type) && handlers[type](all, payload))
        .catch((error) => gone.signal.aborted || write('error', { text: error.tell ?? error.message }));
    }
  };
  socket.on('error', () => {}).on('close', () => gone.abort());
  socket.on('data', (bytes) => {
    try {
      read(bytes);
    } catch {
      socket.destroy(); // that was not Wyoming
    }
  });
}).listen(Number(port), '127.0.0.1', () => console.log(`Wyoming at tcp://127.0.0.1:${port}`));
