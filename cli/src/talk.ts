/** The parts that `ask` and `chat` share: options, a client of an identity, and the question whether to trust another key. */
import { existsSync } from 'node:fs';
import { createInterface, type Interface } from 'node:readline/promises';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type Answer,
  type AskError,
  type AskEvent,
  type Client,
  type ClientEvent,
  connect,
  KeyringFile,
  type KeyringStore,
} from 'hub-protocol-client';
import { type LocalError, printable } from 'hub-protocol-judge/internals';
import { type Arguments, CannotRun, type Options } from './command.ts';
import { show } from './derive.ts';
import { assertPrivate, isLocalError, readIdentityFile, readSocketOptions } from './files.ts';

export const TALK_OPTIONS: Options = {
  keyring: {
    type: 'string',
    argument: 'FILE',
    help: 'the keyring of the client (default: kiosk.keyring.json for kiosk.json)',
  },
  ca: {
    type: 'string',
    argument: 'FILE',
    help: 'a certificate authority to trust, as PEM or DER (default: ca.pem next to the identity, if "hub" has written it)',
  },
  cert: {
    type: 'string',
    argument: 'FILE',
    help: 'the certificate of this client, as PEM, for servers that want one; with --key',
  },
  key: { type: 'string', argument: 'FILE', help: 'its private key, as PEM' },
  lang: {
    type: 'string',
    argument: 'TAG',
    help: 'the language of the questions, such as fr-ca (default en-us)',
  },
  'allow-plaintext': { type: 'boolean', help: 'talk to a hub without TLS' },
};

export const FILES = `\
The identity is the file that the operator of the hub gave you. The keyring is
created at first contact: it holds the key of this client and of its hubs, so
keep it. If the hub has another key than before, you are shown both and, on a
terminal, asked.
Before the first answer the program prints, on standard error, the text of the
identity that says that an AI answers (its field ai_disclosure).
`;

/**
 * Asks the person at the terminal. Returns an empty answer if there is none.
 * @param advice - what happened, which every `close` event has told before
 */
export type AskPerson = (question: string, advice: string) => Promise<string>;

/** The AI disclosure as printed, for the JSON of a command. Without `text` the identity has none in this language. */
export interface Disclosed {
  readonly disclosure?: Pick<Extract<ClientEvent, { type: 'disclosure' }>, 'language'> & { text?: string };
}

export interface Talk {
  readonly client: Client;
  /** Empty before the first answer. */
  disclosed(): Disclosed;
  /** Why the last connection ended, for a person; empty if none has. */
  failure(): string;
  /**
   * Whether the client derives the pre-shared key: that goes on although the hub has not waited for it, and takes minutes on a slow
   * machine.
   */
  isDeriving(): boolean;
  /** Whether a person is being asked whether to trust another key. */
  isDeciding(): boolean;
  /** Waits for a person who is being asked, and returns whether the client connects again. Each answer counts once. */
  isRetried(): Promise<boolean>;
}

/** The path of the keyring of an identity, unless another is given. */
export function keyringOf(identity: string): string {
  return `${identity.replace(/\.json$/, '')}.keyring.json`;
}

/** The longest time that a question may take, in milliseconds. What fails ends it earlier. */
export const LONGEST = 86_400_000;

const LANGUAGES = { en: 'English', fr: 'French' } as const;

/**
 * Starts a client.
 * @param say - prints a line for the person, where the conversation takes place
 */
export function startTalk(path: string, args: Arguments, ask: AskPerson, say: (text: string) => void): Talk {
  const identity = readIdentityFile(path);
  const keyring = args.text('keyring') ?? keyringOf(path);
  if (!existsSync(keyring)) assertPrivate(keyring, false, 'the keyring');
  const socket = readSocketOptions(args, path);
  const allowPlaintext = args.flag('allow-plaintext');
  const lang = args.text('lang');
  const policy = { onKkFailure: 'keep-pin' } as const; // a person is asked about another key
  const options = { identity, socket, lang, allowPlaintext, policy, userAgent: 'hub-protocol-cli' };
  const client = connectOr(() => connect({ ...options, keyring: keyringAt(keyring, identity.accessKey) }));
  let disclosed: Disclosed = {};
  client.on('disclosure', ({ text, language }) => {
    disclosed = { disclosure: { language, ...(text !== undefined && { text }) } };
    say(text ?? `${path} has no text in ${LANGUAGES[language]} that says that an AI answers (ai_disclosure)`);
  });
  let failure = '';
  let isDeriving = false;
  client.on('deriving', ({ progress }) => {
    isDeriving = progress < 1;
    show(progress, 'deriving the pre-shared key');
  });
  client.on('close', ({ error, advice }) => {
    failure = toShell(advice);
    const { code } = error as { code?: string };
    isDeriving &&= code === 'dropped' || code === 'timeout';
  });
  let decision = Promise.resolve(false);
  let isDeciding = false;
  client.on('ask', (event) => {
    failure = toShell(event.advice);
    if (isDeciding) return; // it has dialled on while the person decides
    isDeciding = true;
    decision = decide(event, client, ask).finally(() => {
      isDeciding = false;
    });
  });
  return {
    client,
    disclosed: () => disclosed,
    failure: () => failure,
    isDeriving: () => isDeriving,
    isDeciding: () => isDeciding,
    isRetried: () => {
      const made = decision;
      decision = Promise.resolve(false);
      return made;
    },
  };
}

