/** What a script or module touches of the language's library, read from its syntax tree. */
import { type AnyNode, parse } from 'acorn';
import { walk } from '../../tools/syntax.ts';

/** The names of methods and accessors of the classes that come with the language, as this Node has them. */
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
 * The globals of a file, with the members it takes of them (`Object.keys`), and after a dot, the methods of
 * built-in classes that it names (`.slice`). A member of its own by such a name is among them, to be on the safe side.
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
 * The functions and variables that a script names before they are declared, where Espruino does not know them yet. What is
 * named in another function is left out, since that runs later, but for one that is called on the spot.
 */
export function namedTooEarly(code: string): string[] {
  const early: string[] = [];
  const look = (scope: AnyNode): void => {
    const declared = new Map<string, number>();
    const declare = (id: AnyNode, from: number): void => {
      if (id.type === 'Identifier' && !declared.has(id.name)) declared.set(id.name, from);
    };
    if ('params' in scope) for (const param of scope.params) declare(param, scope.start);
    inScope(scope, (node) => {
      if (node.type === 'VariableDeclarator') declare(node.id, node.start);
      if (node.type === 'FunctionDeclaration') declare(node.id!, node.start);
      return true;
    });
    namedAtOnce(scope, (name, at) => {
      if (at < (declared.get(name) ?? 0)) early.push(name);
    });
  };
  walk(parse(code, { ecmaVersion: 2022, sourceType: 'script' }), (node) => {
    if (node.type === 'Program' || isFunction(node)) look(node);
    return true;
  });
  return early;
}

const isFunction = (node: AnyNode): boolean => /^Function/.test(node.type);

/** Visits what is in a function or script, and of the functions in that nothing but themselves. */
function inScope(scope: AnyNode, visit: (node: AnyNode) => boolean): void {
  walk(scope, (node) => node === scope || (visit(node) && !isFunction(node)));
}

/** Reports each name that is read or written there, and where; of functions called on the spot what they do not declare. */
function namedAtOnce(scope: AnyNode, report: (name: string, at: number) => void): void {
  const members = new Set<AnyNode>();
  if ('id' in scope && scope.id) members.add(scope.id); // which a variable of the function may shadow
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

/** All names that are bound anywhere in the file. */
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

/** Identifiers that are names and no references, and nothing else: of fields, methods, labels and exports. */
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
