/** `ask`: asks a hub one question. */
import type { Answer, AskError, Part } from 'hub-protocol-client';
import { bytesToUtf8, printable } from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Command, type Result } from '../command.ts';
import { readFile } from '../files.ts';
import {
  askOnce,
  type Disclosed,
  FILES,
  LONGEST,
  lineAfter,
  type Shown,
  shownOf,
  startTalk,
  TALK_OPTIONS,
} from '../talk.ts';

export const ASK: Command = {
  name: 'ask',
  summary: 'ask a hub a question',
  usage: 'ask IDENTITY QUESTION [options]',
  help: `\
Connects to the hub of an identity over WebSocket, asks, prints the answer as
the hub gives it, and leaves. If the first connection fails, it says why.

  hub-protocol ask hub/identity.json "What time is it?"
  hub-protocol ask hub/identity.json - < question.txt

${FILES}`,
  options: TALK_OPTIONS,
  run: ask,
};

async function ask(args: Arguments): Promise<Result> {
  const [path, ...words] = args.positionals;
  if (path === undefined || words.length === 0) {
    throw new CannotRun('expected an identity and a question: see --help');
  }
  const question = words.length === 1 && words[0] === '-' ? readQuestion() : words.join(' ');
  const say = (text: string): void => void process.stderr.write(printable(`${text}\n`));
  const { client, disclosed, failure, isDeriving, isRetried } = startTalk(path, args, askOnce, say);
  // The client would connect again later, but a person is waiting. A part of an answer comes first.
  let fail = (_error: Error): void => {};
  let lost = new Error();
  client.on('close', ({ error }) => {
    lost = error;
  });
  client.on('reconnect', ({ after }) => {
    if (after > 0 && !isDeriving()) setImmediate(fail, lost);
  });
  client.on('ask', ({ error }) => fail(error));
  const onPart = ({ text }: Part): void => {
    if (text !== '' && !args.flag('json')) process.stdout.write(printable(`${text}\n`));
  };
  const put = (): Promise<Answer | AskError> =>
    client.ask(question, { onPart, timeout: LONGEST }).catch((error: AskError) => error);
  try {
    let asked = put();
    for (;;) {
      const failed = new Promise<Error>((resolve) => {
        fail = resolve;
      });
      const finished = await Promise.race([asked, failed]);
      if ('ending' in finished) return resultOf(shownOf(finished), disclosed());
      if (await isRetried()) {
        if ('requestId' in finished) asked = put(); // the other waits until the key is trusted
        continue;
      }
      const { code = 'other', message, advice = message } = finished as Partial<AskError> & Error;
      const json = { ...disclosed(), error: code, message: failure() || advice };
      return { status: 1, text: `${json.message}\n`, json };
    }
  } finally {
    client.end();
  }
}

function readQuestion(): string {
  const text = bytesToUtf8(readFile('-', 'the question'));
  if (text === undefined) throw new CannotRun('the question on standard input is not UTF-8');
  return text.trim();
}

function resultOf(shown: Shown, disclosed: Disclosed): Result {
  const status = shown.message === undefined ? 0 : 1;
  const line = lineAfter(shown);
  return { status, text: line === undefined ? '' : `${line}\n`, json: { ...disclosed, ...shown } };
}
