/** Finds the name that somebody meant. */

/** @returns `: did you mean NAME?` for the closest name that resembles the word, else the names */
export function didYouMean(word: string, names: readonly string[]): string {
  const distances = names.map((name) => (name.startsWith(word) && word !== '' ? 0 : distance(word, name)));
  const least = Math.min(...distances);
  return least <= 2
    ? `: did you mean ${names[distances.indexOf(least)]}?`
    : `; there are ${names.join(', ')}`;
}

/** How many characters have to be put in, taken out, replaced, or swapped with the next. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return Number.POSITIVE_INFINITY; // and a long word takes no time
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        rows[i - 1]![j]! + 1,
        row[j - 1]! + 1,
        rows[i - 1]![j - 1]! + (isSame ? 0 : 1),
        isSwapped ? rows[i - 2]![j - 2]! + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
