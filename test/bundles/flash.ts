/**
 * A stand-in for the flash of a device, with the faults of flash: it erases a text before it writes the next one, it may
 * be full, the power may fail in each of these steps, and what it says that it stored may be damaged or old.
 */

/** What goes wrong with one write. Those that begin with `cut` are losses of power. */
export const FAULTS = [
  'cut before it is erased',
  'cut when it is erased',
  'cut after the first character',
  'cut in the middle',
  'cut before the last character',
  'cut when it is written',
  'full: throws when it is erased',
  'refused: throws, with the old text',
  'false: is erased, and only returns false',
  'torn: has only the first half',
  'blank: the second half is not written over',
  'old: the write has no effect',
] as const;
export type Fault = (typeof FAULTS)[number];

/** The power has failed: nothing that the program does afterwards has an effect. */
export class PowerCut extends Error {}

export class Flash {
  readonly texts: Map<string, string>;
  /** The number of the first write with the fault, from 1, and how many have it in a row. */
  fault: { readonly at: number; readonly how: Fault; readonly times: number } | undefined;
  writes = 0;
  isOff = false;
  /** The bytes that can be written before Espruino's Storage moves its files. */
  free: number = Infinity;

  constructor(texts: Iterable<readonly [string, string]>) {
    this.texts = new Map(texts);
  }

  get(name: string): string | undefined {
    if (this.isOff) throw new PowerCut();
    return this.texts.get(name);
  }

  set(name: string, text: string): boolean {
    if (this.isOff) throw new PowerCut();
    const { at = Infinity, how: fault, times = 0 } = this.fault ?? {};
    const how = ++this.writes >= at && this.writes < at + times ? fault : undefined;
    const cutAt = (step: Fault): void => {
      if (how !== step) return;
      this.isOff = true;
      throw new PowerCut();
    };
    cutAt('cut before it is erased');
    if (how?.startsWith('old')) return true;
    if (how?.startsWith('refused')) throw new Error('the flash is busy');
    this.texts.delete(name);
    cutAt('cut when it is erased');
    if (how?.startsWith('full')) throw new Error('Unable to find or create file');
    if (how?.startsWith('false')) return false;
    const half = Math.floor(text.length / 2);
    this.texts.set(name, text.slice(0, 1));
    cutAt('cut after the first character');
    this.texts.set(name, text.slice(0, half));
    cutAt('cut in the middle');
    if (how?.startsWith('torn')) return true;
    if (how?.startsWith('blank')) {
      this.texts.set(name, text.slice(0, half) + '\xff'.repeat(text.length - half));
      return true;
    }
    this.texts.set(name, text.slice(0, -1));
    cutAt('cut before the last character');
    this.texts.set(name, text);
    cutAt('cut when it is written');
    return true;
  }
}
