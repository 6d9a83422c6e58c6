/** What vectors/identity.json cannot say of the disclosure: a text that has to be fetched, and arguments. */
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { disclosureDue } from '../../src/identity/disclosure.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { raisesLocal } from '../world/raises.ts';

const NEVER = { lastGiven: 'never' } as const;

const carrying = (ai_disclosure?: unknown): Identity =>
  parseIdentity(JSON.stringify({ access_key: 'ak', password: 'pw', ai_disclosure }));

test('returns no text if it has to be fetched', () => {
  for (const source of [{}, { aiDisclosure: null } as never, carrying(), carrying(''), carrying({})]) {
    for (const language of ['en', 'fr'] as const) {
      const expected = { due: true, text: undefined, language } as const;
      assert.equal(disclosureDue(source, { ...NEVER, language }), expected);
    }
  }
});

test('refuses arguments of the wrong type', () => {
  for (const lastGiven of [undefined, null, '', 'always', true]) {
    raisesLocal(() => disclosureDue({}, { lastGiven } as never), 'bad-argument');
  }
  for (const language of [null, 1, {}]) {
    raisesLocal(() => disclosureDue({}, { ...NEVER, language } as never), 'bad-argument');
  }
});

test.run();
