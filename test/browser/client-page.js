/** A page with the example client, at the hub of the URL's query. It posts what happened to /result. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';

const wss = new URLSearchParams(location.search).get('hub');
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

let result;
try {
  result = [await visit(), await visit()];
} catch (error) {
  result = String(error);
}
await fetch('/result', { method: 'POST', body: JSON.stringify(result) });
