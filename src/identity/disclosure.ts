/**
 * The AI disclosure: a person learns at first contact that an AI assistant answers. When that is due, and which text;
 * the text itself comes from the API alone. Spec, "AI-disclosure client rules".
 */
import { kindOf } from '../bytes.ts';
import { LocalError } from '../errors.ts';
import { isGroup } from '../issued/fields.ts';
import type { Identity } from './identity.ts';

/** Where a conversation stands, as its client knows it. */
export interface DisclosureSituation {
  /** The client's language as a tag such as `fr-CA`; English without one. */
  language?: string | undefined;
  /**
   * When the person was last given the disclosure here: not yet, in an earlier session, or in the present one. What
   * cannot be told, as after a restart, is `never`.
   */
  lastGiven: 'never' | 'earlier-session' | 'this-session';
  /** Whether the client speaks. It speaks the disclosure once in each session, not with each reply. */
  isVoice?: boolean | undefined;
  /** A shared device, a kiosk or a public page: each session may be with somebody else. */
  isShared?: boolean | undefined;
}

/** What is due before or with the next answer, in the place where the conversation starts. */
export type Disclosure =
  | { readonly due: false }
  | {
      readonly due: true;
      /**
       * To show or speak: all of it, word for word. Where it is `undefined` it must be fetched first, from
       * `ai_disclosure` of `GET /v1/legal/versions`, which needs no sign-in: no other text can stand in for it.
       */
      readonly text: string | undefined;
      /** What the text is in, or is to be fetched in. */
      readonly language: 'en' | 'fr';
    };

/**
 * Whether the disclosure is due, and its text: French for a French client, English for any other. An identity carries
 * English, so a French client has its text fetched; so has any whose identity carries none. Ask at each start of a
 * session, and once with `lastGiven: 'never'` when the identity is loaded, so that the text is there when it is due.
 *
 *     let { aiDisclosure } = identity;
 *     let disclosure = disclosureDue({ aiDisclosure }, situation);
 *     if (disclosure.due && disclosure.text === undefined) {
 *       ({ ai_disclosure: aiDisclosure } = await fetchLegalVersions()); // keep it for the session
 *       disclosure = disclosureDue({ aiDisclosure }, situation);
 *     }
 *
 * The disclosure does not replace crisis help.
 * @param source - the identity; or the fetched `ai_disclosure`, as `aiDisclosure`
 * @throws LocalError `bad-argument`
 */
export function disclosureDue(
  source: Pick<Identity, 'aiDisclosure'>,
  situation: DisclosureSituation,
): Disclosure {
  const { language: tag = 'en', lastGiven, isVoice, isShared } = situation;
  if (lastGiven !== 'never' && lastGiven !== 'earlier-session' && lastGiven !== 'this-session') {
    throw new LocalError('bad-argument', '"lastGiven" expected "never", "earlier-session" or "this-session"');
  }
  if (typeof tag !== 'string') {
    throw new LocalError('bad-argument', `"language" expected string, got ${kindOf(tag)}`);
  }
  const isAgain = lastGiven === 'this-session' || (lastGiven === 'earlier-session' && !isVoice && !isShared);
  if (isAgain) return { due: false };
  const language = /^fr([^a-z0-9]|$)/i.test(tag) ? 'fr' : 'en'; // no frr, which is Frisian
  return { due: true, text: textIn(language, source.aiDisclosure), language };
}

/** A text without a language is English. An empty one is none. */
function textIn(language: 'en' | 'fr', texts: Identity['aiDisclosure']): string | undefined {
  const text: unknown = isGroup(texts) ? texts[language] : language === 'en' ? texts : undefined;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
