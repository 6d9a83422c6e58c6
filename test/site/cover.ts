/** Chooses cells: one value of each axis, so that every two values of different axes meet that can meet. */

import type { Cell } from './axes.ts';

/**
 * @param axes - the names of the values of each axis
 * @param cannot - why two values cannot meet; `undefined` if they can
 */
export function cover(
  axes: readonly (readonly string[])[],
  cannot: (one: string, other: string) => string | undefined,
): { cells: Cell[]; impossible: Map<string, number> } {
  const open = new Map<string, readonly [string, string]>();
  const impossible = new Map<string, number>();
  const keyOf = (one: string, other: string): string => [one, other].sort().join(' × ');
  for (const [i, axis] of axes.entries())
    for (const one of axis)
      for (const other of axes.slice(i + 1).flat()) {
        const reason = cannot(one, other);
        if (reason === undefined) open.set(keyOf(one, other), [one, other]);
        else impossible.set(reason, (impossible.get(reason) ?? 0) + 1);
      }

  /** Completes a cell: in each axis the value that makes the most open pairs with what is chosen, if a whole cell comes of it. */
  function complete(chosen: readonly (string | undefined)[]): Cell | undefined {
    const axis = chosen.indexOf(undefined);
    if (axis < 0) return chosen as Cell;
    const others = chosen.filter((value) => value !== undefined);
    const gain = (value: string): number => others.filter((other) => open.has(keyOf(value, other))).length;
    for (const value of axes[axis]!.filter((value) =>
      others.every((other) => cannot(value, other) === undefined),
    ).sort((a, b) => gain(b) - gain(a))) {
      const cell = complete(chosen.map((each, i) => (i === axis ? value : each)));
      if (cell !== undefined) return cell;
    }
    return undefined;
  }

  const cells: Cell[] = [];
  for (let pair = next(); pair !== undefined; pair = next()) {
    const [one, other] = pair;
    const cell = complete(axes.map((axis) => axis.find((value) => value === one || value === other)));
    if (cell === undefined) throw new Error(`no cell has ${one} and ${other}`);
    for (const a of cell) for (const b of cell) open.delete(keyOf(a, b));
    cells.push(cell);
  }
  return { cells: byNews(cells), impossible };

  function next(): readonly [string, string] | undefined {
    return open.values().next().value;
  }
}

/** Cells in the order of how much is new in them, so that the first ones have every value. */
function byNews(cells: readonly Cell[]): Cell[] {
  const rest = [...cells];
  const known = new Set<string>();
  const news = (cell: Cell): number => cell.filter((value) => !known.has(value)).length;
  return cells.map(() => {
    const most = rest.reduce((best, cell) => (news(cell) > news(best) ? cell : best));
    rest.splice(rest.indexOf(most), 1);
    for (const value of most) known.add(value);
    return most;
  });
}
