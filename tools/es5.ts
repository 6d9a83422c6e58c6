/**
 * Lowers code to ES5, for engines without newer syntax. Espruino knows even less: a function exists only from its
 * declaration on, not from the start of the enclosing function, and Object.create takes no properties.
 */
import swc from '@swc/core';
import type { AnyNode, MemberExpression } from 'acorn';
import { type Edit, edited, parseModule, walk } from './syntax.ts';

const INHERITS = /^function _inherits\([\s\S]*?^\}$/m;
/** For static members. The library has none. */
const SET_PROTOTYPE_OF = /^function _set_prototype_of\([\s\S]*?^\}$/m;
const PLAIN_INHERITS =
  'function _inherits(subClass, superClass) { subClass.prototype = Object.create(superClass.prototype); ' +
  'subClass.prototype.constructor = subClass; }';
/** A call of _inherits that comes before the constructor's declaration. */
const EARLY = /^( +)(_inherits\((\w+), \w+\);)\n(\1function \3\([\s\S]*?^\1\})\n/gm;

/** Lowers a script. BigInt powers stay, since Math.pow would throw on them. Line numbers stay too. */
export async function lower(code: string, map?: string): Promise<{ code: string; map: string }> {
  const lowered = await swc.transform(code, {
    ...(map === undefined ? {} : { inputSourceMap: map }),
    sourceMaps: true,
    configFile: false,
    swcrc: false,
    isModule: false,
    env: {
      targets: 'ie 9',
      exclude: ['transform-exponentiation-operator', 'transform-instanceof', 'transform-typeof-symbol'],
    },
    jsc: { loose: true },
  });
  const plain = lowered.code
    .replace(INHERITS, (helper) => PLAIN_INHERITS + blank(helper))
    .replace(SET_PROTOTYPE_OF, blank)
    .replace(EARLY, (_, _indent, call, _name, declaration) => `\n${declaration} ${call}\n`);
  if (/^ +_inherits\(|_set_prototype_of/m.test(plain)) {
    throw new Error(
      'swc lowers inheritance in a new way: compare its output with the patterns in tools/es5.ts',
    );
  }
  return { code: withDefinedMembers(plain), map: lowered.map! };
}

const INHERITED = Object.getOwnPropertyNames(Object.prototype);

/**
 * Defines members such as `toString` and `constructor`, which lowered classes assign. If Object.prototype is frozen, as in a
 * hardened realm, assigning to a member inherited from it throws.
 */
function withDefinedMembers(code: string): string {
  const edits: Edit[] = [];
  walk(parseModule(code), (node) => {
    if (node.type !== 'AssignmentExpression' || node.operator !== '=') return true;
    const name = inheritedName(node.left);
    if (name === undefined) return true;
    const { object } = node.left as MemberExpression;
    edits.push(
      { start: node.start, end: node.start, text: 'Object.defineProperty(' },
      { start: object.end, end: node.right.start, text: `, "${name}", { value: ` },
      { start: node.end, end: node.end, text: ', configurable: true, writable: true })' },
    );
    return true;
  });
  return edited(code, edits);
}

/** The name of a member that all objects inherit. */
function inheritedName(node: AnyNode): string | undefined {
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier')
    return undefined;
  return INHERITED.includes(node.property.name) ? node.property.name : undefined;
}

function blank(text: string): string {
  return text.replace(/.+/g, '');
}
