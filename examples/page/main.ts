/** Starts a hub and the page, and prints an identity to paste: `npm run demo -- page`, with a port if it is not to be 8080. */
import { servePage } from './server.ts';

const { url, identity } = await servePage(Number(process.argv[2] ?? 8080));
console.log(`Open ${url} and paste this identity, which is good until this program ends:\n`);
console.log(JSON.stringify(identity, undefined, 2));
console.log('\nCtrl+C ends it.');
