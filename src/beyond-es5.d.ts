/**
 * The built-ins beyond ES5 that the core uses. It is compiled with ES5's library and this file alone. Each use is
 * guarded by a check, or all engines that the file targets have the built-in: test/bundles/gates.test.ts lists them.
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
