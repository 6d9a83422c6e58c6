/** Hides an access key in a peer's text: a hub may repeat it, also in its encoded forms. */
import { isJsonObject, type Json, parseJson, stringifyJson } from 'hub-protocol-judge/internals';

const HIDDEN = '[access key]';
/** A shorter string can occur by chance. */
const SHORTEST = 6; // characters of hex or base64

/**
 * Returns a function that hides the access key as it is, percent-encoded, in hex, and in base64 or base64url, alone or
 * within something longer, such as the authorization.
 */
export function hiding(accessKey: string): (text: string) => string {
  const bytes = Buffer.from(accessKey);
  const encoded = [bytes.toString('hex'), ...[0, 1, 2].map((before) => withinBase64(bytes, before))];
  const forms = [
    [...accessKey].map(orEscaped).join(''),
    ...encoded
      .filter((form) => form.length >= SHORTEST)
      .map((form) => form.replace(/\+/g, '(?:[+-]|%2B)').replace(/\//g, '(?:[/_]|%2F)')),
  ];
  const pattern = new RegExp(forms.join('|'), 'giu');
  return (text) => text.replace(pattern, HIDDEN);
}

/** A character, or its bytes percent-encoded. */
function orEscaped(character: string): string {
  const escaped = Buffer.from(character).toString('hex').replace(/../g, '%$&');
  return `(?:${character.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&')}|${escaped})`;
}

/** The characters of base64 that depend only on these bytes, with this many bytes before them (modulo 3). */
function withinBase64(bytes: Uint8Array, before: number): string {
  const all = Buffer.concat([Buffer.alloc(before), bytes]);
  const first = Buffer.alloc(before).toString('base64url').length; // without padding
  return all.toString('base64').slice(first, Math.floor((all.length * 8) / 6));
}

/** Hides the access key in a JSON text. Any character of its strings may be escaped. */
export function hidingInJson(accessKey: string): (text: string) => string {
  const hide = hiding(accessKey);
  const hideIn = (value: Json): Json => {
    if (typeof value === 'string') return hide(value);
    if (Array.isArray(value)) return value.map(hideIn);
    if (isJsonObject(value)) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [hide(name), hideIn(inner)]));
    }
    const text = stringifyJson(value);
    return hide(text) === text ? value : HIDDEN;
  };
  return (text) => stringifyJson(hideIn(parseJson(text)));
}
