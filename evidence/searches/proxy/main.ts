/**
 * The example clients and hubs with a proxy between them that cuts, stalls, corrupts, splits and joins: at every byte of a
 * handshake and of a request, and at random in traffic.
 *
 *     evidence/searches/proxy/run     every byte; about an hour
 *     evidence/searches/proxy/run 96  every 96th byte, as in CI: a minute
 *
 * Whatever happens, the client ends connected, or asks a person the right question, dials only a few times, and reports no
 * request as answered that the hub has not heard.
 */
import { Random } from '../../../test/world/random.ts';
import { type Direction, type Fault, KINDS } from './faulty-proxy.ts';
import { startMqttWorld } from './mqtt.ts';
import { Trial, type World } from './trial.ts';
import { startWebSocketWorld } from './websocket.ts';

const STEP = Number(process.argv[2] ?? 1);
const AT_ONCE = 12;
const STALLED_AT_ONCE = 64; // these mostly wait
const RUNS = STEP === 1 ? 100 : 10;
const FAULTS = 8; // in each run, one in a connection
const REQUESTS = 30; // in each run
const DIALS = 8; // a loop without pauses makes hundreds
/** Errors that the policy may ask about, although nothing but a damaged byte is wrong. */
const QUESTIONS = ['client-key-refused', 'protocol-version'];

let failures = 0;
const row = (...cells: (string | number)[]): void =>
  console.log(cells.map((cell, i) => (i < 3 ? String(cell).padEnd(13) : String(cell).padStart(8))).join(''));

/** A client that has connected once, so that its next connection is a KKpsk0; or a new one. */
async function prepare(world: World, isKnown: boolean): Promise<Trial> {
  const trial = await Trial.begin(world);
  if (isKnown) {
    trial.start();
    await trial.talk();
    trial.goodbye();
  }
  return trial;
}

interface Outcome {
  dials: number;
  asked: string[];
  broken: string[];
}

async function tryFault(world: World, isKnown: boolean, fault: Fault): Promise<Outcome> {
  const trial = await prepare(world, isKnown);
  trial.start(fault);
  await trial.talk();
  await trial.talk();
  await trial.end();
  const { dials, asked, broken } = trial;
  return { dials, asked, broken };
}

async function inParallel<Task>(
  tasks: Task[],
  atOnce: number,
  run: (task: Task) => Promise<void>,
): Promise<void> {
  const queue = [...tasks];
  const work = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) await run(task);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Every byte of the first connection, with each kind of fault. */
async function atEveryByte(world: World): Promise<void> {
  for (const isKnown of [false, true]) {
    const clean = await prepare(world, isKnown);
    clean.start();
    await clean.talk();
    const lengths = clean.carried;
    await clean.end();
    for (const kind of KINDS) {
      const faults = (Object.keys(lengths) as Direction[]).flatMap((direction) =>
        Array.from({ length: Math.ceil(lengths[direction] / STEP) }, (_, i) => {
          const at = Math.min(i * STEP + (i % STEP), lengths[direction] - 1); // not always the same bits
          return { kind, direction, at };
        }),
      );
      let [asked, most, total] = [0, 0, 0];
      const atOnce = kind === 'stall' ? STALLED_AT_ONCE : AT_ONCE;
      await inParallel(faults, atOnce, async (fault) => {
        const outcome = await tryFault(world, isKnown, fault);
        const isWrong =
          outcome.broken.length > 0 ||
          outcome.dials > DIALS ||
          outcome.asked.some((code) => kind !== 'corrupt' || !QUESTIONS.includes(code));
        if (isWrong) {
          failures++;
          console.log(`  FAIL ${JSON.stringify({ ...fault, isKnown, ...outcome })}`);
        }
        asked += outcome.asked.length;
        most = Math.max(most, outcome.dials);
        total += outcome.dials;
      });
      const average = (total / faults.length).toFixed(2);
      row(world.name, isKnown ? 'KKpsk0' : 'XXpsk2', kind, faults.length, average, most, asked);
    }
  }
}

/** Random faults in the middle of requests of up to 40 KB, in one connection after the other. */
async function inTraffic(world: World): Promise<void> {
  let [asked, dials, most, requests] = [0, 0, 0, 0];
  const seeds = Array.from({ length: RUNS }, (_, i) => i + 1);
  await inParallel(seeds, AT_ONCE, async (seed) => {
    const random = new Random(seed);
    const faults = Array.from({ length: FAULTS }, (_, i): Fault => {
      const at = random.below(60_000);
      const kind = random.pick<Fault['kind']>(
        i < FAULTS - 1 ? ['cut', 'stall', 'corrupt'] : ['split', 'join'],
      );
      return { kind, direction: random.pick<Direction>(['to hub', 'to client']), at };
    });
    const trial = await Trial.begin(world);
    trial.start(...faults);
    for (let i = 0; i < REQUESTS; i++) await trial.talk(random.below(40_000));
    await trial.end();
    if (trial.broken.length > 0 || trial.dials > FAULTS * DIALS) {
      failures++;
      console.log(`  FAIL seed ${seed}: ${trial.dials} dials, ${trial.broken.join(', ')}`);
    }
    asked += trial.asked.length;
    dials += trial.dials;
    most = Math.max(most, trial.dials);
    requests += REQUESTS;
  });
  row(world.name, 'traffic', 'random', requests, (dials / RUNS).toFixed(2), most, asked);
}

const began = performance.now();
row('', 'handshake', 'fault', 'trials', 'dials', 'most', 'asked');
for (const start of [startWebSocketWorld, startMqttWorld]) {
  const world = await start();
  await atEveryByte(world);
  await inTraffic(world);
  await world.stop();
}
console.log(`\n${failures} failed, in ${((performance.now() - began) / 1000).toFixed(0)} s`);
process.exitCode = failures === 0 ? 0 : 1;
