/**
 * One of the processes of a hub, with the static key in `hub.json`, as examples/hub.js writes it:
 * node process.mjs redis redis://localhost 5679
 */
import { readFileSync } from 'node:fs';
import { serveHub } from 'hub-protocol-client/hub';

const [store, url, port] = process.argv.slice(2);
const { openClients } = await import(`./${store}.mjs`);
const { staticKey } = JSON.parse(readFileSync('hub.json', 'utf8'));
await serveHub({
  nodeId: 'hub.example', // the same in all processes, as is the key
  staticKey: Buffer.from(staticKey, 'hex'),
  clients: await openClients(url),
  port: Number(port),
  maxConnections: 10_000, // `ulimit -n` says how many descriptors there are for them
  answer: (utterance, { accessKey }) => `Hello ${accessKey}, you said: ${utterance}`,
  onRefused: ({ code }, state) => console.log(`refused ${code} ${state}`),
  onFault: (error) => console.log(`fault ${error}`),
});
console.log('listens');
