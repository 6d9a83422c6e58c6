/**
 * Lowers code to ES5, for engines that know no more. Espruino knows even less: a function exists only from its declaration
 * on, not from the start of the enclosing function, and Object.create takes no properties.
 */
import swc from '@swc/core';

const INHERITS = /^function _inherits\([\s\S]*?^\}$/m;
/** For static members, of which there are none. */
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
  return { code: plain, map: lowered.map! };
}

function blank(text: string): string {
  return text.replace(/.+/g, '');
}
