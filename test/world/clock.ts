/** Virtual time: what is due runs in order, and an hour passes in the time that it takes to run it. */

interface Due {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class Clock {
  /** Milliseconds since the beginning. */
  now = 0;
  /** A heap: each entry is due before the two at twice its index, and one further. */
  readonly #heap: Due[] = [];
  #count = 0;
  readonly #cleared = new Set<number>();

  /** Runs a function after some milliseconds. Returns a number for `clear`. */
  after(delay: number, run: () => void): number {
    const heap = this.#heap;
    const due = { at: this.now + delay, order: ++this.#count, run };
    let i = heap.push(due) - 1;
    for (let parent = (i - 1) >> 1; i > 0 && isBefore(due, heap[parent]!); parent = (i - 1) >> 1) {
      heap[i] = heap[parent]!;
      i = parent;
    }
    heap[i] = due;
    return due.order;
  }

  clear(order: number | undefined): void {
    if (order !== undefined) this.#cleared.add(order);
  }

  /** Lets time pass up to an end, and runs what is due. */
  runUntil(end: number): void {
    for (let first = this.#heap[0]; first !== undefined && first.at <= end; first = this.#heap[0]) {
      this.#removeFirst();
      this.now = first.at;
      if (!this.#cleared.delete(first.order)) first.run();
    }
    this.now = end;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (child >= heap.length || isBefore(last, heap[child]!)) break;
      heap[i] = heap[child]!;
      i = child;
    }
    heap[i] = last;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}
