/**
 * A page with a voice: it asks the hub, lets the hub speak each answer, and plays the sound, as often as the URL's query says. It posts
 * what happened to /result.
 */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';

const query = new URLSearchParams(location.search);
const client = connect({ identity: parseIdentity(query.get('identity')) });
const player = new AudioContext();
const heard = { asked: 0, sounds: 0, played: 0, seconds: 0 };

/** Plays a sound, and rejects if the hub sends something else in its place. */
const sound = () =>
  new Promise((resolve, reject) => {
    client.once('bytes', async ({ bytes, bin_type }) => {
      if (bin_type !== 'tts_audio') return reject(new Error(bin_type));
      heard.sounds++;
      const buffer = await player.decodeAudioData(bytes.slice().buffer);
      const source = new AudioBufferSourceNode(player, { buffer });
      source.connect(player.destination);
      source.onended = () => resolve(buffer.duration);
      source.start();
    });
    client.once('message', ({ message }) => reject(new Error(message.type))); // such as hive.policy.denied
    client.once('dropped', ({ tell }) => reject(new Error(tell)));
    client.once('close', ({ tell }) => reject(new Error(tell)));
  });

async function talk() {
  while (heard.asked < query.get('rounds')) {
    heard.asked++;
    const { reply } = await client.ask(`question ${heard.asked}${' and so on'.repeat(heard.asked % 4)}`);
    const playing = sound();
    const data = { utterance: reply.text, lang: 'en-us' };
    client.send({ msg_type: 'bus', payload: { type: 'speak:synth', data, context: {} } });
    heard.seconds += await playing;
    heard.played++;
    client.spoken();
  }
  client.end();
  return heard;
}

const refused = new Promise((_, reject) => client.once('ask', ({ tell }) => reject(new Error(tell))));
const result = await Promise.race([talk(), refused]).catch((error) => ({ ...heard, error: String(error) }));
await fetch('/result', { method: 'POST', body: JSON.stringify(result) });
