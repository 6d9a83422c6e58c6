/** `chat`: a person at a terminal talks to a hub. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import type { AskError, Part } from 'hub-protocol-client';
import { fingerprint, printable } from 'hub-protocol-judge/internals';
import type { Arguments, Command, Result } from '../command.ts';
import {
  answerAt,
  both,
  FILES,
  LONGEST,
  lineAfter,
  onOneLine,
  type Shown,
  shownOf,
  startTalk,
  TALK_OPTIONS,
} from '../talk.ts';

export const CHAT: Command = {
  name: 'chat',
  summary: 'talk to a hub',
  usage: 'chat IDENTITY [options]',
  help: `\
Connects to the hub of an identity over WebSocket, and stays connected: each
line that you type is a question, and interrupts the answer to the last. What
the hub says unasked is shown, too. Ctrl+C interrupts an answer, or ends it.

  hub-protocol chat hub/identity.json
  hub-protocol chat hub/identity.json < questions.txt > answers.txt

${FILES}`,
  options: TALK_OPTIONS,
  run: chat,
};

/** How long a question waits for a connection, in milliseconds, and for as long again after a derivation. */
const LONGEST_WAIT = 15_000;

/** A line that comes so soon after the last is pasted with it, and waits for its turn. In milliseconds. */
const PASTED = 30;

async function chat(args: Arguments): Promise<Result> {
  const { stdin: input, stdout: output, stderr } = process;
  const isTerminal = input.isTTY && output.isTTY;
  const terminal = createInterface({ input, output, terminal: isTerminal });
  let isOver = false;
  const prompt = (): void => {
    if (isTerminal && !isOver) terminal.prompt(true); // with what was typed so far
  };
  /** Writes a line above the prompt and above what was typed. */
  const write = (stream: NodeJS.WritableStream, text: string): void => {
    if (isTerminal) {
      moveCursor(output, 0, -terminal.getCursorPos().rows);
      cursorTo(output, 0);
      clearScreenDown(output);
    }
    stream.write(printable(`${text}\n`));
    prompt();
  };
  const tell = (text: string): void => write(stderr, text);
  const say = (text: string): void => write(args.flag('json') ? stderr : output, text);

  /** The only reader of the terminal asks. What was typed before the question does not count. */
  const askPerson = async (question: string): Promise<string> => {
    if (!isTerminal) return ''; // a file has what the hub says, and nothing else
    terminal.write(null, { ctrl: true, name: 'e' }); // to the end of the line, which
    terminal.write(null, { ctrl: true, name: 'u' }); // is removed
    const answer = await answerAt(terminal, question);
    prompt();
    return answer;
  };
  const { client, disclosed, isDeriving, isDeciding } = startTalk(
    args.only('identity'),
    args,
    askPerson,
    tell,
  );
  client.on('connect', ({ nodeId, hubKey }) => {
    const name = onOneLine(nodeId); // HiveMind's hub has a PEM key there
    tell(`connected to ${name.length > 60 ? `the hub with the key ${fingerprint(hubKey)}` : name}`);
  });
  let told = '';
  client.on('close', (event) => {
    told = both(event);
    tell(told);
  });
  client.on('ask', (event) => {
    const asked = both(event);
    if (asked !== told) tell(asked); // such as a full disk, which ends no connection
  });
  client.on('reconnect', ({ after }) => {
    tell(`connecting again${after > 0 ? ` in ${Math.ceil(after / 1000)} s` : ''}`);
  });
  let timer: NodeJS.Timeout | undefined;
  client.on('deriving', ({ progress }) => {
    timer?.refresh();
    if (progress === 1) prompt();
  });
  client.on('speak', ({ text }) => {
    if (text !== '') say(`hub: ${onOneLine(text)}`);
  });
  const end = (): void => {
    isOver = true;
    client.end(); // a question that waits for its answer ends, too
  };
  let asking = 0;
  terminal.on('SIGINT', () => {
    if (asking > 0) client.stop();
    else terminal.close();
  });
  if (isTerminal) terminal.on('close', end);

  const onPart = ({ text }: Part): void => {
    if (text !== '') say(text);
  };
  const answers: (Shown & { question: string })[] = [];
  let isAnyUnanswered = false;
  const ask = async (question: string, interrupt: boolean): Promise<void> => {
    const waiting = new AbortController();
    const late = setTimeout(() => {
      if (isDeriving() || isDeciding()) late.refresh();
      else if (client.state !== 'ready') {
        waiting.abort({ tell: '', advice: told || 'There is no connection to the hub.' });
      }
    }, LONGEST_WAIT);
    timer = late;
    asking++;
    const answer: Shown = await client
      .ask(question, { onPart, signal: waiting.signal, timeout: LONGEST, interrupt })
      .then(shownOf, (error: AskError) => ({
        ending: 'closed',
        text: '',
        expectsAnswer: false,
        message: both(error).trim(),
      }));
    asking--;
    clearTimeout(late);
    if (timer === late) timer = undefined; // `refresh` would start it again
    if (isOver) return;
    const last = answer.ending === 'interrupted' ? undefined : lineAfter(answer);
    if (last !== undefined) (answer.message === undefined ? say : tell)(last);
    if (answer.message !== undefined) isAnyUnanswered = true;
    if (args.flag('json')) answers.push({ question, ...answer });
  };
  prompt();
  let typedAt = -Infinity;
  for await (const line of terminal) {
    const isPasted = performance.now() - typedAt < PASTED;
    typedAt = performance.now();
    const question = line.trim();
    if (question === '') {
      prompt();
      continue;
    }
    const asked = ask(question, isTerminal && !isPasted);
    if (!isTerminal) await asked; // a person may interrupt the answer
    if (isOver) break;
  }
  end();
  if (isTerminal) output.write('\n');
  return { status: isAnyUnanswered ? 1 : 0, text: '', json: { ...disclosed(), answers } };
}
