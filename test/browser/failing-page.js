/** A page with the client, at the hub of the URL's query. It posts its first `close` or `ask` to /result. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';

const wss = new URLSearchParams(location.search).get('hub');
const issued = { access_key: 'kiosk-7', password: 'correct horse', data_plane_endpoints: { wss } };
const client = connect({ identity: parseIdentity(issued), allowPlaintext: true });
// Something else that its policy may forbid, also while the client connects.
setInterval(() => fetch('http://localhost:2/').catch(() => {}), 1);
for (const type of ['close', 'ask']) {
  client.on(type, ({ error, advice }) => {
    client.end();
    fetch('/result', { method: 'POST', body: JSON.stringify({ type, code: error.code, advice }) });
  });
}
