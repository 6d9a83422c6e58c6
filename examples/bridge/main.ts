/**
 * Runs the bridge on a serial port, as `stty` of Linux sets it up, for one device or more, with the addresses 1, 2 and so on:
 *
 *     node --import tsx examples/bridge/main.ts /dev/ttyUSB0 identity.json [IDENTITY.json ...]
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { parseIdentity } from 'hub-protocol';
import { startBridge } from './bridge.ts';
import { SerialLine } from './serial-line.ts';

const BAUD = 115_200;

const [port, ...identities] = process.argv.slice(2);
if (port === undefined || identities.length === 0) throw new Error('usage: main.ts PORT IDENTITY.json ...');
execFileSync('stty', ['-F', port, String(BAUD), 'raw', '-echo']);
const stream = Duplex.from({ readable: createReadStream(port), writable: createWriteStream(port) });
const line = new SerialLine(stream, { baud: BAUD });
stream.on('error', ({ message }) => {
  console.error(`${port}: ${message}. Start the bridge again when the port is back.`);
  process.exit(1);
});
const bridges = identities.map((identity, i) =>
  startBridge({
    line,
    address: i + 1,
    identity: parseIdentity(readFileSync(identity, 'utf8')),
    ask: (code) => console.error(`${identity}: ${code}: see docs/reference/errors.md. Then send SIGHUP.`),
    observe: (what) => console.log(identity, JSON.stringify(what)),
  }),
);
process.on('SIGHUP', () => {
  for (const bridge of bridges) bridge.resume();
});
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    for (const bridge of bridges) bridge.end();
    setTimeout(() => process.exit(), 1000); // after the goodbye has been written
  });
}
