/**
 * Runs the kiosk of docs/guides/kiosk.md in cells of six axes (axes.ts), which a program chooses so that every two values meet. Each cell has
 * to connect, twice, without a complaint, or to say one sentence with the cause and the remedy.
 *
 *     test/site/run                      all cells
 *     test/site/run --bounded N          the first N
 *     test/site/run --only PATTERN       those that match it
 *     test/site/run --planted            takes remedies of the product back (with --only, some): their cells have to fail
 *     with --write, all cells are drawn in docs/evidence/site.md
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { build as bundle } from 'esbuild';
import { createKeyring, serializeKeyring } from 'hub-protocol';
import { randomBytes } from 'hub-protocol/node';
import { table } from '../../tools/draw.ts';
import { writeMeasured } from '../../tools/measured.ts';
import {
  BROKERS,
  type Cell,
  cannotMeet,
  DISKS,
  FRONTS,
  kindsOf,
  NETWORKS,
  PACKAGINGS,
  RUNTIMES,
} from './axes.ts';
import type { Order, Seen } from './cell.ts';
import { cover } from './cover.ts';
import { build } from './packagings.ts';
import { PLANTED, type Planted } from './planted.ts';

const { values } = parseArgs({
  options: {
    bounded: { type: 'string' },
    only: { type: 'string' },
    planted: { type: 'boolean' },
    write: { type: 'boolean' },
  },
});

const ROOT = new URL('../../', import.meta.url).pathname;
/** The program of a cell, which would be compiled for each of them. */
const CELL = `${ROOT}node_modules/.cache/site-cell.mjs`;
const APP = '/mnt/app';
const BED = '/mnt/bed';
const sh = (script: string): string =>
  execFileSync('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: BED,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The folders that every cell sees. */
async function makeBed(): Promise<void> {
  const mounts = `mount -t tmpfs -o mode=755 tmpfs /mnt; cd /mnt; mkdir app bed home tools node_modules; mkdir -p bundlers/node_modules
    mount --bind ${ROOT}node_modules node_modules
    mount --bind ${ROOT}test/package/runtimes/node_modules tools; mount --bind ${ROOT}test/bundlers/node_modules bundlers/node_modules`;
  execFileSync('bash', ['-euc', mounts]);
  // What they depend on is in the folder above.
  for (const [name, folder] of [
    ['hub-protocol', '.'],
    ['hub-protocol-client', 'client'],
    ['hub-protocol-cli', 'cli'],
    ['hub-protocol-judge', 'judge'],
  ])
    for (const part of ['dist', 'package.json'])
      cpSync(`${ROOT}${folder}/${part}`, `${APP}/node_modules/${name}/${part}`, { recursive: true });
  writeFileSync(`${APP}/package.json`, '{ "type": "module", "private": true }');
  const guide = readFileSync(`${ROOT}docs/guides/kiosk.md`, 'utf8');
  const kiosk = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(([, fence]) => fence).join('\n');
  writeFileSync(`${APP}/kiosk.mjs`, kiosk);
  writeFileSync(
    `${APP}/kiosk-mqtt.mjs`,
    kiosk.replace("from 'hub-protocol-client'", "from 'hub-protocol-client/mqtt'"),
  );
  cpSync(`${ROOT}test/site/link.py`, `${BED}/link.py`);
  execFileSync('go', ['build', '-C', `${ROOT}test/site/broker`, '-o', `${BED}/mochi`, '.']);
  const [entryPoints, outfile] = [[`${ROOT}test/site/cell.ts`], CELL];
  await bundle({ entryPoints, outfile, bundle: true, platform: 'node', format: 'esm', packages: 'external' });
  sh(`openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=Site -keyout ca.key -out ca.pem
    certificate() {
      openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$2 -keyout $1.key -out $1.csr
      openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile <(echo subjectAltName=DNS:$2) -out $1.pem
    }
    certificate hub hub.test; certificate portal login.test; cat hub.pem hub.key > both.pem; echo "kiosk:{PLAIN}secret" > accounts
    chmod -R a+r .`);
  await makeHubs();
}

/** A hub that no client has reached, and the same one after the first contact of a client whose keyring is beside it. */
async function makeHubs(): Promise<void> {
  const hub = spawn('node', [`${APP}/node_modules/hub-protocol-cli/dist/cli.js`, 'hub', 'pinned'], {
    cwd: BED,
  });
  try {
    while (!/is at/.test(`${await once(hub.stdout, 'data')}`));
    hub.stdout.resume();
    cpSync(`${BED}/pinned`, `${BED}/fresh`, { recursive: true });
    const words = 'ask pinned/identity.json hello --keyring pinned/keyring.json'.split(' ');
    const cli = `${APP}/node_modules/hub-protocol-cli/dist/cli.js`;
    const again = spawn('node', [cli, ...words], { cwd: BED, stdio: 'ignore' });
    await once(again, 'exit');
  } finally {
    hub.kill();
  }
  const { access_key: accessKey } = JSON.parse(readFileSync(`${BED}/fresh/identity.json`, 'utf8'));
  writeFileSync(
    `${BED}/new.json`,
    serializeKeyring(createKeyring({ accessKey, staticKey: randomBytes(32) })),
  );
}

const built = new Map<string, Promise<readonly string[]>>();

async function runCell(cell: Cell): Promise<Seen> {
  const [, , broker, , packaging, runtime] = cell as [string, string, string, string, string, string];
  const kiosk = BROKERS[broker]!.program === undefined ? 'kiosk.mjs' : 'kiosk-mqtt.mjs';
  const key = [kiosk, packaging, runtime].join();
  built.set(key, built.get(key) ?? build(APP, kiosk, packaging, runtime));
  const order: Order = {
    cell,
    command: await built.get(key)!,
    isRunner: /^(?:Jest|Vitest)$/.test(packaging),
  };
  const words = '--pdeathsig KILL unshare --net --mount --pid --fork --kill-child --mount-proc'.split(' ');
  const child = spawn('setpriv', [...words, process.execPath, CELL, JSON.stringify(order)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  child.stdout.on('data', (data) => (printed += data));
  const limit = setTimeout(() => child.kill('SIGKILL'), 300_000);
  await once(child, 'close');
  clearTimeout(limit);
  if (!printed.startsWith('{'))
    return { isRight: false, isOfBed: true, what: `the cell has ended: ${printed}`, seconds: 0 };
  return JSON.parse(printed);
}

/** Runs cells, three at a time, since they mostly wait. */
async function runCells(cells: readonly Cell[]): Promise<Seen[]> {
  const seen: Seen[] = [];
  let next = 0;
  await Promise.all(
    [0, 1, 2].map(async () => {
      for (let i = next++; i < cells.length; i = next++) {
        const cell = cells[i]!;
        const one = await runCell(cell).catch(
          (error: Error): Seen => ({ isRight: false, isOfBed: true, what: error.stack!, seconds: 0 }),
        );
        seen[i] = one;
        const verdict = one.isRight ? 'ok  ' : one.isOfBed ? 'NOT TRIED' : 'FAIL';
        console.log(
          `[${i + 1}/${cells.length}] ${verdict} ${cell.join(' × ')} (${one.seconds.toFixed(1)} s)\n      ${one.what}`,
        );
      }
    }),
  );
  return seen;
}

/** Takes a remedy back in what was built, runs its cells until one fails, and puts it back. Returns that cell. */
async function runPlanted([name, file, from, to, pattern]: Planted): Promise<boolean> {
  const path = `${APP}/node_modules/hub-protocol-client/dist/${file}.js`;
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) throw new Error(`${name}: ${file} does not have this once: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  built.clear();
  try {
    for (const cell of cells.filter((each) => pattern.test(each.join(' × '))).slice(0, 3)) {
      const { isRight, isOfBed, what } = await runCell(cell);
      if (isOfBed) throw new Error(what);
      console.log(`${isRight ? 'not noticed' : 'noticed'}: ${name}, in ${cell.join(' × ')}\n      ${what}`);
      if (!isRight) return true;
    }
    return false;
  } finally {
    writeFileSync(path, text);
    built.clear();
  }
}

/** By value: the cells with it, and what they have seen. Those that ended before it came into play are not counted. */
function draw(seen: readonly Seen[]): void {
  const shown = (text: string): string =>
    text
      .trim()
      .replace(/\|/g, '\\|')
      .replace(/\b\d{4}-\d\d-\d\d\b/g, '2010-01-01');
  const rows = AXES.flatMap((name, i) =>
    Object.entries<{ readonly says?: RegExp; readonly saysNext?: RegExp }>(
      AXES_OF_VALUES[i] ?? Object.fromEntries(axes[i]!.map((kind) => [kind, {}])),
    ).map(([value, { says, saysNext }]) => {
      const own = seen.filter(
        ({ what }, at) => cells[at]![i] === value && (says || what.startsWith('connected')),
      );
      const what =
        says || saysNext ? (own.find(({ what }) => says?.test(what)) ?? own[0])?.what : 'connected';
      return [name, value, String(own.length), shown(what ?? 'not met')];
    }),
  );
  writeMeasured('docs/evidence/site.md', {
    values: table(['', 'Place', 'Cells', 'Seen'], rows),
    pairs: table(
      ['Pairs that cannot meet', 'Because'],
      [...impossible].map(([reason, count]) => [String(count), reason]),
    ),
  });
}

const AXES = ['network', 'in front', 'broker', 'disk', 'packaging', 'runtime'];
const AXES_OF_VALUES = [NETWORKS, FRONTS, BROKERS, DISKS];
const axes = [...AXES_OF_VALUES.map(kindsOf), PACKAGINGS, RUNTIMES];
const covered = cover(axes, cannotMeet);
const { impossible } = covered;
const turns = new Map<string, number>();
/** With the values of each kind in turn. */
const cells = covered.cells.map((cell) =>
  cell.map((kind, i) => {
    const turn = turns.get(kind) ?? 0;
    turns.set(kind, turn + 1);
    const values = Object.entries(AXES_OF_VALUES[i] ?? {}).filter(
      ([name, value]) => (value.kind ?? name) === kind,
    );
    return values[turn % values.length]?.[0] ?? kind;
  }),
);
await makeBed();
if (values.planted) {
  const unnoticed: string[] = [];
  const chosen = PLANTED.filter(([name]) => name.match(values.only ?? ''));
  for (const each of chosen) if (!(await runPlanted(each))) unnoticed.push(each[0]);
  console.log(`${chosen.length - unnoticed.length} of ${chosen.length} were noticed ${unnoticed.join('; ')}`);
  process.exit(unnoticed.length === 0 ? 0 : 1);
}
const only = cells.filter((cell) => cell.join(' × ').match(values.only ?? ''));
const wanted = only.slice(0, Number(values.bounded ?? cells.length));
console.log(`${wanted.length} of ${cells.length} cells`);
const seen = await runCells(wanted);
const failed = seen.filter(({ isRight }) => !isRight);
const untried = failed.filter((one) => one.isOfBed).length;
console.log(
  `${seen.length - failed.length} of ${seen.length} cells are right; ${untried} COULD NOT BE TRIED`,
);
if (values.write && seen.length === cells.length && failed.length === 0) draw(seen);
process.exit(failed.length === 0 ? 0 : 1);
