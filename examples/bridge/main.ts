/**
 * Runs the bridge on a serial port, as `stty` of Linux sets it up:
 *
 *     node --import tsx examples/bridge/main.ts /dev/ttyUSB0 identity.json
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { parseIdentity } from 'hub-protocol';
import { startBridge } from './bridge.ts';

const [port, identity] = process.argv.slice(2);
if (port === undefined || identity === undefined) throw new Error('usage: main.ts PORT IDENTITY.json');
execFileSync('stty', ['-F', port, '115200', 'raw', '-echo', 'ixon', 'ixoff']);
const bridge = startBridge({
  line: Duplex.from({ readable: createReadStream(port), writable: createWriteStream(port) }),
  identity: parseIdentity(readFileSync(identity, 'utf8')),
  ask: (code) => console.error(`${code}: see docs/reference/errors.md. Then send SIGHUP.`),
  observe: (what) => console.log(JSON.stringify(what)),
});
process.on('SIGHUP', () => bridge.resume());
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    bridge.end();
    setTimeout(() => process.exit(), 1000); // after the goodbye has been written
  });
}
