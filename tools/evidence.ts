/** Draws the table of evidence/README.md: what each program answers, and the date and the commit on its page. */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { type Drawn, pageWith, table } from './draw.ts';

/** A program that searches or measures, with the measured parts of the pages that show its results. */
interface Program {
  readonly question: string;
  readonly command: string;
  readonly time: string;
  readonly page: string;
  readonly parts: readonly string[];
}

const PROGRAMS: readonly Program[] = [
  {
    question: 'Do random inputs break a session or a public function?',
    command: 'evidence/searches/fuzz/run',
    time: 'a minute; as long as you like with `--minutes 60`',
    page: 'docs/evidence/searches.md',
    parts: ['random inputs'],
  },
  {
    question: 'Can a hub, or the machine below it, crash, fill, block or strand the client?',
    command: 'evidence/searches/hostile/run',
    time: 'an hour or more; seconds with `--choices 2000`',
    page: 'docs/evidence/searches.md',
    parts: ['hostile hubs'],
  },
  {
    question: 'Does any sequence of events in a small model break an invariant?',
    command: 'evidence/searches/explore/run',
    time: 'a quarter of an hour',
    page: 'docs/evidence/searches.md',
    parts: ['exploration'],
  },
  {
    question:
      'Does the client recover if a proxy cuts, stalls, corrupts, splits or joins messages at any byte?',
    command: 'evidence/searches/proxy/run',
    time: 'an hour; a minute with `96`, at every 96th byte',
    page: 'docs/reference/policy.md',
    parts: [],
  },
  {
    question: 'What does the policy do in an hour of trouble?',
    command: 'evidence/searches/simulate/run',
    time: 'four minutes',
    page: 'docs/reference/policy.md',
    parts: ['simulation'],
  },
  {
    question: 'Which small changes to the library does no test detect?',
    command: 'evidence/mutation/run',
    time: 'an hour or two; minutes with `--changed main` or `--only src/wire/markers`',
    page: 'docs/evidence/mutation.md',
    parts: ['mutants'],
  },
  {
    question:
      'Which test of the judge fails if a rule of the protocol is broken, or another fault is planted?',
    command: 'evidence/rules/run',
    time: 'a minute; four with `--every`. Needs Python 3.11',
    page: 'docs/evidence/rules.md',
    parts: ['rules', 'faults'],
  },
  {
    question: 'Does Verifpal find an attack on the models of the handshakes?',
    command: 'evidence/proofs/run',
    time: 'some minutes; five more the first time. Needs cargo',
    page: 'docs/evidence/proofs.md',
    parts: ['cases', 'mutants'],
  },
  {
    question: 'Does a time depend on a secret?',
    command: 'evidence/timing/constant-time',
    time: 'two minutes',
    page: 'docs/evidence/timing.md',
    parts: ['constant-time'],
  },
  {
    question: 'Do time and memory grow linearly with the input of the peer?',
    command: 'evidence/timing/linear',
    time: 'two minutes. Needs Linux',
    page: 'docs/evidence/timing.md',
    parts: [],
  },
  {
    question: 'How many connections and messages does one core of a hub take?',
    command: 'evidence/scale/run',
    time: 'a minute',
    page: 'docs/evidence/scale.md',
    parts: ['core', 'million'],
  },
  {
    question: 'How fast is it in each supported Node.js, and what does a client cost?',
    command: 'evidence/scale/nodes',
    time: 'ten minutes, and ten with `--goals`. Needs Linux on x64',
    page: 'docs/evidence/scale.md',
    parts: ['nodes', 'goals'],
  },
  {
    question: 'Do several processes of a hub with one database lock a client out, or accept two keys of it?',
    command: 'evidence/scale/processes',
    time: "five minutes. Needs Debian's `redis-server`, `postgresql` and `haproxy`",
    page: 'docs/evidence/scale.md',
    parts: [],
  },
  {
    question: 'How many instructions and how much memory does it take on a Cortex-M4?',
    command: 'evidence/mcu/run',
    time: "20 seconds; a minute more the first time; five minutes with `--least`. Needs a C compiler, cargo, Debian's `qemu-system-arm` and `gcc-arm-none-eabi`",
    page: 'docs/evidence/mcu.md',
    parts: ['versions', 'counted', 'memory'],
  },
  {
    question: 'How much memory do the single files take in the engines of devices?',
    command: 'evidence/devices/run',
    time: 'half a minute. Needs a C compiler, cargo',
    page: 'docs/reference/devices.md',
    parts: ['memory of engines', 'small engines'],
  },
  {
    question: 'How large are the single files, and are they below their ceilings?',
    command: 'evidence/devices/size',
    time: 'seconds',
    page: 'docs/reference/devices.md',
    parts: ['sizes'],
  },
];

const ROOT = new URL('../', import.meta.url);

/** When the parts of a page were measured, the oldest first. */
function datesOf({ page, parts }: Program): string {
  const text = readFileSync(new URL(page, ROOT), 'utf8');
  const found = parts.map((part) => {
    const start = text.indexOf(`<!-- measured: ${part} -->`);
    if (start < 0) throw new Error(`${page} has no part ${part}`);
    const measured = /Measured at commit (`[0-9a-f]+`)(?: with changes)? on ([\d-]+)\./.exec(
      text.slice(start, text.indexOf('<!-- end -->', start)),
    );
    if (measured === null) throw new Error(`${page} does not say when ${part} was measured`);
    return `${measured[2]}, ${measured[1]}`;
  });
  return found.length === 0 ? 'not recorded' : [...new Set(found)].sort().join('; ');
}

/** When the program of a command last ran for its page; `undefined` if there is no such program. */
export function lastRunOf(command: string): string | undefined {
  const program = PROGRAMS.find((one) => one.command === command);
  return program && datesOf(program);
}

export function evidence(): Drawn {
  const rows = PROGRAMS.map((program) => {
    const link = posix.relative('evidence', program.page);
    return [
      program.question,
      `\`${program.command}\``,
      program.time,
      `[${posix.basename(program.page)}](${link})`,
      datesOf(program),
    ];
  });
  const head = ['Question', 'Command', 'Time on two cores', 'Page', 'Last run of what the page shows'];
  return pageWith('evidence/README.md', { programs: table(head, rows) });
}
