/** How often something waits as long as it may: counted, and not measured. */
export async function waitsOf(milliseconds: number, call: () => Promise<unknown>): Promise<number> {
  const { setTimeout } = globalThis;
  let count = 0;
  const counting = (run: () => void, delay?: number): NodeJS.Timeout => {
    if (delay === milliseconds) count++;
    return setTimeout(run, delay);
  };
  globalThis.setTimeout = Object.assign(counting, setTimeout);
  try {
    await call();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return count;
}
