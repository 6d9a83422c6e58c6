/** What waits, with the earliest deadline first: a binary heap, so that a long queue costs little more than a short one. */

export interface Timed {
  /** When its time is up; Infinity if it has all the time. */
  dueAt: number;
  /** Its place in the heap. */
  place: number;
  /** Its number, in the order in which all came. */
  number: number;
}

export class Deadlines<T extends Timed> {
  private readonly heap: T[] = [];
  private count = 0;

  get length(): number {
    return this.heap.length;
  }

  /** The one with the earliest deadline. */
  get first(): T | undefined {
    return this.heap[0];
  }

  /** The earliest deadline; Infinity if there is none. */
  get earliest(): number {
    return this.first?.dueAt ?? Infinity;
  }

  /** All, in the order in which they came. */
  all(): T[] {
    return inOrder(this.heap.slice());
  }

  insert(item: T): void {
    item.place = this.heap.push(item) - 1;
    item.number = this.count++;
    this.move(item, item.dueAt);
  }

  /** Removes an item that is here. */
  remove(item: T): void {
    const last = this.heap.pop()!;
    if (last === item) return;
    last.place = item.place;
    this.move(last, last.dueAt);
  }

  /** Gives an item that is here another deadline. */
  move(item: T, dueAt: number): void {
    const { heap } = this;
    let { place } = item;
    item.dueAt = dueAt;
    while (place > 0) {
      const parent = heap[(place - 1) >> 1]!;
      if (parent.dueAt <= dueAt) break;
      place = this.put(parent, place);
    }
    for (;;) {
      const child = this.childOf(place);
      if (child === undefined || child.dueAt >= dueAt) break;
      place = this.put(child, place);
    }
    this.put(item, place);
  }

  /** The child of a place with the earlier deadline. */
  private childOf(place: number): T | undefined {
    const left = this.heap[2 * place + 1];
    const right = this.heap[2 * place + 2];
    return right !== undefined && right.dueAt < left!.dueAt ? right : left;
  }

  /** Puts an item into a place. Returns its earlier one. */
  private put(item: T, place: number): number {
    const before = item.place;
    this.heap[place] = item;
    item.place = place;
    return before;
  }
}

/** Sorts items in the order in which they came. */
export function inOrder<T extends Timed>(items: T[]): T[] {
  return items.sort((a, b) => a.number - b.number);
}

/** Removes an item that is in an array. Most are the first of a queue, which may be long. */
export function remove<T>(items: T[], item: T): void {
  let at = items.indexOf(item);
  if (at === 0) items.shift();
  else {
    while (++at < items.length) items[at - 1] = items[at]!;
    items.length--;
  }
}
