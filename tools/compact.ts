/**
 * What makes a device's file compact beyond minifying, as an esbuild plugin and a list of names. The vectors are put
 * to the files that come of it, so what goes wrong here shows.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AnyNode, type CallExpression, parse } from 'acorn';
import { type OnLoadResult, type Plugin, transform } from 'esbuild';

/** Texts with a space that are no sentences: Object.prototype.toString's, and HTTP's. */
const KEPT = /^\[object \w+\]$|^Basic $/;
/** Composes what an error shows, of its code. */
const EXCEPT = /\berrors\.ts$/;

/**
 * Empties the texts for people: the sentences of errors, a sixth of the file. Programs read `error.code`, and the README
 * says what each code means. In our sources, whatever has a space in it is such a text, since the protocol's own texts
 * have none; in noble's, what an error is made of. Each is filled up with spaces, so that source maps hold.
 */
export function compact(sources: string): Plugin {
  return {
    name: 'compact',
    setup({ onLoad }) {
      onLoad({ filter: /\/@noble\/.*\.js$/ }, async ({ path }) => load(path, () => false));
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!path.startsWith(sources) || EXCEPT.test(path)) return undefined;
        return load(path, (text) => /\S/.test(text) && text.includes(' ') && !KEPT.test(text));
      });
    },
  };
}

/** Fields of classes become plain assignments, of noble's too: defining them one by one takes code, and time. */
async function load(path: string, isSentence: (text: string) => boolean): Promise<OnLoadResult> {
  const { code } = await transform(await readFile(path, 'utf8'), {
    loader: 'ts',
    target: 'es2020',
    sourcemap: 'inline',
    sourcefile: path,
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: false } },
  });
  return { contents: copying(emptied(code, isSentence)), loader: 'js' };
}

/** Copies of bytes are made by the constructor: in XS, `Uint8Array.from` takes 16 bytes for each of them. */
function copying(code: string): string {
  return code.replace(/\bUint8Array\.from\((?=\w+(?:\([^()]*\))?\))/g, 'new Uint8Array( ');
}

function emptied(code: string, isSentence: (text: string) => boolean): string {
  let rest = code;
  const put = (start: number, end: number, text: string): void => {
    const blank = code.slice(start + text.length, end).replace(/[^\n]/g, ' ');
    rest = rest.slice(0, start) + text + blank + rest.slice(end);
  };
  walk(module(code), (node) => {
    const place = placeOfSentence(node);
    if (place !== undefined) {
      const { arguments: all } = node as CallExpression;
      const { start, end } = all[place]!;
      if (place < all.length - 1) put(start, end, "''");
      else put(place === 0 ? start : all[place - 1]!.end, end, '');
      return false;
    }
    if (!isText(node, isSentence)) return true;
    put(node.start, node.end, "''");
    return false;
  });
  return rest;
}

/** Which argument of a call is a text for people: the name of what is asserted, and what an error says beside its code. */
function placeOfSentence(node: AnyNode): number | undefined {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return undefined;
  if (node.callee.type !== 'Identifier') return undefined;
  const isNew = node.type === 'NewExpression';
  const place = isNew && /^(?:|Type|Range)Error$/.test(node.callee.name) ? 0 : 1;
  const isOurs = isNew ? /^(?:Local|Remote)Error$/ : /^assert[A-Z]/;
  if (place === 1 && !isOurs.test(node.callee.name)) return undefined;
  const argument = node.arguments[place];
  const isText = argument?.type === 'Literal' && typeof argument.value === 'string';
  return argument !== undefined && (isNew || isText) ? place : undefined;
}

function isText(node: AnyNode, isSentence: (text: string) => boolean): boolean {
  if (node.type === 'Literal') return typeof node.value === 'string' && isSentence(node.value);
  return node.type === 'TemplateLiteral' && node.quasis.some(({ value }) => isSentence(value.raw));
}

/**
 * The private members that may have shorter names: those that appear in the bundle as methods and after `this` only, and
 * in no text, by which they could be called.
 */
export function privateNames(sources: string, bundle: string): string[] {
  const names = new Set<string>();
  const member = /^\s+(?:private|protected)\s+(?:(?:override|abstract|readonly|get)\s+)*(\w+)/gm;
  for (const path of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.ts')) continue;
    for (const [, name] of readFileSync(`${sources}/${path}`, 'utf8').matchAll(member)) names.add(name!);
  }
  walk(module(bundle), (node) => {
    if (node.type === 'Literal') names.delete(String(node.value));
    if (node.type === 'Property' && node.key.type === 'Identifier') names.delete(node.key.name);
    if (node.type === 'MemberExpression' && node.property.type === 'Identifier') {
      if (node.object.type !== 'ThisExpression') names.delete(node.property.name);
    }
    return true;
  });
  return [...names];
}

function module(code: string): AnyNode {
  return parse(code, { ecmaVersion: 2022, sourceType: 'module' });
}

/** Visits a node, and where that says so what is in it. */
export function walk(node: AnyNode, visit: (node: AnyNode) => boolean): void {
  if (!visit(node)) return;
  for (const child of Object.values(node)) {
    for (const item of Array.isArray(child) ? child : [child]) {
      if (typeof item?.type === 'string') walk(item, visit);
    }
  }
}
