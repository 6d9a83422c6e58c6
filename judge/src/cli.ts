#!/usr/bin/env node
import { main } from './main.ts';

process.stdout.on('error', (error: { code?: string }) => {
  if (error.code !== 'EPIPE') throw error; // the reader has gone, such as `head`
});
main(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
