/**
 * What is wrong with a text that is no JSON, and where, in words that show nothing of it but a field's name. Devices leave it out, with
 * the sentences of errors.
 */

/** Thrown inside, as a fault at a place. */
interface Fault {
  readonly at: number;
  readonly what: string;
}

const MOST_DEPTH = 200;
const LITERAL = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)/;
const ESCAPE = /^\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4})/;

/** @returns what is so, to go after "the identity", such as `ends too early, at line 3, column 9` */
export function damageIn(input: unknown): string {
  const text = (typeof input === 'string' ? input : latin1(input as Uint8Array)).replace(
    /^(?:\xef\xbb\xbf|\uFEFF)/,
    '',
  );
  if (text.trim() === '') return 'is empty';
  if (/^\0+$/.test(text)) return 'has nothing but zeros, as files have after the power was lost';
  if (/^(?:\uFFFD\uFFFD|\xff\xfe|\xfe\xff)?(?:[^\0]\0|\0[^\0]){3}/.test(text))
    return 'is UTF-16: save it as UTF-8';
  if (/^\s*-----BEGIN /.test(text)) return 'is a certificate or a key in PEM: is this the right file?';
  if (/^\s*</.test(text)) return 'is HTML or XML: is this the right file?';
  if (/^\s*(?:---\s|#|[\w-]+\s*[:=])/.test(text))
    return 'is not JSON, but looks like YAML or a list of variables';
  if (!/^\s*[{[]/.test(text)) return 'is not JSON: it does not begin with {';
  const { at, what } = faultIn(text);
  const before = text.slice(0, at).split('\n');
  return `${what}, at line ${before.length}, column ${before[before.length - 1]!.length + 1}`;
}

function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

function faultIn(text: string): Fault {
  let at = 0;
  const fault = (what: string): Fault => ({ at, what });
  const skip = (): string | undefined => {
    while (/[\s\uFEFF]/.test(text.charAt(at))) at++;
    return text[at];
  };
  const matches = (pattern: RegExp): boolean => {
    const found = pattern.exec(text.slice(at))?.[0];
    at += found?.length ?? 0;
    return found !== undefined;
  };
  /** What stands where something else has to. */
  const unexpected = (): Fault => {
    const next = text[at];
    if (next === undefined) return fault('ends too early');
    if (next === '\0') return fault('has zeros, as files have after the power was lost');
    if (next === "'" || next === '\u201c' || next === '\u201d') return fault('has other quotes than "');
    if (next === '#' || next === '/') return fault('has a comment, which JSON does not know');
    if (next === '}' || next === ']') return fault('has a comma too many, or lacks a value');
    if (next === '"') return fault('lacks a comma or a colon');
    return fault(/\w/.test(next) ? 'has a word without quotes' : 'has a character that cannot be there');
  };
  const string = (): Fault | undefined => {
    at++;
    for (;;) {
      const next = text[at];
      if (next === '"') {
        at++;
        return undefined;
      }
      if (next === undefined) return fault('ends too early');
      if (next === '\0') return unexpected();
      if (next < ' ') return fault('has a line break or a tab inside of quotes');
      if (next !== '\\') at++;
      else if (!matches(ESCAPE)) return fault('has a single backslash: write two');
    }
  };
  const members = (end: string, depth: number): Fault | undefined => {
    const names: { [name: string]: true } = Object.create(null);
    at++;
    if (skip() === end) {
      at++;
      return undefined;
    }
    for (;;) {
      if (end === '}') {
        if (skip() !== '"') return unexpected();
        const start = at;
        const torn = string();
        if (torn !== undefined) return torn;
        const name = text.slice(start + 1, at - 1);
        if (names[name]) {
          at = start;
          return fault(`has the key ${/^\w{1,40}$/.test(name) ? `"${name}"` : 'of this place'} twice`);
        }
        names[name] = true;
        if (skip() !== ':') return unexpected();
        at++;
      }
      const wrong = value(depth + 1);
      if (wrong !== undefined) return wrong;
      const next = skip();
      if (next === end) {
        at++;
        return undefined;
      }
      if (next !== ',') return unexpected();
      at++;
    }
  };
  const value = (depth: number): Fault | undefined => {
    const next = skip();
    if (depth > MOST_DEPTH) return fault('is nested too deeply');
    if (next === '{') return members('}', depth);
    if (next === '[') return members(']', depth);
    if (next === '"') return string();
    return matches(LITERAL) ? undefined : unexpected();
  };
  const wrong = value(0);
  if (wrong !== undefined) return wrong;
  if (skip() === undefined) return fault('is not JSON in UTF-8');
  return text[at] === '\0' ? unexpected() : fault('goes on after its end');
}
