/**
 * What the core uses beyond the library of ES5, whose declarations are all that it is compiled with. Each is looked for
 * before it is used, or is in every engine that the files are for, as test/bundles/gates.test.ts lists.
 */

interface ObjectConstructor {
  /** Makes our errors instances of Error: a class that extends Error, lowered to ES5, misbehaves on device engines. */
  setPrototypeOf<T>(object: T, prototype: object | null): T;
}

interface Math {
  /** Argon2id alone: its 64-bit products would be several times slower without. */
  imul(x: number, y: number): number;
}

/** Looked for before it is used: what Node shows of an object that holds secrets goes by a symbol. */
// biome-ignore lint/suspicious/noShadowRestrictedNames: ES5's library has no value of this name
declare const Symbol: ((description?: string) => symbol) & { for(key: string): symbol };
