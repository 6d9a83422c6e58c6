/** `ask` and `chat`: a person at a terminal talks to a hub. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { FinishDecision } from 'hub-protocol';
import { type AskEvent, type Client, connect } from 'hub-protocol-client';
import { derive } from '../../../examples/derive.ts';
import { printable } from '../../../judge/src/printable.ts';
import { type Arguments, CannotRun, type Command, type Options, type Result } from '../command.ts';
import { show } from '../derive.ts';
import { assertPrivate, readFile, readIdentityFile, reasonOf } from '../files.ts';
import { LocalError } from '../protocol.ts';

const OPTIONS: Options = {
  keyring: {
    type: 'string',
    argument: 'FILE',
    help: 'the keyring of the client (default: IDENTITY.keyring)',
  },
  ca: {
    type: 'string',
    argument: 'FILE',
    help: 'a certificate authority to trust, as PEM (default: ca.pem next to the identity, if it exists)',
  },
  'allow-plaintext': { type: 'boolean', help: 'talk to a hub without TLS' },
};

const FILES = `\
The identity is the file that the operator of the hub gave you. The keyring is created at first contact: it holds the key of
this client and of its hubs, so keep it. If the hub has another key than before, you are shown both, and asked.
`;

export const ASK: Command = {
  name: 'ask',
  summary: 'ask a hub a question',
  usage: 'ask IDENTITY QUESTION [options]',
  help: `\
Connects to the hub of an identity over WebSocket, asks, prints the answer, and leaves.

  hub-protocol ask hub/identity.json "What time is it?"

${FILES}`,
  options: OPTIONS,
  async run(args) {
    const [path, question, further] = args.positionals;
    if (path === undefined || question === undefined || further !== undefined) {
      throw new CannotRun('expected an identity and one question in quotes: see --help');
    }
    const { client, isRetried } = start(path, args);
    let failure = '';
    client.on('close', ({ tell }) => {
      failure = tell;
    });
    try {
      for (;;) {
        const finished = await client.ask(question).catch((error: Error & { code?: string }) => error);
        if ('ending' in finished) return outcomeOf(finished);
        if (await isRetried()) continue;
        const { code = 'other', message } = finished;
        return {
          status: 1,
          text: `${failure || message}\n`,
          json: { error: code, message: failure || message },
        };
      }
    } finally {
      client.end();
    }
  },
};

function outcomeOf({ ending, reply: { text } }: FinishDecision): Result {
  const shown = text || `The hub gave no answer (${ending}).`;
  return { status: text === '' ? 1 : 0, text: `${shown}\n`, json: { ending, text } };
}

export const CHAT: Command = {
  name: 'chat',
  summary: 'talk to a hub',
  usage: 'chat IDENTITY [options]',
  help: `\
Connects to the hub of an identity over WebSocket, and stays connected: each line that you type is a question. What the hub
says unasked is shown, too. Ctrl+C or Ctrl+D ends it.

  hub-protocol chat hub/identity.json

${FILES}`,
  options: OPTIONS,
  async run(args) {
    const { client } = start(args.only('identity'), args);
    const say = (text: string): void => void process.stdout.write(printable(`${text}\n`));
    client.on('connect', ({ nodeId }) => say(`connected to ${nodeId}`));
    client.on('close', ({ tell }) => say(tell));
    client.on('reconnect', ({ after }) => say(`connecting again in ${Math.ceil(after / 1000)} s`));
    client.on('message', ({ message: { data } }) => {
      if (typeof data.utterance === 'string') say(`hub: ${data.utterance}`);
    });
    const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' });
    terminal.on('SIGINT', () => terminal.close());
    terminal.prompt();
    for await (const line of terminal) {
      if (line.trim() !== '') {
        const answer = await client.ask(line).then(
          ({ ending, reply }) => reply.text || `(no answer: ${ending})`,
          (error: Error) => error.message,
        );
        say(answer);
      }
      terminal.prompt();
    }
    client.end();
    return { status: 0, text: '', json: {} };
  },
};

/** Starts a client. `isRetried` waits for a person who is being asked, and returns whether the client connects again. */
function start(path: string, args: Arguments): { client: Client; isRetried(): Promise<boolean> } {
  const identity = readIdentityFile(path);
  const keyring = args.text('keyring') ?? `${path.replace(/\.json$/, '')}.keyring.json`;
  if (!existsSync(keyring)) assertPrivate(keyring, false);
  const ca = readAuthority(args.text('ca'), join(dirname(path), 'ca.pem'));
  const allowPlaintext = args.flag('allow-plaintext');
  const policy = { onKkFailure: 'keep-pin' } as const; // a person is asked about another key
  const client = connectOr(keyring, () => {
    return connect({ identity, keyring, ca, allowPlaintext, policy, derive, userAgent: 'hub-protocol-cli' });
  });
  client.on('deriving', ({ progress }) => show(progress, 'deriving the pre-shared key'));
  let decision = Promise.resolve(false);
  client.on('ask', (event) => {
    decision = decide(event, client);
  });
  return { client, isRetried: () => decision };
}

/** @returns whether the client connects again */
async function decide(event: AskEvent, client: Client): Promise<boolean> {
  if ((event.error as { code?: string }).code !== 'hub-key-changed' || !process.stdin.isTTY) return false;
  process.stderr.write(printable(`${event.tell}\n`));
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question('Is this the new key of your hub? Type yes to trust it: ');
  terminal.close();
  if (answer.trim().toLowerCase() !== 'yes') return false;
  client.trust(event);
  return true;
}

function readAuthority(given: string | undefined, beside: string): string | undefined {
  if (given === undefined && !existsSync(beside)) return undefined;
  return Buffer.from(readFile(given ?? beside, 'the certificate authority')).toString();
}

/** Turns errors of the library and the system into CannotRun. */
function connectOr(keyring: string, start: () => Client): Client {
  try {
    return start();
  } catch (error) {
    if (error instanceof LocalError) {
      throw new CannotRun(
        error.code === 'plaintext-endpoint'
          ? 'the hub of this identity has no TLS: pass --allow-plaintext if it is on this machine'
          : `${error.message} (${error.code})`,
      );
    }
    throw new CannotRun(`cannot use the keyring ${keyring}: ${reasonOf(error)}`);
  }
}
