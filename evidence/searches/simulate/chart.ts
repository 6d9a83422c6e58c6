/** The histogram docs/reference/restart.svg, which is readable on light and dark pages. */
import { grouped } from '../../../tools/draw.ts';
import { AWAY, CLIENTS, returnOf } from './restart.ts';

const SECONDS = 120;
const HIGHEST = 100;
const [LEFT, TOP, WIDTH, HEIGHT] = [56, 56, 600, 200];
const x = (second: number): number => LEFT + (second * WIDTH) / SECONDS;
const y = (count: number): number => TOP + HEIGHT - (count * HEIGHT) / HIGHEST;

/** Draws when the clients of a hub come back. */
export function restartChart(): string {
  const accepted = returnOf(CLIENTS, SECONDS);
  const back = accepted.reduce((sum, count) => sum + count, 0);
  const bars = accepted.flatMap((count, second) =>
    count === 0 ? [] : [`M${x(second)} ${y(0)}V${y(count)}h${WIDTH / SECONDS - 1}V${y(0)}z`],
  );
  const rows = [0, 20, 40, 60, 80, 100].flatMap((count) => [
    `<path class="grid" d="M${LEFT} ${y(count)}h${WIDTH}"/>`,
    `<text x="${LEFT - 8}" y="${y(count) + 4}" text-anchor="end">${count}</text>`,
  ]);
  const columns = [0, 30, 60, 90, 120].map(
    (second) => `<text x="${x(second)}" y="${y(0) + 20}" text-anchor="middle">${second} s</text>`,
  );
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 300" role="img" aria-labelledby="title">`,
    `<title id="title">Connections each second at a hub that was away for ${AWAY} seconds, of ${grouped(CLIENTS)} clients</title>`,
    '<style>',
    'text{font:13px sans-serif;fill:#57606a}.head{font-weight:600}.grid{stroke:#8c959f;stroke-opacity:.3}',
    '.away{fill:#8c959f;fill-opacity:.15}.bars{fill:#0969da}.mark{stroke:#cf222e;stroke-width:2}.once{fill:#cf222e}',
    '@media(prefers-color-scheme:dark){text{fill:#adbac7}.bars{fill:#539bf5}.mark{stroke:#f47067}.once{fill:#f47067}}',
    '</style>',
    `<text class="head" x="${LEFT}" y="20">${grouped(CLIENTS)} clients lose their hub, which is back after ${AWAY} s: connections each second</text>`,
    `<rect class="away" x="${x(0)}" y="${TOP}" width="${x(AWAY) - x(0)}" height="${HEIGHT}"/>`,
    `<text x="${x(AWAY / 2)}" y="${TOP + 20}" text-anchor="middle">the hub is away</text>`,
    ...rows,
    ...columns,
    `<path class="bars" d="${bars.join('')}"/>`,
    `<path class="mark" d="M${x(AWAY)} ${y(0)}V${TOP - 14}"/>`,
    `<text class="once" x="${x(AWAY) + 8}" y="${TOP - 6}">without pauses: all ${grouped(CLIENTS)} in this second</text>`,
    `<text x="${x(SECONDS)}" y="${TOP + 20}" text-anchor="end">after ${SECONDS - AWAY} s, ${grouped(back)} are back,</text>`,
    `<text x="${x(SECONDS)}" y="${TOP + 38}" text-anchor="end">at most ${Math.max(...accepted)} in a second</text>`,
    '</svg>',
  ].join('\n')}\n`;
}
