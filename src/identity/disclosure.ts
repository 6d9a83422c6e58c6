/**
 * The AI disclosure: people are told at first contact that they are talking to an AI assistant. This module decides
 * when it is due and which text to give. The text itself comes only from the API. Spec, "AI-disclosure client rules".
 */

import { assertFlag, membersOf, type OptionNames, readArgument, readOptions } from '../arguments.ts';
import * as errors from '../errors-table.ts';
import { isObject } from '../issued/fields.ts';
import type { Identity } from './identity.ts';

/** The conversation that is about to start, as far as the client knows. */
export interface DisclosureSituation {
  /** The client's language, as a tag such as `fr-CA` (default `en`). */
  language?: string | undefined;
  /** When this client last gave the disclosure to the person; `never` if it does not know, as after a restart. */
  lastGiven: 'never' | 'earlier-session' | 'this-session';
  /**
   * Whether the client speaks (default false): it then speaks the disclosure once in each session, not with each reply.
   */
  isVoice?: boolean | undefined;
  /**
   * Whether the client is a shared device, a kiosk or a public page (default false): each session may be another
   * person's.
   */
  isShared?: boolean | undefined;
}

const NAMES: OptionNames<DisclosureSituation> = {
  language: true,
  lastGiven: true,
  isVoice: true,
  isShared: true,
};

/** Whether to give the disclosure before or with the next answer, where the conversation starts. */
export type Disclosure =
  | { readonly due: false }
  | {
      readonly due: true;
      /**
       * The text to show or speak: all of it, word for word. `undefined` if it must be fetched first, from
       * `ai_disclosure` of `GET /v1/legal/versions`, which needs no sign-in. Do not use any other text.
       */
      readonly text: string | undefined;
      /** The language of the text, or the language to fetch. */
      readonly language: 'en' | 'fr';
    };

/**
 * Decides whether the disclosure is due, and returns its text: French for a French client, English for any other. An
 * identity usually contains only the English text, so a French client must fetch its own, as must a client whose
 * identity contains no text. Call this at the start of each session, and once with `lastGiven: 'never'` when the
 * identity is loaded, to have the text by the time it is due.
 *
 *     let { aiDisclosure } = identity;
 *     let disclosure = disclosureDue({ aiDisclosure }, situation);
 *     if (disclosure.due && disclosure.text === undefined) {
 *       ({ ai_disclosure: aiDisclosure } = await fetchLegalVersions()); // keep it for the session
 *       disclosure = disclosureDue({ aiDisclosure }, situation);
 *     }
 *
 * The disclosure does not replace help in a crisis.
 * @param source - the identity, or an object whose `aiDisclosure` is the fetched `ai_disclosure`
 * @param situation - what the client knows about the conversation
 * @returns whether the disclosure is due; if so, its text and language
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { disclosureDue } from 'hub-protocol';
 *
 * const source = { aiDisclosure: { en: 'You are talking to an AI.' } };
 * const disclosure = disclosureDue(source, { language: 'en-CA', lastGiven: 'never' });
 * if (disclosure.due) console.log(disclosure.text); // You are talking to an AI.
 */
export function disclosureDue(
  source: Pick<Identity, 'aiDisclosure'>,
  situation: DisclosureSituation,
): Disclosure {
  return readArgument('source', () => {
    const given = readOptions(situation, 'situation', NAMES);
    const { lastGiven, language: tag = 'en' } = given;
    const isVoice = assertFlag(given.isVoice, 'isVoice');
    const isShared = assertFlag(given.isShared, 'isShared');
    const { aiDisclosure: texts } = membersOf(source, ['aiDisclosure']);
    if (lastGiven !== 'never' && lastGiven !== 'earlier-session' && lastGiven !== 'this-session') {
      throw errors.expected('lastGiven', '"never", "earlier-session" or "this-session"');
    }
    if (typeof tag !== 'string') {
      throw errors.expectedType('language', 'string', tag);
    }
    const isRepetition =
      lastGiven === 'this-session' || (lastGiven === 'earlier-session' && !isVoice && !isShared);
    if (isRepetition) return { due: false };
    const language = /^fr([^a-z0-9]|$)/i.test(tag) ? 'fr' : 'en'; // `frr` is Frisian
    return { due: true, text: textIn(language, texts), language };
  });
}

/** A text without a language is English. An empty one counts as missing. */
function textIn(language: 'en' | 'fr', texts: Identity['aiDisclosure']): string | undefined {
  const english = language === 'en' ? texts : undefined;
  const text: unknown = isObject(texts) ? membersOf(texts, [language])[language] : english;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
