/** Speech at HiveMind's hub: it goes through the binary protocol of HiveMind, and stand-ins for recognition and synthesis. */
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type HubEvent, type JsonObject, parseIdentity } from 'hub-protocol';
import { type Client, connect } from 'hub-protocol-client';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Firefox } from '../browser/firefox.ts';
import { runPage } from '../browser/run-page.ts';
import { freePort } from '../world/free-port.ts';
import { wav } from '../world/wav.ts';
import { authority, files, folder } from './certificate.ts';
import { HivemindHub } from './hivemind.ts';
import { compare } from './matrix.ts';
import { PYTHON, versionOf } from './python-peer.ts';

const VOICE = fileURLToPath(new URL('../../examples/voice.ts', import.meta.url));
const WYOMING = fileURLToPath(new URL('../../examples/wyoming.js', import.meta.url));
const PEER = fileURLToPath(new URL('wyoming_peer.py', import.meta.url));
const PASSWORD = 'correct horse battery staple';
const ALLOWED = ['recognizer_loop:utterance', 'speak:synth', 'recognizer_loop:audio_output_end'];
const FORMAT = { sample_rate: 16_000, sample_width: 2 };
/** The plugins in speech/, as an operator names them. */
const PROTOCOL = {
  stt: { module: 'letters' },
  tts: { module: 'letters' },
  vad: { module: 'zeros' },
  wakeword: 'anything',
  hotwords: { anything: { module: 'any-sound' } },
};

/** The samples of a text, as the plugins speak it: 25 ms for each letter. */
function spoken(text: string): Buffer {
  return Buffer.concat([...text].map((letter) => Buffer.from(letter.repeat(400), 'utf16le')));
}

const module = 'hivemind-audio-binary-protocol-plugin';
const hub = await HivemindHub.create(`"binary_protocol":${JSON.stringify({ module, [module]: PROTOCOL })}`);
const path = (name: string): string => join(folder, name);
const identity = {
  access_key: 'mic-1',
  password: PASSWORD,
  site_id: 'lobby',
  data_plane_endpoints: { wss: `wss://localhost:${hub.port}` },
};

const test = suite('speech at HiveMind’s hub');
test.before(async () => {
  const allow = ALLOWED.flatMap((type) => ['--allow', type]);
  for (const key of ['mic-1', 'chromium', 'firefox', 'wyoming-1']) {
    await hub.command('add-client', '--access-key', key, '--password', PASSWORD, ...allow);
  }
  await hub.start('--speech');
  writeFileSync(path('identity.json'), JSON.stringify(identity));
});
test.after(() => {
  for (const client of clients) client.end();
  return hub.stop();
});

const clients: Client[] = [];

/** A client that has recorded what the hub said. */
async function listen() {
  const client = connect({
    identity: parseIdentity(identity),
    keyring: path('keyring.json'),
    socket: { ca: authority },
  });
  clients.push(client);
  const said: HubEvent[] = [];
  let wake = (): void => {};
  client.on('message', ({ message }) => {
    said.push(message);
    wake();
  });
  const failed = new Promise<never>((_, reject) =>
    client.on('ask', ({ advice }) => reject(new Error(advice))),
  );
  await Promise.race([failed, new Promise<void>((resolve) => client.on('connect', () => resolve()))]);
  return {
    client,
    /** The data of the first message of a type. */
    async data(type: string): Promise<JsonObject> {
      for (;;) {
        const found = said.find((message) => message.type === type);
        if (found !== undefined) return found.data;
        await Promise.race([
          failed,
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
        ]);
      }
    },
  };
}

const row = {
  peer: 'hivemind-audio-binary-protocol',
  version: versionOf('hivemind-audio-binary-protocol'),
  role: 'hub' as const,
  suite: '25519_ChaChaPoly_SHA256',
};

const streamed = '`examples/voice.ts` streams a question and gets the answer as sound';
compare(test, { ...row, pattern: 'XXpsk2', what: streamed }, async () => {
  writeFileSync(path('question.wav'), wav(spoken('what time is it?')));
  const args = [
    path('identity.json'),
    path('keyring.json'),
    path('question.wav'),
    path('answer.wav'),
    files.ca,
  ];
  const options = { timeout: 60_000 };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', VOICE, ...args],
    options,
  );
  assert.equal(
    stdout.split('\n').map((line) => line.split(' ')[0]),
    [
      'mycroft.audio.play_sound',
      'recognizer_loop:wakeword',
      'recognizer_loop:record_begin',
      'recognizer_loop:utterance',
      'speak',
      'ovos.utterance.handled',
      'recognizer_loop:record_end',
      'tts_audio',
      '',
    ],
  );
  assert.equal(readFileSync(path('answer.wav')), wav(spoken('You said: what time is it?')));
  return undefined;
});

