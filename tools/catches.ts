/**
 * Gives the variable of a `catch` a name that its function has nowhere else. In MicroQuickJS it is a variable of the whole
 * function, and must not exist yet; minifiers choose one name for several.
 */
import type { AnyNode, Identifier } from 'acorn';
import { type Edit, edited, isFunction, parseModule, walk } from './syntax.ts';

/** A variable of a `catch`: the function around it, where it has its name, and all other names of the function. */
interface Catch {
  readonly scope: AnyNode;
  readonly name: string;
  readonly uses: readonly AnyNode[];
  readonly others: ReadonlySet<string>;
}

/** The most frequent ones first, which compresses best. */
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

/** Each variable of a `catch`. A name that is given to two in one function is among the other names of both. */
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

/** All identifiers but the names of members. */
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
