/** A page with the example client, at the hub of the URL's query. It posts what happened to /result. */
import { parseIdentity } from 'hub-protocol';
import { startClient } from '../../examples/browser/client.js';

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
    const client = startClient(identity, {
      allowPlaintext: true,
      ask: reject,
      async show(what) {
        if (what.progress !== undefined) visited.progress++;
        if (what.type !== 'ready') return;
        visited.pattern = what.pattern;
        await undefined; // the event is being carried out
        const { ending, reply } = await client.ask('hello');
        client.goodbye();
        resolve({ ...visited, ending, text: reply.text });
      },
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
