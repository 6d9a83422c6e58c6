/** The files for devices have errors without sentences and internal members with short names, and nothing else changes. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalError, RemoteError } from '../../src/errors.ts';
import * as table from '../../src/errors-table.ts';
import { bundleModule, FILES, namesForUsers } from '../../tools/bundles.ts';
import { assertShortened, shortenedNames } from '../../tools/compact.ts';
import { standIn } from '../../tools/sentences.ts';
import { parseModule, walk } from '../../tools/syntax.ts';

type Make = (...all: unknown[]) => (LocalError | RemoteError) & { [detail: string]: unknown };

/** The functions that make errors, as the files for devices have them. */
async function functionsForDevices(): Promise<{ readonly [name: string]: Make }> {
  const { code } = await bundleModule('src/errors-table.ts', true);
  const path = `${mkdtempSync(`${tmpdir()}/codes-`)}/codes.mjs`;
  writeFileSync(path, code);
  return import(path);
}

test('each error for devices has the class, code, cause and details of the one with a sentence', async () => {
  const short = await functionsForDevices();
  const makers = Object.entries(table as object).filter(
    ([name, make]) => typeof make === 'function' && name !== 'kindOf',
  ) as [string, Make][];
  assert.ok(makers.length > 100, `${makers.length}`);
  for (const [name, make] of makers) {
    const all = Array.from({ length: make.length }, (_, i) => standIn(`argument ${i}`));
    const [full, bare] = [make(...all), short[name]!(...all)];
    for (const field of [
      'name',
      'code',
      'cause',
      'status',
      'platformCode',
      'nodeId',
      'pinnedKey',
      'hubKey',
    ]) {
      assert.ok(full[field] === bare[field], `${name}: ${field}`);
    }
    assert.equal(Object.keys(bare), Object.keys(full), name);
  }
});

test('the error of an ending has the HTTP status and the code of the platform on devices', async () => {
  const { clientEnding } = await functionsForDevices();
  const { status, platformCode } = clientEnding!('unavailable', { status: 503, platformCode: 'EPROTO' });
  assert.equal([status, platformCode], [503, 'EPROTO']);
});

test('an error for devices says its code, and the argument if the sentence starts with its name', async () => {
  const { kkFailed, expected, unknownName, keyIsTransmitted, badTopic, tooShort } =
    await functionsForDevices();
  assert.is(kkFailed!().message, 'kk-failed');
  assert.is(expected!('crypto', 'an object').message, 'bad-argument: crypto');
  assert.is(unknownName!('options.x', {}).message, 'bad-argument: options.x');
  assert.is(keyIsTransmitted!().message, 'bad-argument: remoteStaticKey');
  assert.is(tooShort!('salt', 8, []).message, 'bad-length: salt');
  assert.is(badTopic!('a topic').message, 'bad-topic');
});

for (const { name } of FILES.filter(({ isCompact, noble }) => isCompact && noble === '')) {
  test(`no sentence and no part of one is in ${name}`, () => {
    const code = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8').replace(
      /"use strict"/g,
      '""',
    );
    const found: string[] = [];
    walk(parseModule(code), (node) => {
      const text =
        node.type === 'Literal' ? node.value : node.type === 'TemplateElement' ? node.value.raw : '';
      if (/[a-z’"] [a-z]|[a-z]’/.test(String(text))) found.push(String(text));
      return true;
    });
    assert.equal(found, []);
  });
}

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

test('renames members of internal classes and object types, but no public or built-in ones', async () => {
  const file = FILES.find(({ name }) => name === 'hub-protocol.js')!;
  const { code } = await bundleModule('bundles/device.ts', true);
  const names = shortenedNames(SOURCES, code, namesForUsers(file));
  for (const name of ['takeSealed', 'assertIdle', 'mixDh', 'writeByte', 'trustsNewHubs', 'isEstablished'])
    assert.ok(names.includes(name), name);
  for (const name of [
    'providePsk',
    'sharedSecret',
    'call',
    'length',
    'hello',
    'onKkFailure',
    'closeReason',
  ]) {
    assert.not.ok(names.includes(name), name);
  }
});

test('renames only those fields of objects that an internal type declares', () => {
  const folder = mkdtempSync(`${tmpdir()}/sources-`);
  writeFileSync(
    `${folder}/types.ts`,
    `interface Base { readonly inherited: string; }
     interface Plan extends Base { readonly steps: number; readonly given: string; readonly value: number; }
     type Other = { readonly elsewhere: number; readonly byName: number };
     class Side { private cut = 0; private own = 0; }`,
  );
  const renamed = (bundle: string): string[] => shortenedNames(folder, bundle, new Set(['given'])).sort();
  const all = ['byName', 'cut', 'elsewhere', 'inherited', 'own', 'steps'];
  assert.equal(renamed('f({ steps: 1, given: 2, inherited: 3 }); const { steps } = g();'), all);
  const without = (...names: string[]): string[] => all.filter((name) => !names.includes(name));
  // A message: nothing declares its field msg_type.
  assert.equal(renamed('f({ steps: 1, msg_type: 2 })'), without('steps'));
  assert.equal(renamed('const { steps, msg_type } = f();'), without('steps'));
  assert.equal(renamed('f({ steps: 1, elsewhere: 2 })'), without('steps', 'elsewhere'));
  assert.equal(renamed('f("byName"); g({ "steps": 1 });'), without('byName', 'steps'));
  assert.equal(renamed('this.cut = f.own; g[elsewhere]'), without('own'));
});

test('does not build a file that still has a name of a shortened member', () => {
  assertShortened('f.a({ b: f[steps], "c": [steps] })', ['steps']);
  for (const code of [
    'f.steps',
    'f({ steps: 1 })',
    'f({ "steps": 1 })',
    'f["steps"]',
    'class A { steps() {} }',
  ]) {
    assert.throws(() => assertShortened(code, ['other', 'steps']), /could not be shortened: steps/, code);
  }
});

for (const [entry, vectors, ...samples] of [
  ['device', 'session', 'noise', 'max_protocol_version', 'target_site_id'],
  ['core', 'session', 'noise', 'max_protocol_version', 'target_site_id'],
  ['link', 'session', 'noise', 'max_protocol_version', 'target_site_id'],
  ['requests', 'requests', 'msg_type', 'session', 'utterances'],
] as const) {
  const fields = fieldsOfEnvelopes(vectors);
  for (const file of FILES.filter((file) => file.entry === entry)) {
    test(`${file.name} keeps the fields of all envelopes in the vectors of ${vectors}`, async () => {
      for (const name of samples) assert.ok(fields.has(name), name);
      const { code } = await bundleModule(`bundles/${entry}.ts`, true, file.syntax);
      const names = shortenedNames(SOURCES, code, namesForUsers(file));
      const inCode = names.filter((name) => new RegExp(`[.{, ]${name}\\b`).test(code));
      assert.equal(
        inCode.filter((name) => fields.has(name)),
        [],
      );
    });
  }
}

function fieldsOfEnvelopes(vectors: string): Set<string> {
  const fields = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!Array.isArray(value)) for (const name of Object.keys(value)) fields.add(name);
    Object.values(value).forEach(collect);
  };
  const text = readFileSync(new URL(`../../vectors/${vectors}.json`, import.meta.url), 'utf8');
  JSON.parse(text, (_name, value) => {
    if (typeof value !== 'string' || !value.startsWith('{"')) return value;
    try {
      collect(JSON.parse(value));
    } catch {
      // It is a vector of bad JSON.
    }
  });
  return fields;
}

test.run();
