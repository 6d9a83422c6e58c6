/**
 * HiveMind's own code as a second witness of the vectors: all that the protocol demands and that its packages compute.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ProcessAdapter } from '../../judge/src/adapter.ts';
import { runVectors } from '../../judge/src/run-vectors.ts';
import { compare } from './matrix.ts';
import { HIVEMIND, versionOf } from './python-peer.ts';

const OPERATIONS = [
  ...['canonical-json', 'prologue', 'select', 'psk', 'handshake', 'split', 'reassemble'],
  ...['encode-binary', 'decode-binary'],
];

/** Where HiveMind's code does something else than the protocol demands: what it does, and which tests show it. */
const DEVIATIONS: { readonly [what: string]: readonly string[] } = {
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
};

const test = suite('HiveMind’s own code and the vectors');
const row = { peer: 'hivemind-bus-client', version: versionOf('hivemind_bus_client') };
const what = `the judge’s vectors for ${OPERATIONS.join(', ')}, with \`--spec-only\``;

compare(test, { ...row, role: 'both', pattern: 'both', suite: 'both', what }, async () => {
  const [command, ...launcher] = HIVEMIND;
  execFileSync(command!, [...launcher, 'python', '-c', '']); // installs the packages, which takes minutes at first
  const script = fileURLToPath(new URL('hivemind_adapter.py', import.meta.url));
  const args = [...launcher, 'python', script];
  const adapter = new ProcessAdapter({ command: command!, args, timeout: 60_000, verbose: true });
  const verdicts = await runVectors({ adapter, only: OPERATIONS, isSpecOnly: true });
  await adapter.stop();
  for (const file of new Set(verdicts.map(({ name }) => name.split(' ')[0]!))) {
    const own = verdicts.filter(({ name }) => name.startsWith(`${file} `));
    const passed = own.filter(({ result }) => result === 'passed');
    console.log(`${file}.json: HiveMind’s code agrees with ${passed.length} of ${own.length} tests`);
  }
  // A deviation that is gone is as much news as one that is new.
  const others = verdicts.filter(({ result }) => result !== 'passed').map(({ name }) => name);
  assert.equal(others.sort(), Object.values(DEVIATIONS).flat().sort());
  return Object.keys(DEVIATIONS).join('; ');
});

test.run();
