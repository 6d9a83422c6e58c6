/** Faults and mutants name text of the sources, which changes. */
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mutated } from '../../evidence/mutation/mutants.ts';
import { AREAS, isMutated, keyOf, readSurvivors } from '../../evidence/mutation/survivors.ts';
import { CHOICES } from '../../evidence/rules/choices.ts';
import type { Patch } from '../../evidence/rules/fault.ts';
import { patched } from '../../evidence/rules/fault.ts';
import { LIBRARY_FAULTS } from '../../evidence/rules/library-faults.ts';
import { CLIENT_FAULTS, HUB_FAULTS } from '../../evidence/rules/live-faults.ts';
import { MQTT_CLIENT_FAULTS, MQTT_HUB_FAULTS } from '../../evidence/rules/mqtt-faults.ts';
import { root } from '../../evidence/rules/plant.ts';
import { PYTHON_FAULTS } from '../../evidence/rules/python-faults.ts';
import { HOSTILE_FAULTS } from '../../evidence/searches/hostile/faults.ts';
import type { Breakage } from '../judge/faults/breakage.ts';
import { RULE_FAULTS } from '../judge/faults/rule-faults.ts';

const test = suite('planted faults');

const LISTS = {
  CLIENT_FAULTS,
  HOSTILE_FAULTS,
  HUB_FAULTS,
  LIBRARY_FAULTS,
  MQTT_CLIENT_FAULTS,
  MQTT_HUB_FAULTS,
  PYTHON_FAULTS,
};

const all: { name: string; patches: readonly Patch[] }[] = [
  ...Object.values(LISTS).flat(),
  ...Object.values(RULE_FAULTS).flatMap((breakage: Breakage) =>
    'patches' in breakage ? [{ name: breakage.what, patches: breakage.patches }] : [],
  ),
  ...CHOICES.flatMap(({ fault }) => fault ?? []),
];

test('each patch finds its text exactly once in the sources', () => {
  // Else a renamed method would be noticed only by the long runs that plant the faults.
  const lost: string[] = [];
  for (const { name, patches } of all) {
    for (const file of new Set(patches.map(([path]) => path))) {
      const own = patches.filter(([path]) => path === file);
      try {
        patched(readFileSync(root(file.endsWith('.py') ? `ports/python/${file}` : file), 'utf8'), own);
      } catch (error) {
        lost.push(`${name}: ${(error as Error).message}`);
      }
    }
  }
  assert.equal(lost, []);
});

test('each reason why a mutant survives is for a mutant that is still made', () => {
  const sources = Object.values(AREAS)
    .flat()
    .flatMap((folder) =>
      readdirSync(root(folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    );
  const made = new Set(
    sources
      .filter((file) => file.endsWith('.ts') && isMutated(file))
      .flatMap((file) => mutated(file, readFileSync(root(file), 'utf8'), 0).mutants.map(keyOf)),
  );
  assert.equal(
    readSurvivors().filter((survivor) => !made.has(keyOf(survivor))),
    [],
  );
});

test.run();
