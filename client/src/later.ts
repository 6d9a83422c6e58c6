/** Stores whose functions may return promises. */

/** How long a store may take for an answer, in milliseconds. */
export const STORE_TIMEOUT = 5000;

export function isLater<Answer>(answer: Answer | PromiseLike<Answer>): answer is PromiseLike<Answer> {
  return typeof (answer as PromiseLike<Answer> | undefined)?.then === 'function';
}

/** @throws Error if there is no answer in time */
export async function inTime<Answer>(name: string, answer: PromiseLike<Answer>): Promise<Answer> {
  let late: ReturnType<typeof setTimeout> | undefined;
  const isLate = new Promise<never>((_, reject) => {
    const message = `"${name}" has not answered within ${STORE_TIMEOUT / 1000} s`;
    // An answer that has come while this process was busy is read first.
    late = setTimeout(() => setTimeout(() => reject(new Error(message))), STORE_TIMEOUT);
  });
  return Promise.race([answer, isLate]).finally(() => clearTimeout(late));
}
