/**
 * Makes the variables of a module constant, and freezes their values. Moddable then preloads them into flash. Anything else
 * might change: XS's linker warns, and it takes some RAM. XS freezes functions, classes, regular expressions and typed
 * arrays itself.
 */
import type { AnyNode } from 'acorn';
import { type Edit, edited, parseModule, walk } from './syntax.ts';

/**
 * Changes a bundled module, in which esbuild declares all variables with `var`. Line numbers stay the same, for the
 * source map.
 * @throws Error if the module changes one of these values
 */
export function withFrozenValues(code: string): string {
  const edits: Edit[] = [];
  const frozen: string[] = [];
  for (const node of statementsOf(code)) {
    if (node.type !== 'VariableDeclaration') continue;
    edits.push({ start: node.start, end: node.start + node.kind.length, text: 'const' });
    for (const { id, init } of node.declarations) {
      if (!init || !isTable(init)) continue;
      frozen.push(code.slice(id.start, id.end));
      edits.push({ start: init.start, end: init.start, text: 'Object.freeze(' });
      // Only XS uses the second argument: it freezes everything in the value.
      edits.push({ start: init.end, end: init.end, text: ', true)' });
    }
  }
  for (const name of changedIn(code)) {
    if (frozen.includes(name)) throw new Error(`${name} is frozen, so it cannot be changed`);
  }
  return edited(code, edits);
}

/** The variables whose fields are assigned. */
function changedIn(code: string): string[] {
  const found: string[] = [];
  walk(parseModule(code), (node) => {
    const target =
      node.type === 'AssignmentExpression'
        ? node.left
        : node.type === 'UpdateExpression'
          ? node.argument
          : undefined;
    if (target?.type === 'MemberExpression' && target.object.type === 'Identifier')
      found.push(target.object.name);
    return true;
  });
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
