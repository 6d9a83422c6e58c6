#!/usr/bin/env node
/** `hub-protocol`: commands for the bench next to a device. */
import { main } from './main.ts';

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(); // whoever read the output has left, such as `head`
  });
}

main(process.argv.slice(2)).then(({ status, stdout, stderr }) => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = status;
  setTimeout(() => process.exit(), 1000).unref(); // some servers never end their side of a connection
});
