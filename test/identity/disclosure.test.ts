import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { type DisclosureSituation, disclosureDue } from '../../src/identity/disclosure.ts';
import type { Identity } from '../../src/identity/identity.ts';
import { parseIdentity } from '../../src/identity/parse-identity.ts';
import { raisesLocal } from '../raises.ts';

const EN = '  You are talking to an AI assistant.\r\n\r\nIt can be wrong: “do not rely on it”.\u00a0\t';
const FR = 'Vous parlez à un assistant d’IA.';
const BOTH = { en: EN, fr: FR };
const NEVER = { lastGiven: 'never' } as const;

const carrying = (ai_disclosure?: unknown): Identity =>
  parseIdentity(JSON.stringify({ access_key: 'ak', password: 'pw', ai_disclosure }));
const isDue = (situation: DisclosureSituation): boolean => disclosureDue(carrying(BOTH), situation).due;

test('is due at first contact, for any client', () => {
  for (const isVoice of [false, true]) {
    for (const isShared of [false, true]) assert.is(isDue({ lastGiven: 'never', isVoice, isShared }), true);
  }
  assert.is(isDue(NEVER), true);
});

test('is due once in a session, and not with each reply', () => {
  for (const isVoice of [false, true]) {
    for (const isShared of [false, true]) {
      assert.is(isDue({ lastGiven: 'this-session', isVoice, isShared }), false);
    }
  }
});

test('is not due again in a later session with the same person', () => {
  assert.equal(disclosureDue(carrying(BOTH), { lastGiven: 'earlier-session' }), { due: false });
});

test('is due in each session of a voice client and of a shared device', () => {
  assert.is(isDue({ lastGiven: 'earlier-session', isVoice: true }), true);
  assert.is(isDue({ lastGiven: 'earlier-session', isShared: true }), true);
});

test('returns the text unchanged', () => {
  assert.equal(disclosureDue(carrying(EN), NEVER), { due: true, text: EN, language: 'en' });
  assert.is((disclosureDue(carrying(BOTH), NEVER) as { text: string }).text, EN);
});

test('selects French for a French client, and English for any other', () => {
  for (const language of ['fr', 'FR', 'fr-CA', 'fr-Latn-CA', 'fr_CA.UTF-8']) {
    const expected = { due: true, text: FR, language: 'fr' } as const;
    assert.equal(disclosureDue(carrying(BOTH), { ...NEVER, language }), expected, language);
  }
  for (const language of [undefined, '', 'en', 'en-FR', 'de', 'frr', 'fro-x', '-fr']) {
    const expected = { due: true, text: EN, language: 'en' } as const;
    assert.equal(disclosureDue(carrying(BOTH), { ...NEVER, language }), expected, language);
  }
});

test('returns no text if it has to be fetched', () => {
  for (const source of [{}, { aiDisclosure: null } as never, carrying(), carrying(''), carrying({})]) {
    for (const language of ['en', 'fr'] as const) {
      const expected = { due: true, text: undefined, language } as const;
      assert.equal(disclosureDue(source, { ...NEVER, language }), expected);
    }
  }
});

test('does not replace one language with the other', () => {
  for (const source of [carrying(EN), carrying({ en: EN }), carrying({ en: EN, fr: '' })]) {
    const expected = { due: true, text: undefined, language: 'fr' } as const;
    assert.equal(disclosureDue(source, { ...NEVER, language: 'fr' }), expected);
  }
  const expected = { due: true, text: undefined, language: 'en' } as const;
  assert.equal(disclosureDue(carrying({ fr: FR }), { ...NEVER, language: 'de' }), expected);
});

test('reads a fetched disclosure like that of an identity', () => {
  const fetched = { ai_disclosure: BOTH };
  const disclosure = disclosureDue({ aiDisclosure: fetched.ai_disclosure }, { ...NEVER, language: 'fr' });
  assert.equal(disclosure, { due: true, text: FR, language: 'fr' });
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
