/**
 * Speech to text and back, by the hub. Its answers carry no id: a sound names its text, and of transcriptions one at a time is asked for,
 * since an answer to one that was given up would pass for that to the next.
 */
import { type HubEvent, type JsonObject, LocalError, RemoteError, readRefusal } from 'hub-protocol';
import { reasonOf } from './answers.ts';
import type { ClientEvent, QueryOptions } from './options.ts';

type Bytes = Extract<ClientEvent, { type: 'bytes' }>;

interface Waiting<Result> {
  /** The text whose sound is awaited; empty for a transcription. */
  readonly text: string;
  /** Returns false without a connection. */
  readonly send: () => boolean;
  isSent: boolean;
  /** Nobody waits for it any more. */
  isOver: boolean;
  /** Until an answer that nobody waits for is not waited for any more. */
  timer?: ReturnType<typeof setTimeout>;
  readonly resolve: (result: Result) => void;
  readonly reject: (reason: unknown) => void;
}

/** How long to wait for an answer, and until the next transcription if none comes, in milliseconds. */
const LONGEST = 60_000;

/** What HiveMind’s hub takes with a text: it returns the text in metadata of 255 bytes, or says nothing. */
const PIECE = /\S.{0,98}(?=\s|$)|\S{1,99}/gs;

export class Voice {
  readonly #sounds: Waiting<Uint8Array>[] = [];
  readonly #speech: Waiting<string>[] = [];

  /** The text of speech. */
  transcribe(send: () => boolean, options: QueryOptions): Promise<string> {
    return this.#request(this.#speech, '', send, options);
  }

  /**
   * The sounds of a text, in order.
   * @param send - asks for the sound of a piece of the text
   */
  synthesize(text: string, send: (piece: string) => boolean, options: QueryOptions): Promise<Uint8Array[]> {
    const pieces = text.match(PIECE) ?? [];
    return Promise.all(pieces.map((piece) => this.#request(this.#sounds, piece, () => send(piece), options)));
  }

  async #request<Result>(
    all: Waiting<Result>[],
    text: string,
    send: () => boolean,
    { timeout = LONGEST, signal }: QueryOptions,
  ): Promise<Result> {
    if (signal?.aborted) throw reasonOf(signal);
    let waiting: Waiting<Result> | undefined;
    const answer = new Promise<Result>((resolve, reject) => {
      waiting = { text, send, isSent: false, isOver: false, resolve, reject };
    });
    const abort = (): void => waiting!.reject(reasonOf(signal!));
    signal?.addEventListener('abort', abort);
    const timer = setTimeout(() => waiting!.reject(late()), timeout);
    all.push(waiting!);
    this.flush();
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      waiting!.isOver = true;
      const remains = waiting!.isSent && all.includes(waiting!) && text === '';
      if (remains) waiting!.timer = setTimeout(() => this.#remove(all, waiting!), LONGEST);
      else this.#remove(all, waiting!);
    }
  }

  #remove<Result>(all: Waiting<Result>[], waiting: Waiting<Result>): void {
    const at = all.indexOf(waiting);
    if (at >= 0) all.splice(at, 1);
    this.flush();
  }

  /** Sends what may be sent: there may be a connection, or another turn. */
  flush(): void {
    for (const waiting of [...this.#sounds, ...this.#speech.slice(0, 1)]) {
      if (waiting.isSent || waiting.isOver) continue;
      try {
        waiting.isSent = waiting.send();
      } catch (error) {
        waiting.reject(error);
      }
    }
  }

  /** The answers to what was sent are lost. */
  lost(error: Error, isForGood: boolean): void {
    for (const all of [this.#sounds, this.#speech] as Waiting<never>[][]) {
      for (const waiting of all.filter(({ isSent }) => isSent || isForGood)) {
        all.splice(all.indexOf(waiting), 1);
        clearTimeout(waiting.timer);
        waiting.reject(error);
      }
    }
  }

  /** Takes a sound. Returns false for one that was not asked for here. */
  takeBytes({ bytes, bin_type, metadata }: Bytes): boolean {
    if (bin_type !== 'tts_audio') return false;
    const sent = this.#sounds.filter(({ isSent }) => isSent);
    // A hub may change a text before it speaks it.
    const waiting = sent.find(({ text }) => text === metadata?.utterance) ?? sent[0];
    if (waiting === undefined) return false;
    this.#sounds.splice(this.#sounds.indexOf(waiting), 1);
    waiting.resolve(bytes);
    return true;
  }

  /** Takes a transcription, or a refusal. Returns false for what belongs to nothing here. */
  takeMessage({ type, data, payload }: HubEvent): boolean {
    const refused = readRefusal(payload)?.deniedType;
    if (refused === 'speak:synth') return this.#end(this.#sounds, denied('speak:synth'));
    if (refused === 'binary') return this.#end(this.#speech, denied('speech'));
    if (type === 'recognizer_loop:transcribe.response') return this.#end(this.#speech, textIn(data));
    if (type !== 'recognizer_loop:speech.recognition.unknown') return false;
    return this.#end(this.#speech, data.error === undefined ? '' : unreadable());
  }

  #end<Result>(all: Waiting<Result>[], result: Result | Error): boolean {
    const at = all.findIndex(({ isSent }) => isSent);
    if (at < 0) return false;
    const [{ timer, resolve, reject }] = all.splice(at, 1) as [Waiting<Result>];
    clearTimeout(timer);
    if (result instanceof Error || result instanceof RemoteError) reject(result);
    else resolve(result as Result);
    this.flush();
    return true;
  }
}

/** The likeliest of transcriptions, which come as pairs of a text and a number. */
function textIn({ transcriptions }: JsonObject): string {
  const [first] = Array.isArray(transcriptions) ? transcriptions : [];
  const [text] = Array.isArray(first) ? first : [first];
  return typeof text === 'string' ? text : '';
}

const late = (): Error =>
  new RemoteError(
    'timeout',
    'the hub did not answer in time: ask its operator whether it has a protocol for speech, and its plugins',
  );
const denied = (what: string): RemoteError =>
  new RemoteError(
    'access-refused',
    `the hub does not allow this client to send ${what}: ask its operator to allow it`,
  );
const unreadable = (): RemoteError =>
  new RemoteError(
    'bad-payload',
    'the hub cannot read this speech: it has to be 16-bit samples, 16000 a second',
  );
export const ended = (): LocalError =>
  new LocalError('session-over', 'the client has ended, because end() was called');
