/**
 * Lowers to ES5 what engines take that know no more, and some of them less: Espruino's functions exist from where they
 * are declared, not from the start of the function around them, and its Object.create takes no properties.
 */
import swc from '@swc/core';

const INHERITS = /^function _inherits\([\s\S]*?^\}$/m;
/** Which is for static members, of which there are none. */
const SET_PROTOTYPE_OF = /^function _set_prototype_of\([\s\S]*?^\}$/m;
const PLAIN_INHERITS =
  'function _inherits(subClass, superClass) { subClass.prototype = Object.create(superClass.prototype); ' +
  'subClass.prototype.constructor = subClass; }';
/** A class that inherits before its constructor is declared. */
const EARLY = /^( +)(_inherits\((\w+), \w+\);)\n(\1function \3\([\s\S]*?^\1\})\n/gm;

/** A script of ES5, but for BigInt, whose powers stay: as Math.pow they would throw. Lines stay in their place. */
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
    throw new Error('a class inherits in a form that is not known here: compare with the output of swc');
  }
  return { code: plain, map: lowered.map! };
}

function blank(text: string): string {
  return text.replace(/.+/g, '');
}
