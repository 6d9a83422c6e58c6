// biome-ignore-all lint/correctness/noUnusedVariables: the shell of docs/reference/sessions.md uses them
// biome-ignore-all lint/correctness/noUnusedImports: as above
// biome-ignore-all lint/correctness/noUnusedFunctionParameters: as above
/**
 * A client made of the shell in docs/reference/sessions.md, and the few lines around it that are the application's. It asks, loses its connection,
 * connects again and asks again; prints the pattern of each connection and each reply.
 */
import {
  authorizedUrl,
  buildUtterance,
  ClientLink,
  createKeyring,
  derivePsk,
  parseIdentity,
  readHubEvent,
  selectEndpoint,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';

function converse(issued) {
  return new Promise((resolve, askPerson) => {
    const identity = parseIdentity(issued);
    const { accessKey, password, siteId } = identity;
    const url = authorizedUrl(selectEndpoint(identity, { supported: ['wss'] }).url, 'example', accessKey);
    const keyring = createKeyring({ accessKey, staticKey: randomBytes(32), crypto });
    const heard = [];

    const save = (_keyring, done) => done(); // in memory
    const derive = (nodeId, done) => done(derivePsk({ crypto, password, nodeId }));
    function onEvent(event) {
      if (event.type === 'ask') askPerson(event.error);
      if (event.type === 'connect') {
        heard.push(event.pattern);
        run(link.send(buildUtterance({ requestId: `r-${heard.length}`, text: 'hello' }), now()));
      }
      if (event.type !== 'text' || readHubEvent(event.text)?.type !== 'speak') return;
      heard.push(readHubEvent(event.text).data.utterance);
      if (heard.length < 4) return socket.close();
      run(link.end(now()));
      resolve(heard);
    }

    // The shell of docs/reference/sessions.md
  });
}
