/**
 * Renames catch variables whose name their function uses elsewhere. MicroQuickJS declares them in the whole function and
 * rejects a name that exists, but minifiers give several the same name.
 */
import type { AnyNode, Identifier } from 'acorn';
import { type Edit, edited, isFunction, parseModule, walk } from './syntax.ts';

/** A catch variable: the enclosing function, all identifiers that refer to it, and the function's other names. */
interface Catch {
  readonly scope: AnyNode;
  readonly name: string;
  readonly uses: readonly AnyNode[];
  readonly others: ReadonlySet<string>;
}

/** The most frequent names come first, which compresses best. */
const NAMES = [...'etnrisouaflchpmdgvySTCEPLAxwkOMD_zq$BFGHIJKNQRUVWXYZbj'];

export function withUniqueCatches(code: string): string {
  const edits: Edit[] = [];
  const given: { scope: AnyNode; name: string }[] = [];
  for (const { scope, name, uses, others } of catchesIn(code)) {
    if (!others.has(name)) continue;
    const isFree = (candidate: string): boolean =>
      !others.has(candidate) &&
      given.every((other) => other.name !== candidate || areApart(other.scope, scope));
    const text = [...NAMES, ...NAMES.map((letter) => `${letter}$`)].find(isFree)!;
    given.push({ scope, name: text });
    for (const { start, end } of uses) edits.push({ start, end, text });
  }
  return edited(code, edits);
}

function areApart(a: AnyNode, b: AnyNode): boolean {
  return a.end <= b.start || b.end <= a.start;
}

/** Finds all catch variables. If two in a function share a name, it is among the other names of both. */
export function catchesIn(code: string): Catch[] {
  const catches: Catch[] = [];
  const look = (scope: AnyNode): void =>
    walk(scope, (node) => {
      if (node !== scope && isFunction(node)) {
        look(node);
        return false;
      }
      if (node.type !== 'CatchClause' || node.param?.type !== 'Identifier') return true;
      const { name } = node.param;
      const uses = new Set(identifiersIn(node).filter((use) => use.name === name));
      const others = identifiersIn(scope).filter((other) => !uses.has(other));
      catches.push({ scope, name, uses: [...uses], others: new Set(others.map((other) => other.name)) });
      return true;
    });
  look(parseModule(code));
  return catches;
}

/** Returns all identifiers except the names of members. */
function identifiersIn(tree: AnyNode): Identifier[] {
  const members = new Set<AnyNode>();
  const identifiers: Identifier[] = [];
  walk(tree, (node) => {
    if (node.type === 'MemberExpression' && !node.computed) members.add(node.property);
    if (node.type === 'Property' && !node.computed) members.add(node.key);
    if (node.type === 'MethodDefinition' && !node.computed) members.add(node.key);
    if (node.type === 'Identifier' && !members.has(node)) identifiers.push(node);
    return true;
  });
  return identifiers;
}
