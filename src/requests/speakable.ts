/**
 * Text as it is to be said: hubs speak in SSML (W3C, Speech Synthesis Markup Language 1.1), in plain text, and in plain
 * text with what looks like markup in it.
 */
import { collapse } from './white-space.ts';

/** Elements that separate words; all others may stand inside of one. A `/` in a class is `\x2f`, for Espruino. */
const PARTING = /^<\/?(?:audio|break|p|s|speak)[\s\x2f>]/i;

const ENTITY = /&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]+);/gi;

const NAMED: { readonly [name: string]: string } = {
  amp: '&',
  apos: "'",
  gt: '>',
  lt: '<',
  nbsp: '\u00a0',
  quot: '"',
};

/**
 * A text without its tags, with the entities of XML (and `&nbsp;`) resolved once, and white space collapsed. What only
 * looks like a tag or an entity, as in `3 < 4 & 5 > 2`, stays. It takes time linear in the text's length.
 */
export function speakable(text: string): string {
  return collapse(withoutTags(text).replace(ENTITY, resolve));
}

function withoutTags(text: string): string {
  const pieces: string[] = [];
  let start = 0; // of what is not in the pieces yet
  let at = text.indexOf('<');
  while (at >= 0) {
    const end = tagEnd(text, at);
    if (end > 0) {
      pieces.push(text.slice(start, at), PARTING.test(text.slice(at, end)) ? ' ' : '');
      start = end;
    }
    at = text.indexOf('<', at + 1);
  }
  pieces.push(text.slice(start));
  return pieces.join('');
}

/**
 * The index after the tag, comment or instruction that starts at `at`, or -1 where none does. XML has no `<` inside of
 * them, and `>` in a tag only between quotation marks.
 */
function tagEnd(text: string, at: number): number {
  const first = text.charAt(at + 1);
  const hasAttributes = /[a-z\x2f]/i.test(first);
  if (!hasAttributes && first !== '!' && first !== '?') return -1;
  let quote = '';
  for (let i = at + 1; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '<') return -1;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '>') {
      return i + 1;
    } else if (hasAttributes && (character === '"' || character === "'")) {
      quote = character;
    }
  }
  return -1;
}

function resolve(entity: string, name: string): string {
  if (name.charAt(0) !== '#') {
    return Object.prototype.hasOwnProperty.call(NAMED, name) ? NAMED[name]! : entity;
  }
  const isHex = name.charAt(1).toLowerCase() === 'x';
  const point = parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  if (point < 0x20) return ' ';
  if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return entity;
  if (point < 0x10000) return String.fromCharCode(point);
  return String.fromCharCode(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
}
