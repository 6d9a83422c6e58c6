/** examples/voice.ts as people start it, at a hub that understands every question and speaks in tones. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeBinary, encodeBinary } from '../../src/binary.ts';
import { randomBytes } from '../../src/crypto/node.ts';
import { type JsonObject, readHubEvent } from '../../src/index.ts';
import { authority } from '../interop/certificate.ts';
import { type HubOptions, OurHub } from '../interop/our-hub.ts';
import { compiled } from '../world/bundled.ts';
import { DERIVED, PASSWORD } from '../world/keys.ts';
import { tone, wav } from '../world/wav.ts';

const VOICE = await compiled(new URL('../../examples/voice.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'hub-protocol-voice-'));
const path = (name: string): string => join(folder, name);
const question = tone(440, 0.35);
const DISCLOSURE = 'You are talking to an AI.';

const bus = (type: string, data: JsonObject, context: JsonObject = {}): JsonObject => ({
  msg_type: 'bus',
  payload: { type, data, context },
});

/** What the hub has heard, and how it listened. */
let heard: Buffer[] = [];
let played: JsonObject[] = [];
let formats: unknown[] = [];
let answersTo: (heard: Buffer) => JsonObject[] = () => [];

const answer: HubOptions['answer'] = (message) => {
  if (message.kind === 'json') {
    const { type, data, payload: said } = readHubEvent(message.text)!;
    if (type === 'recognizer_loop:audio_output_end') played.push(said.context as JsonObject);
    if (type !== 'speak:synth') return [];
    const utterance = String(data.utterance);
    assert.ok(utterance.length <= 100);
    const metadata = { utterance, lang: data.lang! };
    const payload = wav(tone(utterance.length, 0.1));
    return [encodeBinary({ msg_type: 'bin', bin_type: 'tts_audio', metadata, payload })];
  }
  const said = decodeBinary(message.bytes);
  if (said.msg_type !== 'bin') throw new Error(`unexpected ${said.msg_type}`);
  assert.is(said.bin_type, 'raw_audio');
  formats.push(said.metadata);
  heard.push(Buffer.from(said.payload));
  const isSilent = heard.at(-1)!.every((byte) => byte === 0);
  if (!isSilent) return [];
  const all = answersTo(Buffer.concat(heard));
  answersTo = () => [];
  return all;
};

const hub = await OurHub.start({
  nodeId: 'hub-1',
  staticKey: randomBytes(32),
  psk: DERIVED,
  suite: '25519_ChaChaPoly_SHA256',
  answer,
});

/** Runs the program to its end. */
async function run(questionPath: string): Promise<{ code: number | null; errors: string }> {
  heard = [];
  played = [];
  formats = [];
  const args = ['identity.json', 'keyring.json', questionPath, 'answer.wav', 'ca.pem'];
  const child = spawn(process.execPath, [VOICE, ...args.map(path)]);
  let errors = '';
  child.stderr.on('data', (data) => {
    errors += data;
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, errors };
}

const test = suite('the voice program');
test.before(() => {
  const data_plane_endpoints = { wss: `wss://localhost:${hub.port}` };
  const identity = {
    ...{ access_key: 'mic-1', password: PASSWORD, site_id: 'lobby', data_plane_endpoints },
    ai_disclosure: DISCLOSURE,
  };
  writeFileSync(path('identity.json'), JSON.stringify(identity));
  writeFileSync(path('ca.pem'), authority);
  writeFileSync(path('question.wav'), wav(question));
  writeFileSync(path('text.wav'), 'this is no sound');
});
test.after(() => {
  hub.stop();
  rmSync(folder, { recursive: true });
});

test('streams a question, then silence, writes the AI disclosure, once, and all speech of the hub, and says when each is played', async () => {
  const long = `${'sixty '.repeat(20).trim()}.`; // 120 letters, which are spoken as 95 and 24
  answersTo = (samples) => {
    assert.equal(samples.subarray(0, question.length), question);
    return [
      bus('recognizer_loop:record_end', {}),
      bus('speak', { utterance: 'One.', lang: 'de-de' }, { skill_id: 'one' }),
      bus('speak', { utterance: long }, { skill_id: 'long' }),
      bus('ovos.utterance.handled', {}),
    ];
  };
  const { code, errors } = await run('question.wav');
  assert.is(errors, '');
  assert.is(code, 0);
  assert.equal(new Set(heard.map(({ length }) => length)), new Set([3200]));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(played, [{ skill_id: 'one' }, { skill_id: 'long' }]);
  assert.equal(formats[0], { sample_rate: 16000, sample_width: 2 });
  assert.equal(
    readFileSync(path('answer.wav')),
    wav(Buffer.concat([DISCLOSURE.length, 4, 95, 24].map((letters) => tone(letters, 0.1)))),
  );
});

test('reports that the hub did not understand', async () => {
  answersTo = () => [
    bus('recognizer_loop:speech.recognition.unknown', { error: 'unsupported_audio_format' }),
  ];
  const { code, errors } = await run('question.wav');
  assert.is(code, 1);
  assert.match(errors, 'unsupported_audio_format');
});

test('reports that the file has no sound', async () => {
  const { code, errors } = await run('text.wav');
  assert.is(code, 1);
  assert.match(errors, 'not a WAV file');
});

test.run();
