/**
 * A kiosk in a terminal: each typed line is a question, which interrupts the last answer, and an empty one says that the next person has
 * come. It stays connected, survives restarts, asks when the hub has another key, and shows instructions for operators. Over MQTT, import `connect` from 'hub-protocol-client/mqtt'.
 *
 *     node --import tsx examples/kiosk.ts IDENTITY.json KEYRING.json [CA.pem]
 */
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseIdentity } from 'hub-protocol';
import { type Answer, type AskError, type AskEvent, connect } from 'hub-protocol-client';

const [identityPath = 'identity.json', keyring = 'keyring.json', caPath] = process.argv.slice(2);
const client = connect({
  identity: parseIdentity(readFileSync(identityPath, 'utf8')),
  keyring,
  socket: caPath === undefined ? undefined : { ca: readFileSync(caPath, 'utf8') },
  policy: { onKkFailure: 'keep-pin' }, // ask a person before accepting another key of the hub
  disclosure: { isShared: true },
});
let question: AskEvent | undefined;
let said = '';

/** What happens now is for whoever stands here, what to do about it for the log. */
const report = ({ tell, advice }: Pick<Answer, 'tell' | 'advice'>, hint = '') => {
  console.log(tell, hint);
  console.error(advice);
};
client.on('deriving', ({ progress }) => console.log(`Computing: ${Math.round(100 * progress)} %`));
client.on('connect', ({ nodeId }) => {
  console.log(`Connected to ${nodeId}.`);
  question = undefined;
  said = '';
});
client.on('reconnect', ({ tell, advice = said }) => {
  if (advice !== said) report({ tell, advice }); // once, not at each attempt
  said = advice;
});
client.on('disclosure', ({ text = 'The AI notice is missing: tell the operator.' }) => console.log(text));
client.on('speak', ({ text }) => console.log('The hub says:', text));
client.on('ask', (event) => {
  const hint =
    event.act === 'trust' ? 'Type "trust" once the operator has confirmed it.' : 'Type "again" to try again.';
  if (question?.advice !== event.advice) report(event, hint); // once, not at each attempt
  question = event;
});

const terminal = createInterface({ input: process.stdin });
terminal.on('line', async (line) => {
  const asked = question;
  question = undefined;
  if (asked?.act === 'trust' && line === 'trust') client.trust(asked);
  else if (asked !== undefined) client.resume();
  else if (line === '') client.newConversation();
  else {
    const answer = await client
      .ask(line, { interrupt: true, onPart: ({ text }) => console.log(text) })
      .catch((error: AskError) => error);
    if (answer.tell !== undefined) report(answer);
  }
});
terminal.on('close', () => client.end());
process.once('SIGINT', () => terminal.close());
