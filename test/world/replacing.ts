/** Other members in the place of an object's own, such as those of a module of Node.js. */
import { syncBuiltinESMExports } from 'node:module';

/** Runs `body` while an object has other members. When that has ended, or what it promised, the object has its own again. */
export function replacing<Result>(target: object, others: object, body: () => Result): Result {
  const own = Object.keys(others).map(
    (name) => [name, Object.getOwnPropertyDescriptor(target, name)] as const,
  );
  const restore = (): void => {
    for (const [name, descriptor] of own) {
      if (descriptor === undefined) Reflect.deleteProperty(target, name);
      else Object.defineProperty(target, name, descriptor);
    }
    syncBuiltinESMExports();
  };
  for (const [name, value] of Object.entries(others))
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
  syncBuiltinESMExports();
  let isWaiting = false;
  try {
    const result = body();
    isWaiting = result instanceof Promise;
    return isWaiting ? ((result as Promise<unknown>).finally(restore) as Result) : result;
  } finally {
    if (!isWaiting) restore();
  }
}