/** @returns whether the client connects again */
async function decide(event: AskEvent, client: Client, ask: AskPerson): Promise<boolean> {
  if (event.act !== 'trust') return false;
  if (!process.stdin.isTTY || !process.stderr.isTTY) return false;
  const answer = await ask('Does the hub itself show the new key? Type yes only then: ', event.advice);
  if (answer !== 'yes') return false;
  client.trust(event);
  return true;
}

const TYPED_BEFORE = 50; // milliseconds in which the terminal delivers it

/** Asks at a terminal that nothing else reads. What was typed before the question does not count. */
export async function askOnce(question: string, advice: string): Promise<string> {
  const { stdin, stderr } = process;
  stdin.setRawMode(true); // so that half a line is discarded, too
  stdin.resume();
  await pause(TYPED_BEFORE);
  stdin.setRawMode(false);
  stderr.write(printable(`${advice}\n`));
  const terminal = createInterface({ input: stdin, output: stderr });
  const answer = await answerAt(terminal, question);
  terminal.close();
  if (answer === '') stderr.write('\n');
  return answer;
}

/** @returns the line that a person types; empty at Ctrl+C and Ctrl+D */
export function answerAt(terminal: Interface, question: string): Promise<string> {
  return new Promise((resolve) => {
    terminal.once('close', () => resolve(''));
    terminal.question(question).then(resolve, () => resolve(''));
  });
}

/** A sentence of the client, which names its options, for whoever types options. */
export function toShell(advice: string): string {
  return advice.replace('(ca)', '(--ca)').replace('(socket: cert, key)', '(--cert, --key)');
}

/** All that is told: whoever sits at a terminal is an operator. */
export function both({ tell, advice }: Pick<AskError, 'tell' | 'advice'>): string {
  return toShell(`${tell} ${advice}`);
}

/** The message of an error of the library, for whoever types options. */
export function inShellWords({ code, message }: LocalError): string {
  return code === 'plaintext-endpoint'
    ? 'the address in this identity does not use TLS: pass --allow-plaintext if the hub is on this machine'
    : message;
}

/** Turns errors of the library into CannotRun. */
function connectOr(start: () => Client): Client {
  try {
    return start();
  } catch (error) {
    if (!isLocalError(error)) throw error;
    throw new CannotRun(
      error.code === 'plaintext-endpoint' ? inShellWords(error) : `${error.message} (${error.code})`,
    );
  }
}

/** A keyring in a file, which says which file it is if it cannot be used. */
function keyringAt(path: string, accessKey: string): KeyringStore {
  let file: KeyringFile | undefined;
  /** Opens the file when it is needed first: a client that cannot be started creates none. */
  function using<T>(act: (file: KeyringFile) => T): T {
    try {
      file ??= new KeyringFile(path, accessKey);
      return act(file);
    } catch (error) {
      const { code, message } = error as LocalError;
      if (!/^keyring-not-(?:private|readable|writable)$/.test(code)) throw error;
      throw Object.assign(new CannotRun(`${path}: ${message}`), { code });
    }
  }
  return {
    load: () => using((opened) => opened.load()),
    update: (change) => using((opened) => opened.update(change)),
  };
}

/** What to show a person of an answer. */
export interface Shown {
  readonly ending: string;
  /** The answer of the hub; empty if it said nothing. */
  readonly text: string;
  /** Whether the hub waits for an answer of the person. */
  readonly expectsAnswer: boolean;
  /** A sentence, if the answer is missing or incomplete. */
  readonly message?: string;
}

export function shownOf({ ending, reply: { text, expectsAnswer }, tell, advice }: Answer): Shown {
  return { ending, text, expectsAnswer, ...(tell && advice && { message: both({ tell, advice }) }) };
}

/** The line for a person after the parts of the answer: an action may have no text, and so may a picture or a choice. */
export function lineAfter({ text, message }: Shown): string | undefined {
  return message ?? (text === '' ? 'The answer has no text.' : undefined);
}

/** On one line: the text of a hub must not look like a line of this program. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}
