/** Curves as SVG, readable in light and in dark surroundings: each picture brings its own background. */

export interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  readonly label: string;
  /** Where lines are drawn, with what they are called. The first and the last one are the ends. */
  readonly ticks: readonly (readonly [value: number, name: string])[];
  readonly isLogarithmic: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
}

export const WIDTH = 720;
const HEIGHT = 330;
const LEFT = 64;
const RIGHT = 40;
const TOP = 62;
const BOTTOM = 54;

/** Colours that stay apart for most people, on light and on dark; dashes tell the lines apart without colours. */
const COLOURS = [
  ['#0b62c4', '#6cb2ff'],
  ['#b3450a', '#ffa266'],
  ['#2d7a2d', '#7fd37f'],
] as const;
const DASHES = ['', '7 4', '2 4'];

export const STYLE: string = `
  .back { fill: #ffffff } text { fill: #1f2328; font: 13px system-ui, sans-serif }
  .title { font-size: 15px; font-weight: 600 } .grid { stroke: #d5d9de }
  .line { fill: none; stroke-width: 2.2 }
${COLOURS.map(([light], i) => `  .s${i} { stroke: ${light} } .d${i} { fill: ${light} }`).join('\n')}
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117 } text { fill: #e6edf3 } .grid { stroke: #30363d }
${COLOURS.map(([, dark], i) => `    .s${i} { stroke: ${dark} } .d${i} { fill: ${dark} }`).join('\n')}
  }
`;

export const escaped = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;');

/** Places the values of an axis between two pixels. */
function scale({ ticks, isLogarithmic }: Axis, from: number, to: number): (value: number) => number {
  const of = isLogarithmic ? Math.log : (value: number) => value;
  const [low, high] = [of(ticks[0]![0]), of(ticks[ticks.length - 1]![0])];
  return (value) => Math.round(10 * (from + ((of(value) - low) / (high - low)) * (to - from))) / 10;
}

function drawn({ title, x, y, series }: Chart, top: number): string {
  const [right, bottom] = [WIDTH - RIGHT, top + HEIGHT - BOTTOM];
  const [atX, atY] = [scale(x, LEFT, right), scale(y, bottom, top + TOP)];
  const parts = [`<text class="title" x="${LEFT}" y="${top + 24}">${escaped(title)}</text>`];
  let legend = LEFT;
  for (const [i, { name }] of series.entries()) {
    const y = top + 46;
    parts.push(
      `<path class="line s${i}" stroke-dasharray="${DASHES[i]}" d="M${legend} ${y - 4}h28"/>`,
      `<text x="${legend + 34}" y="${y}">${escaped(name)}</text>`,
    );
    legend += 70 + 7 * name.length;
  }
  for (const [value, name] of y.ticks) {
    parts.push(
      `<path class="grid" d="M${LEFT} ${atY(value)}H${right}"/>`,
      `<text x="${LEFT - 8}" y="${atY(value) + 4}" text-anchor="end">${escaped(name)}</text>`,
    );
  }
  for (const [value, name] of x.ticks) {
    parts.push(`<text x="${atX(value)}" y="${bottom + 20}" text-anchor="middle">${escaped(name)}</text>`);
  }
  parts.push(
    `<text x="${(LEFT + right) / 2}" y="${bottom + 42}" text-anchor="middle">${escaped(x.label)}</text>`,
    `<text x="${right}" y="${top + 24}" text-anchor="end">${escaped(y.label)}</text>`,
  );
  for (const [i, { points }] of series.entries()) {
    const at = points.map(([px, py]) => `${atX(px)} ${atY(py)}`);
    parts.push(`<path class="line s${i}" stroke-dasharray="${DASHES[i]}" d="M${at.join('L')}"/>`);
    for (const [px, py] of points)
      parts.push(`<circle class="d${i}" cx="${atX(px)}" cy="${atY(py)}" r="3"/>`);
  }
  return parts.join('\n');
}

/** Returns a picture of charts, one below the other. */
export function svg(charts: readonly Chart[]): string {
  const height = HEIGHT * charts.length;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>${escaped(charts.map(({ title }) => title).join('; '))}</title>
<style>${STYLE}</style>
<rect class="back" width="${WIDTH}" height="${height}"/>
${charts.map((chart, i) => drawn(chart, HEIGHT * i)).join('\n')}
</svg>
`;
}
