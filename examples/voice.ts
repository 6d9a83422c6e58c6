/**
 * A voice device without its hardware: it streams a WAV file to the hub at the speed of a microphone, and writes the
 * hub's speech to another file as it arrives. docs/guides/voice.md explains the messages.
 *
 *     node --import tsx examples/voice.ts IDENTITY.json KEYRING.json QUESTION.wav ANSWER.wav [CA.pem]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { type HubEvent, parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client';

const FORMAT = { sample_rate: 16_000, sample_width: 2 }; // mono; HiveMind's hub accepts no other
const CHUNK_MS = 100;
const CHUNK = (FORMAT.sample_rate * FORMAT.sample_width * CHUNK_MS) / 1000;

const [identityPath = 'identity.json', keyring = 'keyring.json', questionPath, answerPath, caPath] =
  process.argv.slice(2);
const question = chunkOf(readFileSync(questionPath!), 'data');
const client = connect({
  identity: parseIdentity(readFileSync(identityPath, 'utf8')),
  keyring,
  socket: caPath === undefined ? undefined : { ca: readFileSync(caPath, 'utf8') },
  disclosure: { isVoice: true },
});
const answers: Buffer[] = [];
let microphone: ReturnType<typeof setInterval> | undefined;
/** Ends when all was played so far. */
let playing: Promise<unknown> = Promise.resolve();

client.on('connect', () => {
  let position = 0;
  microphone = setInterval(() => {
    // After the question the microphone hears silence, which shows the hub that the person has finished.
    const samples = Buffer.alloc(CHUNK);
    samples.set(question.subarray(position, position + CHUNK));
    position += CHUNK;
    client.sendBytes(samples, 'raw_audio', FORMAT);
  }, CHUNK_MS);
});
client.on('close', () => clearInterval(microphone)); // the next connection streams the question again
client.on('disclosure', ({ text, language }) => {
  if (text === undefined) console.error('The AI notice is missing: tell the operator.');
  else speakAloud(text, language === 'fr' ? 'fr-fr' : 'en-us'); // before the answer, once in each conversation
});
client.on('message', ({ message }) => {
  const { type, data } = message;
  console.log(type, data.utterance ?? data.utterances ?? '');
  if (type === 'recognizer_loop:record_end') clearInterval(microphone);
  if (type === 'ovos.utterance.handled') playing.then(() => client.end());
  if (type === 'recognizer_loop:speech.recognition.unknown' || type === 'hive.policy.denied') {
    fail(`The hub did not understand: ${JSON.stringify(data)}`);
  }
});
client.on('speak', ({ text, message }) => speakAloud(text, String(message.data.lang ?? 'en-us'), message));
client.on('ask', ({ advice }) => fail(advice));

/** Plays a text after what was said before. Its sound is asked for at once. */
function speakAloud(text: string, lang: string, message?: HubEvent): void {
  const sounds = client.synthesize(text, { lang });
  sounds.catch(() => {}); // which is reported when its turn comes
  const play = async (): Promise<void> => {
    answers.push(...(await sounds).map((sound) => Buffer.from(sound)));
    console.log('tts_audio', text);
    writeFileSync(answerPath!, joined(answers)); // a device plays these bytes instead
    if (message !== undefined) client.spoken(message); // a skill may wait for that
  };
  playing = playing.then(play).catch((error: Error) => fail(error.message));
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
  clearInterval(microphone);
  client.end();
}

/** The content of the first chunk of a name in a WAV file: four bytes of name, four of length, and the content. */
function chunkOf(wav: Buffer, name: string): Buffer {
  for (let at = 12; at + 8 <= wav.length; at += 8 + wav.readUInt32LE(at + 4)) {
    const content = wav.subarray(at + 8, at + 8 + wav.readUInt32LE(at + 4));
    if (wav.toString('latin1', at, at + 4) === name) return content;
  }
  throw new Error(`not a WAV file: it has no chunk "${name}"`);
}

/** WAV files of one format as one. */
function joined(files: Buffer[]): Buffer {
  const samples = Buffer.concat(files.map((file) => chunkOf(file, 'data')));
  const format = chunkOf(files[0]!, 'fmt ');
  const header = Buffer.alloc(12 + 8 + format.length + 8);
  header.write('RIFF____WAVEfmt ', 'latin1');
  header.writeUInt32LE(header.length - 8 + samples.length, 4);
  header.writeUInt32LE(format.length, 16);
  format.copy(header, 20);
  header.write('data', 20 + format.length, 'latin1');
  header.writeUInt32LE(samples.length, 24 + format.length);
  return Buffer.concat([header, samples]);
}
