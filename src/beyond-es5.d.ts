/**
 * What the core uses beyond ES5. It is compiled with ES5's library and this file alone. Every use is either guarded by a
 * check, or in all engines that a file is for, which test/bundles/gates.test.ts lists.
 */

interface ObjectConstructor {
  /** Makes errors instances of Error: lowered to ES5, a class that extends Error misbehaves on device engines. */
  setPrototypeOf<T>(object: T, prototype: object | null): T;
}

interface Math {
  /** Only in Argon2id, whose 64-bit products would be several times slower without it. */
  imul(x: number, y: number): number;
}

/** Checked for: a symbol tells Node how to show an object that holds secrets. */
// biome-ignore lint/suspicious/noShadowRestrictedNames: ES5's library has no value of this name
declare const Symbol: ((description?: string) => symbol) & { for(key: string): symbol };
