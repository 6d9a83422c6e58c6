/** Where an answer first differs from what was expected, said so that a porter finds the place. */

export interface Difference {
  /** The field, with a path into it: `results[3].message`. */
  readonly where: string;
  /** The byte (or character of a text) at which the two part, where both are of that kind. */
  readonly offset?: number;
  readonly expected: string;
  readonly got: string;
}

const SHOWN = 16; // bytes on each side

/** The first difference between two JSON values. Fields that only the answer has count where it is to be exact. */
export function firstDifference(
  where: string,
  expected: unknown,
  got: unknown,
  isExact = false,
): Difference | undefined {
  if (expected === got) return undefined;
  if (typeof expected === 'string' && typeof got === 'string') return differenceOfTexts(where, expected, got);
  if (Array.isArray(expected) && Array.isArray(got)) {
    for (let i = 0; i < Math.min(expected.length, got.length); i++) {
      const difference = firstDifference(`${where}[${i}]`, expected[i], got[i], isExact);
      if (difference !== undefined) return difference;
    }
    if (expected.length === got.length) return undefined;
    return { where, expected: `${expected.length} of them`, got: `${got.length}` };
  }
  if (isObject(expected) && isObject(got)) {
    const names = Object.keys(isExact ? { ...expected, ...got } : expected);
    for (const name of names) {
      const field = where === '' ? name : `${where}.${name}`;
      const difference = firstDifference(field, expected[name], got[name], isExact);
      if (difference !== undefined) return difference;
    }
    return undefined;
  }
  return { where, expected: show(expected), got: show(got) };
}

/** Texts of hexadecimal digits are bytes. */
function differenceOfTexts(where: string, expected: string, got: string): Difference {
  const isHex = /^(?:[\da-f]{2})+$/.test(expected) && /^(?:[\da-f]{2})*$/.test(got);
  const unit = isHex ? 2 : 1;
  let offset = 0;
  while (
    offset < expected.length &&
    expected.slice(offset, offset + unit) === got.slice(offset, offset + unit)
  ) {
    offset += unit;
  }
  const from = Math.max(0, offset - unit * 4);
  const part = (text: string): string => {
    const shown = text.slice(from, from + SHOWN * unit);
    const rest = text.length > from + SHOWN * unit ? '…' : '';
    const end = text.length <= offset ? ' (ends)' : '';
    return `${from > 0 ? '…' : ''}${isHex ? shown : JSON.stringify(shown)}${rest}${end}`;
  };
  return { where, offset: offset / unit, expected: part(expected), got: part(got) };
}

export function show(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
