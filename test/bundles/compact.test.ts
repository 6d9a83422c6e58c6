/** The files for devices have errors without sentences and private members with short names, and nothing else changes. */

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { LocalError, RemoteError } from '../../src/errors.ts';
import * as table from '../../src/errors-table.ts';
import { bundleModule, FILES, namesForUsers } from '../../tools/bundles.ts';
import { shortenedNames } from '../../tools/compact.ts';
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
    for (const field of ['name', 'code', 'cause', 'status', 'nodeId', 'pinnedKey', 'hubKey']) {
      assert.ok(full[field] === bare[field], `${name}: ${field}`);
    }
    assert.equal(Object.keys(bare), Object.keys(full), name);
  }
});

test('an error for devices says its code, and the argument if the sentence starts with its name', async () => {
  const { kkFailed, expected, unknownName, keyIsTransmitted, badTopic, tooShort } =
    await functionsForDevices();
  assert.is(kkFailed!().message, 'kk-failed');
  assert.is(expected!('crypto', 'an object').message, 'bad-argument: crypto');
  assert.is(unknownName!('options.x', 'option').message, 'bad-argument: options.x');
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

test('renames private members and members of internal classes, but no public or built-in ones', async () => {
  const { code } = await bundleModule('bundles/device.ts', true);
  const names = shortenedNames(fileURLToPath(new URL('../../src', import.meta.url)), code, namesForUsers());
  for (const name of ['takeSealed', 'assertIdle', 'mixDh', 'writeByte'])
    assert.ok(names.includes(name), name);
  for (const name of ['providePsk', 'sharedSecret', 'call', 'length', 'hello', 'destroy']) {
    assert.not.ok(names.includes(name), name);
  }
});

test.run();
