/**
 * Stand-ins for the storage of a device, with the faults of flash: the power may fail in each of its operations, it may be full, and
 * what it says that it stored may be damaged or old.
 *
 * Flash erases a text before it writes the next one, as a plain file, a page of its own and Moddable's preferences do. NVS (for strings) and
 * littlefs have the old text until the new one is whole: what a cut leaves there is among what it leaves here. In both themselves that was
 * seen by hand, with a cut before, in and after each operation on the flash.
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

  constructor(texts: Iterable<readonly [string, string]>) {
    this.texts = new Map(texts);
  }

  /** A copy in which a slot is lost, if one is named. */
  copy(lost?: string): Flash {
    return new Flash([...this.texts].filter(([name]) => name !== lost));
  }

  get(name: string): string | undefined {
    if (this.isOff) throw new PowerCut();
    return this.texts.get(name);
  }

  set(name: string, text: string): boolean {
    const how = this.next();
    const cutAt = (step: Fault): void => {
      if (how === step) this.cut();
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

  /** Counts an operation, and says what goes wrong with it. */
  protected next(): Fault | undefined {
    if (this.isOff) throw new PowerCut();
    const { at = Infinity, how, times = 0 } = this.fault ?? {};
    return ++this.writes >= at && this.writes < at + times ? how : undefined;
  }

  protected cut(): never {
    this.isOff = true;
    throw new PowerCut();
  }
}

const PAGE = 1024; // bytes, as in Espruino for Linux; boards have 4,096
const PAGES = 12;
const HEADER = 32; // the size in 4 bytes, and the name in 28, which begins with a zero once the file is erased
const ERASED = 0xff;
const LOG = 150; // less than a slot takes

interface StoredFile {
  readonly at: number;
  readonly size: number;
  readonly name: string;
}

/**
 * Espruino's Storage: files one behind the other, each with a header. An erased file keeps its place, until a new one has no room:
 * then all pages from the first erased file on are read, erased and written again, and a file behind a page without a header cannot
 * be found. Its faults hit single operations on the flash, which `writes` counts.
 */
export class EspruinoStorage extends Flash {
  private bytes: Buffer = Buffer.alloc(PAGES * PAGE, ERASED);

  /** With the files of a device, and those that the rest of its program has written and erased: Storage has no room for more. */
  constructor(files: Iterable<readonly [string, string]>, roomOfSlots = 4096) {
    super([]);
    const [first, ...others] = files;
    this.write(first![0], first![1]);
    this.write('log', 'x'.repeat(LOG));
    for (const [name, text] of others) this.write(name, text, 0, /slot/.test(name) ? roomOfSlots : 0);
    while (this.free() >= LOG) this.write('log', 'x'.repeat(LOG));
    this.writes = 0;
  }

  override copy(lost?: string): EspruinoStorage {
    const copy: EspruinoStorage = Object.create(EspruinoStorage.prototype);
    const fields = { bytes: Buffer.from(this.bytes), texts: new Map(), writes: 0, isOff: false };
    Object.assign(copy, fields);
    const file = lost === undefined ? undefined : copy.find(lost);
    if (file !== undefined) copy.bytes.fill(0, file.at + 4, file.at + 8);
    return copy;
  }

  override get(name: string): string | undefined {
    if (this.isOff) throw new PowerCut();
    const file = this.find(name);
    return file && this.bytes.toString('latin1', file.at + HEADER, file.at + HEADER + file.size);
  }

  /** `Storage.write`: with an offset, writes inside a file, whose bytes must be erased there. */
  write(name: string, text: string, offset = 0, size = 0): boolean {
    if (this.isOff) throw new PowerCut();
    const data = Buffer.from(text, 'latin1');
    let file = this.find(name);
    if (offset === 0) {
      if (file !== undefined) this.program(file.at + 4, Buffer.alloc(4));
      file = this.create(name, size === 0 ? data.length : size);
    }
    if (file === undefined) throw new Error('Unable to find or create file');
    if (offset + data.length > file.size) throw new Error('Too much data for file size');
    const at = file.at + HEADER + offset;
    const isErased = this.bytes.subarray(at, at + data.length).every((byte) => byte === ERASED);
    if (!isErased) throw new Error('File already written with different data');
    return this.program(at, data);
  }

  private find(name: string): StoredFile | undefined {
    return [...this.files()].find((file) => file.name === name);
  }

  /** The file whose header is there; `undefined` if there is none. */
  private fileAt(at: number): StoredFile | undefined {
    if (at + HEADER > this.bytes.length) return undefined;
    const size = this.bytes.readUInt32LE(at);
    if (size === 0 || at + HEADER + size > this.bytes.length) return undefined;
    const name = this.bytes.toString('latin1', at + 4, at + HEADER);
    return { at, size, name: name.startsWith('\0') ? '' : name.replace(/\0+$/, '') };
  }

  /** All files in their order, also erased ones, as far as they can be found. */
  private *files(): Generator<StoredFile> {
    let file = this.fileAt(0);
    while (file !== undefined) {
      yield file;
      const end = endOf(file);
      file = this.fileAt(end) ?? this.fileAt(nextPage(end));
    }
  }

  /** Where the next file would be. */
  private end(): number {
    let end = 0;
    for (const file of this.files()) end = endOf(file);
    return end;
  }

  private free(): number {
    return this.bytes.length - this.end() - HEADER;
  }

  private create(name: string, size: number): StoredFile | undefined {
    if (this.free() < size) this.compact();
    if (this.free() < size) return undefined;
    const header = Buffer.alloc(HEADER);
    header.writeUInt32LE(size);
    header.write(name, 4, 'latin1');
    const at = this.end();
    this.program(at, header);
    return { at, size, name };
  }

  /** Moves files to the front. A page is erased when all that it had has been read, and then written. */
  private compact(): void {
    const files = [...this.files()];
    const erased = files.find(({ name }) => name === '');
    if (erased === undefined) return;
    const end = this.end();
    let to = files.filter(({ at }) => at % PAGE === 0 && at <= erased.at).at(-1)!.at;
    let moved = Buffer.alloc(0);
    for (const file of files.filter(({ at, name }) => at >= to && name !== '')) {
      moved = Buffer.concat([moved, this.bytes.subarray(file.at, endOf(file))]);
      for (; moved.length >= PAGE && to + PAGE <= endOf(file); to += PAGE) {
        this.erase(to);
        this.program(to, moved.subarray(0, PAGE));
        moved = moved.subarray(PAGE);
      }
    }
    for (; to < end; to += PAGE) {
      this.erase(to);
      if (moved.length > 0) this.program(to, moved.subarray(0, PAGE));
      moved = moved.subarray(PAGE);
    }
  }

  private erase(page: number): void {
    this.program(page, Buffer.alloc(PAGE, ERASED));
  }

  /** Erases or programs flash, unless something goes wrong. */
  private program(at: number, data: Buffer): boolean {
    const how = this.next();
    const isThrown = /^(full|refused)/.test(how ?? '');
    data.copy(this.bytes, at, 0, how === undefined ? data.length : doneOf(how, data.length));
    if (how?.startsWith('cut')) this.cut();
    if (isThrown) throw new Error('the flash is busy');
    return how === undefined || !how.startsWith('false');
  }
}

/** How many bytes of an operation are done when something goes wrong with it. */
function doneOf(how: Fault, length: number): number {
  if (/first character/.test(how)) return 1;
  if (/middle|half/.test(how)) return length >> 1;
  if (/last character/.test(how)) return length - 1;
  return how === 'cut when it is written' ? length : 0;
}

const endOf = ({ at, size }: StoredFile): number => at + HEADER + ((size + 3) & -4);
const nextPage = (at: number): number => at - (at % PAGE) + PAGE;
