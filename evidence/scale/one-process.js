/** One of the processes of a hub: node one-process.js STORE URL PORT STATIC-KEY. */
import { serveHub } from 'hub-protocol-client/hub';

const [store, url, port, staticKey] = process.argv.slice(2);
const { openClients } = await import(`../../examples/stores/${store}.js`);
await serveHub({
  nodeId: 'hub-1',
  staticKey: Buffer.from(staticKey, 'hex'),
  clients: await openClients(url),
  port: Number(port),
  maxConnections: 10_000,
  answer: (_, { accessKey }) => `${port} ${accessKey}`,
  onRefused: ({ code }, state) => console.log(`refused ${code} ${state}`),
  onFault: (error) => console.log(`fault ${error}`),
});
console.log('listens');
