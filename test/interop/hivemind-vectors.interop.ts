/**
 * The code of public clients as a second witness of the vectors: all that the protocol demands and that their packages compute.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ProcessAdapter } from '../../judge/src/adapter.ts';
import { runVectors } from '../../judge/src/run-vectors.ts';
import { compare } from './matrix.ts';
import { HIVEMIND, versionOf } from './python-peer.ts';

/** A package, what of it is judged, and where it does something else than the protocol demands: what it does, and which tests show it. */
interface Subject {
  readonly peer: string;
  readonly pin: string;
  readonly role: 'both' | 'client';
  readonly script: string;
  readonly operations: readonly string[];
  readonly deviations: { readonly [what: string]: readonly string[] };
}

const numbered = (...ids: number[]): string[] => ids.map((id) => `mqtt-topics ${id}`);

const SUBJECTS: readonly Subject[] = [
  {
    peer: 'hivemind-bus-client',
    pin: 'hivemind_bus_client',
    role: 'both',
    script: 'hivemind_adapter.py',
    operations: [
      ...['canonical-json', 'prologue', 'select', 'psk', 'handshake', 'split', 'reassemble'],
      ...['encode-binary', 'decode-binary'],
    ],
    deviations: {
      // RFC 8259, section 6. json.loads takes them unless told otherwise, and json.dumps writes them.
      'accepts NaN and Infinity as JSON': [
        'canonical-json 82',
        'canonical-json 83',
        'canonical-json 84',
        'prologue 33',
        'prologue 34',
      ],
      // Noise spec, section 3. noiseprotocol looks at the length of transport messages only.
      'accepts a handshake message of 65536 bytes': ['handshake 100'],
    },
  },
  {
    peer: 'thalovant',
    pin: 'thalovant',
    role: 'client',
    script: 'thalovant_adapter.py',
    operations: ['endpoint', 'topics', 'broker', 'request'],
    deviations: {
      // “Topics are the returned ones or derived only inside the client's scope.”
      'derives its topics even if others were issued (P-137)': numbered(
        ...[55, 56, 57, 58, 59, 62, 283, 284],
        ...[74, 75, 76, 77, 78, 79, 80, 287, 291, 293, 294, 295, 541, 542, 543, 544, 545],
        ...[88, 91, 94, 97, 112],
      ),
      // MQTT 5.0, section 1.5.4
      'takes topics of more than 65535 bytes (P-138)': numbered(153, 528),
      // “Exact codes”
      'trims codes (P-148)': ['requests 34'],
    },
  },
];

const test = suite('the code of public clients and the vectors');

for (const { peer, pin, role, script, operations, deviations } of SUBJECTS) {
  const row = { peer, version: versionOf(pin), role, pattern: 'both', suite: 'both' };
  const what = `the judge’s vectors for ${operations.join(', ')}, with \`--spec-only\``;
  compare(test, { ...row, what }, async () => {
    const [command, ...launcher] = HIVEMIND;
    execFileSync(command!, [...launcher, 'python', '-c', '']); // installs the packages, which takes minutes at first
    const args = [...launcher, 'python', fileURLToPath(new URL(script, import.meta.url))];
    const adapter = new ProcessAdapter({ command: command!, args, timeout: 60_000, verbose: true });
    const verdicts = await runVectors({ adapter, only: operations, isSpecOnly: true });
    await adapter.stop();
    const judged = verdicts.filter(({ result }) => result !== 'declined');
    for (const file of new Set(judged.map(({ name }) => name.split(' ')[0]!))) {
      const own = judged.filter(({ name }) => name.startsWith(`${file} `));
      const passed = own.filter(({ result }) => result === 'passed');
      console.log(`${file}.json: ${peer} agrees with ${passed.length} of ${own.length} tests`);
    }
    // A deviation that is gone is as much news as one that is new.
    const others = judged.filter(({ result }) => result !== 'passed').map(({ name }) => name);
    assert.equal(others.sort(), Object.values(deviations).flat().sort());
    return Object.keys(deviations).join('; ');
  });
}

test.run();
