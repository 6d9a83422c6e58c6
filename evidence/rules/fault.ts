/** A fault that is planted, which the judge must notice. */
export interface Fault {
  readonly name: string;
  /** Texts of the sources, and what replaces each. A text that is not there exactly once is an error. */
  readonly patches: readonly Patch[];
  /** The operations or scenes to run. The others run with --all only. */
  readonly only: readonly string[];
}

export type Patch = readonly [file: string, find: string, replacement: string];

/** @param only - the operations or scenes, with spaces between them */
export function fault(name: string, only: string, ...patches: Patch[]): Fault {
  return { name, patches, only: only.split(' ') };
}

/** Applies the patches of one file. */
export function patched(source: string, patches: readonly Patch[]): string {
  let result = source;
  for (const [file, find, replacement] of patches) {
    const count = result.split(find).length - 1;
    if (count !== 1)
      throw new Error(`${file} has this ${count} times, so the fault cannot be planted: ${find}`);
    result = result.replace(find, () => replacement);
  }
  return result;
}
