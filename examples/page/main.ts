/** Serves the page: `npm run demo -- page`, with a port if it is not to be 8080. */
import { servePage } from './server.ts';

const { url } = await servePage(Number(process.argv[2] ?? 8080));
console.log(`Open ${url}. The page has a hub in it; paste another identity to reach another hub.`);
console.log('Ctrl+C ends it.');
