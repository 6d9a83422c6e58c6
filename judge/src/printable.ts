/**
 * Makes text safe for a terminal. Text of a peer, a file or an adapter may contain characters that move the cursor, send
 * commands to the terminal, reverse text, or are invisible.
 */

/** Controls (C0 and C1), format characters (such as direction marks), line and paragraph separators, lone surrogates. */
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * Writes each unsafe character as `\u` and four digits. Line feeds and tabs stay. JSON remains JSON with the same value,
 * since such characters occur only in its strings.
 */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}
