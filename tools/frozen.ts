/**
 * Makes the variables of a module constant, and freezes their values. Moddable then preloads them into flash. Anything else
 * might change: XS's linker warns, and it takes some RAM. XS freezes functions, classes, regular expressions and typed
 * arrays itself.
 */
import type { AnyNode } from 'acorn';
import { type Edit, edited, parseModule } from './syntax.ts';

/**
 * Changes a bundled module, in which esbuild declares all variables with `var`. Line numbers stay the same, for the
 * source map.
 */
export function withFrozenValues(code: string): string {
  const edits: Edit[] = [];
  for (const node of statementsOf(code)) {
    if (node.type !== 'VariableDeclaration') continue;
    edits.push({ start: node.start, end: node.start + node.kind.length, text: 'const' });
    for (const { init } of node.declarations) {
      if (!init || !isTable(init)) continue;
      edits.push({ start: init.start, end: init.start, text: 'Object.freeze(' });
      // Only XS uses the second argument: it freezes everything in the value.
      edits.push({ start: init.end, end: init.end, text: ', true)' });
    }
  }
  return edited(code, edits);
}

/** Finds the variables of a module that are not constant, and those with a value that is not frozen. */
export function unfrozenIn(code: string): string[] {
  const found: string[] = [];
  for (const node of statementsOf(code)) {
    if (node.type !== 'VariableDeclaration') continue;
    for (const { id, init } of node.declarations) {
      if (node.kind !== 'const' || (init && isTable(init))) found.push(code.slice(id.start, id.end));
    }
  }
  return found;
}

function statementsOf(code: string): readonly AnyNode[] {
  const tree = parseModule(code);
  return tree.type === 'Program' ? tree.body : [];
}

/** An object, an array, or the result of a function or a method such as `map`. */
function isTable(value: AnyNode): boolean {
  if (value.type === 'ObjectExpression' || value.type === 'ArrayExpression') return true;
  if (value.type !== 'CallExpression') return false;
  if (value.callee.type !== 'MemberExpression') return value.callee.type === 'Identifier';
  const { property } = value.callee;
  return property.type === 'Identifier' && property.name !== 'freeze';
}
