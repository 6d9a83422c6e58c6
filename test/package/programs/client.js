// biome-ignore-all lint/correctness/noUnusedVariables: the loop of docs/reference/policy.md uses them
// biome-ignore-all lint/correctness/noUnusedImports: as above
// biome-ignore-all lint/correctness/noUnusedFunctionParameters: as above
/**
 * A client made of the loop in docs/reference/policy.md, and the few lines around it that are the application's. It asks, loses its connection,
 * connects again and asks again; prints the pattern of each connection and each reply.
 */
import {
  authorizedUrl,
  buildUtterance,
  ClientSession,
  ConnectionPolicy,
  createKeyring,
  derivePsk,
  parseIdentity,
  readHubEvent,
  selectEndpoint,
  updateKeyring,
} from 'hub-protocol';
import { nodeCrypto as crypto, randomBytes } from 'hub-protocol/node';

function converse(issued) {
  return new Promise((resolve, askPerson) => {
    const identity = parseIdentity(issued);
    const { accessKey, password, siteId } = identity;
    const url = authorizedUrl(selectEndpoint(identity, { supported: ['wss'] }).url, 'example', accessKey);
    let keyring = createKeyring({ accessKey, staticKey: randomBytes(32), crypto });
    const heard = [];

    function onEvent(event, { session, socket, handle }) {
      keyring = updateKeyring(keyring, event);
      if (event.type === 'psk-needed') {
        handle(session.providePsk(derivePsk({ crypto, password, nodeId: event.nodeId })));
      }
      if (event.type === 'ready') {
        heard.push(event.pattern);
        const request = buildUtterance({ requestId: `r-${heard.length}`, text: 'hello' });
        for (const data of session.sendJson(request)) socket.send(data);
      }
      if (event.type !== 'message' || readHubEvent(event.text)?.type !== 'speak') return;
      heard.push(readHubEvent(event.text).data.utterance);
      if (heard.length === 4) policy.goodbye();
      socket.close();
      if (heard.length === 4) resolve(heard);
    }

    // The loop of docs/reference/policy.md

    connect();
  });
}
