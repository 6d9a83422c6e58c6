/** Finds the built-ins that a script or module uses, from its syntax tree. */
import { type AnyNode, parse } from 'acorn';
import { walk } from '../../tools/syntax.ts';

/** The names of methods and accessors of the built-in classes, as this version of Node has them. */
const METHODS = new Set<string>();
const CLASSES = [
  Object,
  Function,
  Array,
  String,
  Number,
  Boolean,
  RegExp,
  Error,
  ArrayBuffer,
  DataView,
  Promise,
];
for (const { prototype } of [...CLASSES, Uint8Array, Map, Set, WeakMap, Symbol, BigInt]) {
  for (let object = prototype; object !== null; object = Object.getPrototypeOf(object)) {
    for (const name of Object.getOwnPropertyNames(object)) METHODS.add(name);
  }
}

/**
 * Returns the globals that a file uses, with their members (`Object.keys`), and names of methods of built-in classes
 * (`.slice`). Members of the file's own classes are included if they have such a name, to be on the safe side.
 */
export function builtInsOf(code: string, sourceType: 'script' | 'module'): string[] {
  const tree = parse(code, { ecmaVersion: 2022, sourceType });
  const declared = declaredIn(tree);
  const found = new Set<string>();
  const isGlobal = (node: AnyNode): boolean => node.type === 'Identifier' && !declared.has(node.name);
  walk(tree, (node) => {
    if (node.type === 'MemberExpression') {
      const { object, property, computed } = node;
      const name = property.type === 'Identifier' && !computed ? property.name : undefined;
      if (object.type === 'Identifier' && isGlobal(object)) {
        found.add(name === undefined ? object.name : `${object.name}.${name}`);
      } else if (name !== undefined && METHODS.has(name)) {
        found.add(`.${name}`);
      }
    } else if (node.type === 'Identifier' && isGlobal(node)) {
      found.add(node.name);
    }
    return true;
  });
  for (const name of namesAlone(tree)) found.delete(name);
  return [...found].sort();
}

/**
 * Returns the functions and variables that a script uses before their declaration, where Espruino does not know them yet.
 * Uses in other functions are left out, since these run later, except for those that a statement of the same function or script names,
 * or calls on the spot.
 */
export function namedTooEarly(code: string): string[] {
  const early: string[] = [];
  const look = (scope: AnyNode): void => {
    const declared = new Map<string, number>();
    const functions = new Map<string, AnyNode>();
    const declare = (id: AnyNode, from: number): void => {
      if (id.type === 'Identifier' && !declared.has(id.name)) declared.set(id.name, from);
    };
    if ('params' in scope) for (const param of scope.params) declare(param, scope.start);
    inScope(scope, (node) => {
      if (node.type === 'VariableDeclarator') declare(node.id, node.start);
      if (node.type === 'FunctionDeclaration') {
        declare(node.id!, node.start);
        functions.set(node.id!.name, node);
      }
      return true;
    });
    const see = (name: string, at: number): void => {
      if (at < (declared.get(name) ?? 0)) early.push(name);
      const named = functions.get(name);
      if (named === undefined) return;
      functions.delete(name);
      const own = declaredIn(named);
      namedAtOnce(named, (inner) => own.has(inner) || see(inner, at));
    };
    namedAtOnce(scope, see);
  };
  walk(parse(code, { ecmaVersion: 2022, sourceType: 'script' }), (node) => {
    if (node.type === 'Program' || isFunction(node)) look(node);
    return true;
  });
  return early;
}

const isFunction = (node: AnyNode): boolean => /^Function/.test(node.type);

/** Visits the nodes of a function or script, without the insides of nested functions. */
function inScope(scope: AnyNode, visit: (node: AnyNode) => boolean): void {
  walk(scope, (node) => node === scope || (visit(node) && !isFunction(node)));
}

/** Reports each name that is read or written, with its position, also within functions called on the spot. */
function namedAtOnce(scope: AnyNode, report: (name: string, at: number) => unknown): void {
  const members = new Set<AnyNode>();
  if ('id' in scope && scope.id) members.add(scope.id); // a variable of the function may shadow it
  inScope(scope, (node) => {
    if (node.type === 'MemberExpression' && !node.computed) members.add(node.property);
    if (node.type === 'Property' && !node.computed) members.add(node.key);
    if (node.type === 'CallExpression' && node.callee.type === 'FunctionExpression') {
      const own = declaredIn(node.callee);
      namedAtOnce(node.callee, (name, at) => {
        if (!own.has(name)) report(name, at);
      });
    }
    if (node.type === 'Identifier' && !members.has(node)) report(node.name, node.start);
    return true;
  });
}

/** All names that are declared anywhere in the file. */
function declaredIn(tree: AnyNode): Set<string> {
  const declared = new Set<string>(['undefined', 'arguments', 'NaN', 'Infinity']);
  const bind = (pattern: AnyNode | null | undefined): void => {
    if (pattern == null) return;
    if (pattern.type === 'Identifier') declared.add(pattern.name);
    if (pattern.type === 'AssignmentPattern') bind(pattern.left);
    if (pattern.type === 'RestElement') bind(pattern.argument);
    if (pattern.type === 'ArrayPattern') pattern.elements.forEach(bind);
    if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) {
        bind(property.type === 'RestElement' ? property.argument : property.value);
      }
    }
  };
  walk(tree, (node) => {
    if (node.type === 'VariableDeclarator') bind(node.id);
    if (node.type === 'ClassDeclaration' || node.type === 'ClassExpression') bind(node.id);
    if (node.type === 'CatchClause') bind(node.param);
    if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') bind(node.id);
    if ('params' in node) for (const param of node.params) bind(param);
    return true;
  });
  return declared;
}

/** Identifiers that are never references: the names of fields, methods, labels and exports. */
function namesAlone(tree: AnyNode): Set<string> {
  const names = new Set<string>();
  const references = new Set<string>();
  const skipped = new Set<AnyNode>();
  walk(tree, (node) => {
    if ('key' in node && 'computed' in node && !node.computed) skipped.add(node.key);
    if (node.type === 'MemberExpression' && !node.computed) skipped.add(node.property);
    if (node.type === 'ExportSpecifier') skipped.add(node.exported);
    if ('label' in node && node.label) skipped.add(node.label);
    if (node.type === 'Property' && node.shorthand) skipped.delete(node.key);
    if (node.type === 'Identifier') (skipped.has(node) ? names : references).add(node.name);
    return true;
  });
  for (const name of references) names.delete(name);
  return names;
}
