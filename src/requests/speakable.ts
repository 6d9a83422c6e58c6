/**
 * What a hub says, also as plain text for a voice. Hubs send SSML (W3C, Speech Synthesis Markup Language 1.1), plain text,
 * and plain text with characters that look like markup.
 */
import { readArgument } from '../arguments.ts';
import { type JsonObject, ownField } from '../wire/json.ts';
import { type DisplayItem, readDisplayItems } from './display-items.ts';
import { copyOf, type HubEvent, stringIn } from './hub-event.ts';
import { collapse } from './white-space.ts';

/** What one event says and shows. */
export interface Speech {
  /** The hub's words, with white space collapsed; empty if the event only shows something. */
  readonly text: string;
  /** The same for a voice: without markup, entities resolved. */
  readonly speech: string;
  /** Choices, tables, images and attachments. */
  readonly displayItems: DisplayItem[];
  /** Whether the hub waits for an answer of the person (on the wire: `expect_response`). */
  readonly expectsAnswer: boolean;
}

/** The types of events that say something. */
const SPEECH = ['speak', 'ovos.utterance.speak'];

/**
 * Reads what an event says and shows, such as one that belongs to no request.
 * @param event - what `readHubEvent` returned
 * @returns `undefined` if the event is no speech, or says and shows nothing
 * @throws LocalError `bad-argument`
 *
 * @example
 * import { readHubEvent, readSpeech } from 'hub-protocol';
 *
 * const payload = { type: 'speak', data: { utterance: 'It is <emphasis>noon</emphasis>.' } };
 * const event = readHubEvent(JSON.stringify({ msg_type: 'bus', payload }))!;
 * console.log(readSpeech(event)?.speech); // It is noon.
 */
export function readSpeech(event: HubEvent): Speech | undefined {
  const { type, data } = copyOf(event, 'event');
  if (SPEECH.indexOf(type) < 0) return undefined;
  const speech = readArgument('event', () => speechIn(data));
  return speech.text === '' && speech.displayItems.length === 0 ? undefined : speech;
}

/** What the data of an event says and shows. */
export function speechIn(data: JsonObject): Speech {
  const text = collapse(textIn(data));
  return {
    text,
    speech: speakable(text),
    displayItems: readDisplayItems(data),
    expectsAnswer: ownField(data, 'expect_response') === true,
  };
}

/** The text of speech. If there are several utterances, only the first counts: the others are alternatives to it. */
function textIn(data: JsonObject): string {
  const text = stringIn(data, ['utterance', 'text', 'utterances']);
  if (text !== undefined) return text;
  const utterances = ownField(data, 'utterances');
  const first = Array.isArray(utterances) ? utterances[0] : undefined;
  return typeof first === 'string' ? first : '';
}

/**
 * Tags of elements that separate words; any other may be inside a word. `\x2f` is `/`, which Espruino misreads in a
 * class.
 */
const SEPARATING = /^\x2f?(?:audio|break|p|s|speak)[\s\x2f>]/i;

const NAMED: { readonly [name: string]: string } = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: '\u00a0',
  quot: '"',
};

/**
 * Removes tags, resolves XML's entities and `&nbsp;` once, and collapses white space. Text that only looks like a tag
 * or an entity, as in `3 < 4 & 5 > 2`, stays. Takes time linear in the length of the text.
 */
export function speakable(text: string): string {
  return collapse(withoutTags(text).replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]+);/gi, resolve));
}

/**
 * Removes tags, comments and processing instructions. Assumes that none of them contains a second `<`, so each is at
 * the start of a segment.
 */
function withoutTags(text: string): string {
  const segments = text.split('<');
  const pieces = [segments[0]!];
  for (let i = 1; i < segments.length; i++) {
    const segment = segments[i]!;
    const end = tagEnd(segment);
    if (end === 0) pieces.push('<', segment);
    else pieces.push(SEPARATING.test(segment.slice(0, end)) ? ' ' : '', segment.slice(end));
  }
  return pieces.join('');
}

/**
 * The length of the markup after a `<`: up to the first `>`, except that a tag may contain a quoted one; 0 if none.
 */
function tagEnd(segment: string): number {
  const first = segment.charAt(0);
  const isTag = /[a-z\x2f]/i.test(first);
  if (!isTag && first !== '!' && first !== '?') return 0;
  let quote = '';
  for (let i = 0; i < segment.length; i++) {
    const character = segment.charAt(i);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') {
      return i + 1;
    } else if (isTag && (character === '"' || character === "'")) {
      quote = character;
    }
  }
  return 0;
}

/** The character of an entity; the entity itself if it is unknown. */
function resolve(entity: string, name: string): string {
  if (name.charAt(0) !== '#') {
    return Object.prototype.hasOwnProperty.call(NAMED, name) ? NAMED[name]! : entity;
  }
  const isHex = name.charAt(1).toLowerCase() === 'x';
  const point = parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  if (point < 0x20) return ' ';
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return entity;
  if (point < 0x10000) return String.fromCharCode(point);
  return String.fromCharCode(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + (point & 0x3ff));
}
