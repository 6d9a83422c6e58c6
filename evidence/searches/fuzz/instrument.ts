/** Counts how often each branch of a program is taken, for a search that is led by what it reaches. */
import { readFileSync } from 'node:fs';
import type { AnyNode, ForStatement } from 'acorn';
import { type Plugin, transformSync } from 'esbuild';
import { isFunction, parseModule, walk } from '../../../tools/syntax.ts';

/** Where instrumented code counts: one byte for each branch. */
export const COUNTERS = '__branches';

/**
 * @param source - TypeScript
 * @param next - numbers the branches
 * @returns JavaScript with a counter in each block, case, arm of a condition, body of a loop or an arrow function, and right side of
 *   `&&`, `||` and `??`
 */
export function instrumented(source: string, next: () => number): string {
  const { code } = transformSync(source, { loader: 'ts', target: 'es2022' });
  // At one place, what ends stands before what begins, and the end of an inner node before that of an outer one.
  const begins = new Map<number, string>();
  const ends = new Map<number, string>();
  const begin = (at: number, text: string): unknown => begins.set(at, (begins.get(at) ?? '') + text);
  const end = (at: number, text: string): unknown => ends.set(at, text + (ends.get(at) ?? ''));
  const count = (): string => `${COUNTERS}[${next()}]++`;
  const inStatement = (node: AnyNode): void => {
    if (node.type === 'BlockStatement') return; // it has its own
    begin(node.start, `{${count()};`);
    end(node.end, '}');
  };
  const inExpression = (node: AnyNode): void => {
    begin(node.start, `(${count()},`);
    end(node.end, ')');
  };
  walk(parseModule(code), (node) => {
    if (node.type === 'BlockStatement') begin(node.start + 1, `${count()};`);
    else if (node.type === 'SwitchCase') {
      const [first] = node.consequent;
      if (first !== undefined) begin(first.start, `${count()};`);
    } else if (node.type === 'IfStatement') {
      if (node.alternate) inStatement(node.alternate);
      else end(node.end, ` else ${count()};`);
      inStatement(node.consequent);
    } else if (/^(?:For|While|DoWhile)/.test(node.type)) inStatement((node as ForStatement).body);
    else if (node.type === 'ConditionalExpression') {
      inExpression(node.consequent);
      inExpression(node.alternate);
    } else if (node.type === 'LogicalExpression') inExpression(node.right);
    else if (isFunction(node) && 'body' in node && (node.body as AnyNode).type !== 'BlockStatement') {
      inExpression(node.body as AnyNode);
    }
    return true;
  });
  let result = '';
  let from = 0;
  for (const at of [...new Set([...begins.keys(), ...ends.keys()])].sort((a, b) => a - b)) {
    result += code.slice(from, at) + (ends.get(at) ?? '') + (begins.get(at) ?? '');
    from = at;
  }
  return result + code.slice(from);
}

/** Instruments what esbuild reads of the library, the client, the commands and the judge. */
export class Instrument {
  /** How many branches there are. */
  branches = 0;

  readonly plugin: Plugin = {
    name: 'instrument',
    setup: (build) => {
      build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => ({
        contents: instrumented(readFileSync(path, 'utf8'), () => this.branches++),
        loader: 'js',
      }));
    },
  };
}
