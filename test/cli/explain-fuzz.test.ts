/** `explain` reads recordings that are damaged, or that someone made up: it explains them or refuses them. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CannotRun } from '../../cli/src/command.ts';
import { explain } from '../../cli/src/explain/explain.ts';
import { type Recording, readRecording } from '../../cli/src/explain/recording.ts';
import { fc, runs } from '../world/property.ts';
import { CLIENT_STATIC, HUB_STATIC, KK, NODE_ID, PSK, play, replacing } from './faults.ts';

const RUNS = runs(40);

const PLAYED = [
  play({ client: { psks: [{ nodeId: NODE_ID, key: new Uint8Array(32).fill(9) }] }, ephemeralKey: true })
    .lines,
  play({
    ...KK,
    client: { ...KK.client, psks: [{ nodeId: NODE_ID, key: new Uint8Array(32).fill(9) }] },
    ephemeralKey: true,
  }).lines,
  play({ wire: replacing('"hub-1"', '"hub-2"') }).lines,
];

/** Changes a recording: lines left out, repeated or swapped, and characters replaced. */
const damage = fc.array(
  fc.record({
    at: fc.nat(),
    how: fc.constantFrom('drop', 'repeat', 'swap', 'cut', 'write'),
    by: fc.string(),
  }),
  { maxLength: 4 },
);

function damaged(lines: readonly string[], changes: { at: number; how: string; by: string }[]): string {
  const left = [...lines];
  for (const { at, how, by } of changes) {
    const index = at % left.length;
    const line = left[index]!;
    const middle = at % Math.max(1, line.length);
    if (how === 'drop' && left.length > 1) left.splice(index, 1);
    if (how === 'repeat') left.splice(index, 0, line);
    if (how === 'swap') left.push(...left.splice(index, 1));
    if (how === 'cut') left[index] = line.slice(0, middle) + line.slice(middle + 2);
    if (how === 'write') left[index] = line.slice(0, middle) + by + line.slice(middle + by.length);
  }
  return left.join('\n');
}

/** The keys that explain() is given, as text. */
const SECRETS = [PSK, CLIENT_STATIC, HUB_STATIC].flatMap((key) =>
  (['hex', 'base64'] as const).map((encoding) => Buffer.from(key).toString(encoding)),
);

test('explains damaged recordings, or refuses them, and shows no key that it was given', () => {
  fc.assert(
    fc.property(fc.constantFrom(...PLAYED), damage, damage, ({ client, hub }, first, second) => {
      try {
        const read = (lines: string[], changes: typeof first): Recording =>
          readRecording('x', Buffer.from(damaged(lines, changes)));
        const explanation = explain({
          client: read(client, first),
          hub: read(hub, second),
          clientPsk: PSK,
          clientStatic: CLIENT_STATIC,
          hubStatic: HUB_STATIC,
          derive: () => PSK,
        });
        assert.is(explanation.cause !== undefined, explanation.verdict === 'fault');
        const shown = JSON.stringify(explanation);
        for (const secret of SECRETS) assert.not.ok(shown.includes(secret));
      } catch (error) {
        assert.instance(error, CannotRun);
      }
    }),
    RUNS,
  );
});

test.run();
