/** The broker of the soak, in a process of its own. */
import { type AddressInfo, createServer } from 'node:net';
import { Aedes } from 'aedes';

const broker = await Aedes.createBroker();
const server = createServer({ noDelay: true }, (socket) => broker.handle(socket));
server.listen(0, '127.0.0.1', () =>
  process.send!(`mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.on('disconnect', () => process.exit());
