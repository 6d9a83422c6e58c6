/** A page with the example client, at the hub of the URL's query. It posts what happened to /result. */
import { parseIdentity } from 'hub-protocol';
import { connect } from 'hub-protocol-client/browser';
import { openKeyring } from '../../examples/keyring-in-indexeddb.js';

const query = new URLSearchParams(location.search);
const post = (result) => fetch('/result', { method: 'POST', body: JSON.stringify(result) });

/** Connects. What only a person can help with is the result of the page. */
function start({ key = 'kiosk-7', ...options } = {}) {
  const identity = parseIdentity({
    access_key: key,
    password: 'correct horse',
    site_id: 'lobby',
    data_plane_endpoints: { wss: query.get('hub') },
  });
  const client = connect({ identity, allowPlaintext: true, ...options });
  client.on('ask', ({ advice }) => post(advice));
  return client;
}

/** Connects, asks, and leaves. */
async function visit(options) {
  const visited = { progress: 0 };
  const client = start(options);
  client.on('deriving', () => visited.progress++);
  client.on('connect', ({ pattern }) => Object.assign(visited, { pattern }));
  const { ending, reply } = await client.ask('hello');
  client.end();
  return { ...visited, ending, text: reply.text };
}

const ACTS = {
  visits: async () => [await visit(), await visit()],

  /** With a keyring in IndexedDB. */
  indexeddb: async () => {
    const visits = [];
    for (let i = 0; i < 2; i++) visits.push(await visit({ keyring: await openKeyring('kiosk-7') }));
    return [...visits, localStorage.length];
  },

  /** Asks a hub that goes away at the first question. Returns what it answers when it is back. */
  away: () =>
    new Promise((resolve) => {
      const client = start();
      client.once('connect', () => client.ask('go').catch(() => {})); // it may go before it has answered
      client.once('close', async () => {
        const questions = Array.from({ length: 22 }, (_, i) => client.ask(`question ${i}`));
        const answers = await Promise.allSettled(questions);
        client.end();
        resolve(answers.map(({ value, reason }) => value?.reply.text ?? String(reason)));
      });
    }),

  /** Loses the network at the first question. Returns how long it takes to connect once it is back, in milliseconds. */
  online: async () => {
    const client = start({ policy: { basePause: 60_000, maxPause: 60_000 } });
    client.ask('go').catch(() => {});
    const back = await new Promise((resolve) =>
      addEventListener('online', ({ timeStamp }) => resolve(timeStamp)),
    );
    await new Promise((resolve) => client.once('connect', resolve));
    return performance.now() - back;
  },

  /** Leaves for another page, comes back, and asks again. Returns the answer, and whether it is still the same page. */
  back: async () => {
    const client = start();
    await client.ask('hello');
    const isKept = new Promise((resolve) =>
      addEventListener('pageshow', ({ persisted }) => resolve(persisted)),
    );
    if (performance.getEntriesByType('navigation')[0].type !== 'back_forward') location.href = '/back.html';
    return [await isKept, (await client.ask('again')).reply.text];
  },

  /**
   * Makes first contact in two tabs at the same moment, as often as the query says, each time with another access key. Returns how the
   * connections of the two have ended, and how one connects afterwards.
   */
  tabs: async () => {
    const channel = new BroadcastChannel('tabs');
    const next = () => new Promise((resolve) => channel.addEventListener('message', resolve, { once: true }));
    const derive = async () => Uint8Array.from(query.get('psk').split(','));
    const meet = async (key) => {
      const codes = [];
      const keyring = query.has('stored') ? await openKeyring(key) : undefined;
      const client = start({ key, derive, keyring });
      client.on('close', ({ error }) => codes.push(error.platformCode ?? error.code));
      await client.ask('hello');
      await new Promise((resolve) => setTimeout(resolve, query.get('stay')));
      client.end();
      return codes;
    };
    if (query.has('second')) {
      channel.onmessage = async ({ data }) => channel.postMessage(await meet(data));
      channel.postMessage('is here');
      return new Promise(() => {});
    }
    const isHere = next();
    open(`${location}&second`, '', 'noopener');
    await isHere;
    const met = [];
    for (let i = 0; i < query.get('tabs'); i++) {
      channel.postMessage(`tab-${i}`);
      const other = next();
      const codes = await Promise.all([meet(`tab-${i}`), other.then(({ data }) => data)]);
      const keyring = query.has('stored') ? await openKeyring(`tab-${i}`) : undefined;
      const { pattern } = await visit({ key: `tab-${i}`, derive, keyring });
      met.push({ codes: codes.flat().sort(), pattern });
    }
    return met;
  },
};

const [act] = Object.keys(ACTS).filter((name) => query.has(name));
await post(await ACTS[act ?? 'visits']().catch(String));
