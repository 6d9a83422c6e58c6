/** A page with the example client, at the hub of the URL's query. It posts what happened to /result. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';

const query = new URLSearchParams(location.search);
const wss = query.get('hub');
const identity = parseIdentity({
  access_key: 'kiosk-7',
  password: 'correct horse',
  site_id: 'lobby',
  data_plane_endpoints: { wss },
});

/** Connects, asks, and leaves. */
function visit() {
  const visited = { progress: 0 };
  return new Promise((resolve, reject) => {
    const client = connect({ identity, allowPlaintext: true });
    client.on('ask', ({ tell }) => reject(new Error(tell)));
    client.on('deriving', () => visited.progress++);
    client.on('connect', async ({ pattern }) => {
      const { ending, reply } = await client.ask('hello');
      client.end();
      resolve({ ...visited, pattern, ending, text: reply.text });
    });
  });
}

/** Asks a hub that goes away at the first question. Returns what it answers when it is back. */
function stay() {
  return new Promise((resolve, reject) => {
    const client = connect({ identity, allowPlaintext: true });
    client.on('ask', ({ tell }) => reject(new Error(tell)));
    client.once('connect', () => client.ask('go').catch(() => {})); // it may go before it has answered
    client.once('close', async () => {
      const questions = Array.from({ length: 22 }, (_, i) => client.ask(`question ${i}`));
      const answers = await Promise.allSettled(questions);
      client.end();
      resolve(answers.map(({ value, reason }) => value?.reply.text ?? String(reason)));
    });
  });
}

let result;
try {
  result = query.has('away') ? await stay() : [await visit(), await visit()];
} catch (error) {
  result = String(error);
}
await fetch('/result', { method: 'POST', body: JSON.stringify(result) });
