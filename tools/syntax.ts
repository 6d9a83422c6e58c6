/** JavaScript syntax trees: parsing, walking, editing, and resolving names in a bundle. */
import { type AnyNode, type CallExpression, type Function as FunctionNode, parse } from 'acorn';

export function parseModule(code: string): AnyNode {
  return parse(code, { ecmaVersion: 2022, sourceType: 'module' });
}

/** Visits a node, and its children where `visit` returns true. */
export function walk(node: AnyNode, visit: (node: AnyNode) => boolean): void {
  if (!visit(node)) return;
  for (const child of Object.values(node)) {
    for (const item of Array.isArray(child) ? child : [child]) {
      if (typeof item?.type === 'string') walk(item, visit);
    }
  }
}

export function isNamed(node: AnyNode, ...names: string[]): boolean {
  return node.type === 'Identifier' && names.includes(node.name);
}

export function isFunction({ type }: AnyNode): boolean {
  return /Function/.test(type);
}

/** A replacement for a range of the code. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Applies edits, except those inside others. Shorter replacements are padded with spaces, for the source map. */
export function edited(code: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    if (start < at) continue;
    result += code.slice(at, start) + text + code.slice(start + text.length, end).replace(/[^\n]/g, ' ');
    at = end;
  }
  return result + code.slice(at);
}

/** All functions `f`, or all methods `m` of any class, with one name, and the calls `f()` or `this.m()`. */
export interface Callable {
  readonly definitions: FunctionNode[];
  readonly calls: CallExpression[];
}

/** The initial value of a variable, and all identifiers with the variable's name in its scope. */
export interface Variable {
  readonly value: AnyNode;
  readonly reads: readonly AnyNode[];
}

/**
 * Resolves the names in a bundle, conservatively: functions and methods whose name has a second meaning anywhere are left
 * out, and every identifier with a variable's name in its scope counts as a read of it.
 */
export class Names {
  readonly callables: ReadonlyMap<string, Callable>;
  readonly variables: readonly Variable[];
  private readonly identifiers = new Map<string, AnyNode[]>();

  constructor(tree: AnyNode) {
    walk(tree, (node) => {
      if (node.type === 'Identifier') {
        this.identifiers.set(node.name, [...(this.identifiers.get(node.name) ?? []), node]);
      }
      return true;
    });
    this.callables = callablesOf(tree);
    this.variables = this.variablesOf(tree, tree);
  }

  /** Returns all reads of an argument within the function that is called with it. */
  readsOfArgument(index: number, { params, body }: FunctionNode): readonly AnyNode[] {
    const all = this.within(body, 'arguments');
    const parameter = params[index];
    if (parameter === undefined) return all;
    const pattern = parameter.type === 'AssignmentPattern' ? parameter.left : parameter;
    return pattern.type === 'Identifier' ? [...all, ...this.within(body, pattern.name)] : [pattern];
  }

  private variablesOf(tree: AnyNode, scope: AnyNode): Variable[] {
    const variables: Variable[] = [];
    walk(tree, (node) => {
      if (node !== tree && isFunction(node)) {
        variables.push(...this.variablesOf(node, node));
        return false;
      }
      if (node.type === 'VariableDeclarator' && node.id.type === 'Identifier' && node.init) {
        const { id, init } = node;
        variables.push({ value: init, reads: this.within(scope, id.name).filter((read) => read !== id) });
      }
      return true;
    });
    return variables;
  }

  private within({ start, end }: AnyNode, name: string): AnyNode[] {
    return (this.identifiers.get(name) ?? []).filter((node) => node.start >= start && node.end <= end);
  }
}

function callablesOf(tree: AnyNode): Map<string, Callable> {
  const callables = new Map<string, Callable>();
  const ambiguous = new Set<string>();
  const callable = (name: string): Callable => {
    const known = callables.get(name) ?? { definitions: [], calls: [] };
    callables.set(name, known);
    return known;
  };
  const bind = (pattern: AnyNode | null | undefined): void => {
    if (pattern) walk(pattern, (part) => part.type !== 'Identifier' || ambiguous.add(part.name).size > 0);
  };
  walk(tree, (node) => {
    if ('params' in node) node.params.forEach(bind);
    if ('id' in node && node.type !== 'FunctionDeclaration') bind(node.id);
    if (node.type === 'CatchClause') bind(node.param);
    if (node.type === 'FunctionDeclaration') {
      if (callable(node.id!.name).definitions.push(node) > 1) bind(node.id);
    }
    if (node.type === 'MethodDefinition') {
      if (node.kind === 'method') callable(memberName(node.key)).definitions.push(node.value);
      else ambiguous.add(memberName(node.key));
    }
    if (node.type === 'PropertyDefinition') ambiguous.add(memberName(node.key));
    if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') {
      ambiguous.add(memberName(node.left.property));
    }
    if (node.type === 'CallExpression' && node.arguments.every(({ type }) => type !== 'SpreadElement')) {
      const { callee } = node;
      if (callee.type === 'Identifier') callable(callee.name).calls.push(node);
      if (callee.type === 'MemberExpression' && callee.object.type === 'ThisExpression') {
        callable(memberName(callee.property)).calls.push(node);
      }
    }
    return true;
  });
  for (const [name, { definitions }] of callables) {
    if (definitions.length === 0 || ambiguous.has(name)) callables.delete(name);
  }
  return callables;
}

/** The name with a dot before it, since a function and a method may share a name. */
function memberName(key: AnyNode): string {
  return key.type === 'Identifier' || key.type === 'PrivateIdentifier' ? `.${key.name}` : '';
}
