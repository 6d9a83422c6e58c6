/** Questions as envelopes, and their answers as promises. */
import {
  type ActionRequest,
  buildAction,
  buildCode,
  buildUtterance,
  type CodeRequest,
  type JsonObject,
  type LinkEvent,
  type UtteranceRequest,
} from 'hub-protocol';
import { sentenceForAnswer } from './advice.ts';
import type { Answer } from './options.ts';

type Told<Type extends LinkEvent['type']> = Extract<LinkEvent, { type: Type }>;

interface Waiting {
  readonly requestId: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class Answers {
  readonly #byEnvelope = new Map<unknown, Waiting>();
  readonly #byRequestId = new Map<string, Waiting>();

  /** The answer to a question that was passed to the link. */
  to(envelope: JsonObject, requestId: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#byEnvelope.delete(envelope);
        this.#byRequestId.delete(requestId);
      };
      const waiting: Waiting = {
        requestId,
        resolve: (answer) => {
          end();
          resolve(answer);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      };
      this.#byEnvelope.set(envelope, waiting);
      this.#byRequestId.set(requestId, waiting);
    });
  }

  /** A question that was sent has ended. A part of an answer is delivered even if the connection has ended. */
  finish(event: Told<'finish'>): void {
    const { requestId, ending, reply, error } = event;
    const waiting = this.#byRequestId.get(requestId);
    const isEmpty = reply.text === '' && reply.displayItems.length === 0;
    if (ending === 'closed' && isEmpty) waiting?.reject(error);
    else waiting?.resolve({ ...event, tell: sentenceForAnswer(event) });
  }

  /** A question was not sent. Returns false if the message is no question. */
  fail({ message, error }: Told<'unsent'>): boolean {
    const waiting = this.#byEnvelope.get(message);
    waiting?.reject(error);
    return waiting !== undefined;
  }
}

/** The envelope of a question. Fields that its object inherits do not count. */
export function envelopeOf(request: UtteranceRequest | ActionRequest | CodeRequest): JsonObject {
  const has = (name: string): boolean => Object.prototype.hasOwnProperty.call(request, name);
  if (has('payload')) return buildAction(request as ActionRequest);
  if (has('value')) return buildCode(request as CodeRequest);
  return buildUtterance(request as UtteranceRequest);
}