for (const name of ['Chromium', 'Firefox']) {
  const inPage = `\`<hub-chat>\` in ${name} asks, records speech, asks what it was, and plays the answers`;
  compare(test, { ...row, pattern: 'XXpsk2', what: inPage }, async () => {
    const issued = { ...identity, access_key: name.toLowerCase(), ai_disclosure: { en: 'An AI answers.' } };
    const query = new URLSearchParams({ act: 'voice', voice: '', identity: JSON.stringify(issued) });
    const flags = [
      ...['--ignore-certificate-errors', '--autoplay-policy=no-user-gesture-required'],
      ...['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    ];
    const scripts = ['hub-chat-page.js', '../../client/dist/derive-worker-in-browser.js'];
    const browser = name === 'Firefox' ? await Firefox.open() : undefined;
    const heard = (await runPage(scripts, `?${query}`, { flags, browser })) as { [what: string]: string[] };
    await browser?.stop();
    const [, , , speech, answer] = heard.lines!;
    const [, samples] = /^You: (\d+) samples/.exec(speech!)!;
    assert.ok(Number(samples) > 8_000 && Number(samples) < 32_000, samples); // about a second
    const answers = ['An AI answers.', 'You said: what time is it?', `You said: ${speech!.slice(5)}`];
    assert.equal(heard.lines, ['You: what time is it?', ...answers.slice(0, 2), speech, answers[2]]);
    assert.is(answer, answers[2]);
    assert.equal(heard.played, answers);
    return undefined;
  });
}

const wyoming = {
  ...{ ...row, peer: 'wyoming', version: versionOf('wyoming', 'requirements.txt'), role: 'client' as const },
  what: '`examples/wyoming.js` lets it ask, transcribe and synthesize at HiveMind’s hub',
};
compare(test, { ...wyoming, pattern: 'XXpsk2' }, async () => {
  const issued = { ...identity, access_key: 'wyoming-1', ai_disclosure: { en: 'An AI answers.' } };
  writeFileSync(path('wyoming.json'), JSON.stringify(issued));
  const port = await freePort();
  const bridge = spawn(process.execPath, [WYOMING, path('wyoming.json'), String(port), files.ca], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(bridge.stdout, 'data');
    const text = `${'all these words '.repeat(9)}and the last`; // of which the hub speaks 100 letters at a time
    const [program, ...args] = [...PYTHON, PEER, String(port), 'what time is it?', text];
    const { stdout } = await promisify(execFile)(program!, args, { timeout: 60_000 });
    const { spoken: sounds, ...others } = JSON.parse(stdout);
    assert.equal(others, {
      offers: [['hub'], ['hub'], ['hub']],
      pong: 'here',
      handled: [
        ['handled-start', null],
        ['handled-chunk', 'An AI answers. You said: what time is it? '],
        ['handled-stop', null],
        ['handled', 'You said: what time is it?'],
      ],
      transcript: 'buy milk (de-de)',
      rate: 16_000,
      error: 'send 16-bit mono at 16000 Hz',
    });
    assert.is(sounds.replace(/\s/g, ''), text.replace(/\s/g, ''));
    return undefined;
  } finally {
    bridge.kill();
  }
});

compare(test, { ...row, pattern: 'KKpsk0', what: 'one utterance, with its language' }, async () => {
  const { client, data } = await listen();
  client.sendBytes(spoken('wie spät ist es?'), 'stt_audio_handle', { ...FORMAT, lang: 'de-de' });
  assert.is((await data('speak')).utterance, 'You said: wie spät ist es? (de-de)');
  return undefined;
});

compare(test, { ...row, pattern: 'KKpsk0', what: 'a recording to transcribe' }, async () => {
  const { client, data } = await listen();
  client.sendBytes(spoken('buy milk'), 'stt_audio_transcribe', { ...FORMAT, lang: 'en-us' });
  assert.equal(await data('recognizer_loop:transcribe.response'), {
    transcriptions: [['buy milk (en-us)', 1]],
    lang: 'en-us',
  });
  return undefined;
});

compare(
  test,
  { ...row, pattern: 'KKpsk0', what: 'speech in a format that the hub does not support' },
  async () => {
    const { client, data } = await listen();
    client.sendBytes(spoken('hello'), 'raw_audio', { sample_rate: 44_100, sample_width: 2 });
    assert.is((await data('recognizer_loop:speech.recognition.unknown')).error, 'unsupported_audio_format');
    client.end();
    return undefined;
  },
);

compare(test, { ...row, pattern: 'KKpsk0', what: 'a text of 400 random letters to synthesize' }, async () => {
  const { client } = await listen();
  const heard = new Promise<JsonObject>((resolve) =>
    client.on('bytes', ({ metadata }) => resolve(metadata!)),
  );
  for (const utterance of [randomBytes(300).toString('base64'), 'short']) {
    const payload = { type: 'speak:synth', data: { utterance, lang: 'en-us' }, context: {} };
    client.send({ msg_type: 'bus', payload });
  }
  assert.is((await heard).utterance, 'short');
  return 'sends nothing if the text in the metadata exceeds 255 bytes';
});

test.run();
