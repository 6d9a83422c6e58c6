/** What is random in tests comes from one seed, so that each run has the same inputs. Searches have their own seeds. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Random } from './random.ts';

/** The seed of this run. `tools/test.ts` sets it; with `FUZZ_RUNS` it is another one each time, which is printed. */
export const SEED: number = Number(process.env.FUZZ_SEED ?? 1);

/** Replaces the random numbers of this process, such as those of `randomBytes` of `hub-protocol/node`, with those of the seed. */
export function seedProcess(): void {
  const random = new Random(SEED);
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = random.next();
    return view;
  };
  const randomBytes = (
    length: number,
    callback?: (error: null, bytes: Buffer) => void,
  ): Buffer | undefined => {
    const bytes = fill(Buffer.alloc(length));
    if (callback === undefined) return bytes;
    process.nextTick(callback, null, bytes);
    return undefined;
  };
  Object.assign(crypto, { randomBytes, randomFillSync: fill });
  syncBuiltinESMExports();
  Object.assign(Object.getPrototypeOf(crypto.webcrypto), { getRandomValues: fill });
  Math.random = () => random.next() / 2 ** 32;
}
