/** docs/reference/protocol.md: its rules name vectors that exist, no vector is without a rule, and its bytes are a vector's. */
import { readFileSync } from 'node:fs';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { CHOICES } from '../../evidence/rules/choices.ts';
import { CHECKS } from '../../judge/src/checks/checks.ts';
import { readVectorFile, type VectorFile, vectorFiles } from '../../judge/src/vectors.ts';
import { authorizedUrl } from '../../src/index.ts';
import * as limits from '../../src/limits.ts';
import { isNamed, namesIn, PAGE, referencesOf, rulesOf } from '../../tools/protocol-rules.ts';
import { type Line, WORKED_EXAMPLE } from '../../tools/worked-example.ts';
import { RULE_FAULTS } from '../judge/faults/rule-faults.ts';

const RULES = rulesOf(PAGE);
const REFERENCES = RULES.flatMap(referencesOf);
/** Groups whose codes are in requests.md and policy.md. */
const OWN_PAGES = ['Request', 'Reply', 'RequestScheduler', 'ConnectionPolicy', 'ClientLink'];
const FILES = new Map<string, VectorFile>(vectorFiles().map((name) => [name, readVectorFile(name)]));

test('every rule has an id of its own', () => {
  const ids = RULES.map(({ id }) => id);
  assert.equal(
    ids.filter((id, i) => !/^P-\d+$/.test(id) || ids.indexOf(id) !== i),
    [],
  );
  assert.ok(ids.length > 100);
});

test('every rule names its source', () => {
  const marks = ['protocol', 'protocol, as deployed', 'choice'];
  assert.equal(
    RULES.filter(({ mark }) => !marks.includes(mark)),
    [],
  );
});

test('every rule of the protocol names its vectors, or says why there is none', () => {
  assert.equal(
    RULES.filter(({ mark, vectors }) => mark !== 'choice' && vectors === ''),
    [],
  );
});

test('every vector that a rule names exists', () => {
  const missing = REFERENCES.flatMap(({ rule, file, names }) => {
    const vectors = FILES.get(file);
    if (vectors === undefined || names.length === 0) return [`${rule}: ${file}`];
    const { flags, types, ids } = namesIn(vectors);
    const known = [...flags, ...types, ...ids];
    return names.filter((name) => !known.includes(name)).map((name) => `${rule}: ${file} ${name}`);
  });
  assert.equal(missing, []);
});

test('every flag of every file of vectors belongs to a rule', () => {
  const missing = [...FILES].flatMap(([file, vectors]) => {
    const named = REFERENCES.filter((reference) => reference.file === file).flatMap(({ names }) => names);
    const { flags, types } = namesIn(vectors);
    return (flags.length > 0 ? flags : types)
      .filter((name) => !named.includes(name))
      .map((name) => `${file} ${name}`);
  });
  assert.equal(missing, []);
});

test('acceptable vectors belong to choices, and all others to rules of the protocol', () => {
  const marks = new Map(RULES.map(({ id, mark }) => [id, mark]));
  const disputed = [...FILES].flatMap(([file, { testGroups }]) => {
    if (file === 'tables') return []; // which the judge does not ask for
    const references = REFERENCES.filter((reference) => reference.file === file);
    return testGroups.flatMap(({ type, tests }) =>
      tests
        .filter((vector) => {
          const { result } = vector;
          const rules = references.filter((reference) => isNamed(reference, type, vector));
          return !rules.some(({ rule }) => (marks.get(rule) === 'choice') === (result === 'acceptable'));
        })
        .map(({ tcId, flags }) => `${file} ${tcId} ${flags.join(' ')}`),
    );
  });
  assert.equal(disputed, []);
});

test('the page names every error code of the vectors that a port may be asked for', () => {
  const codes = new Set(
    [...FILES.values()].flatMap(({ testGroups }) =>
      testGroups
        .filter(({ type }) => CHECKS[type] !== undefined && !OWN_PAGES.includes(type))
        .flatMap(({ tests }) =>
          [...JSON.stringify(tests).matchAll(/"error":"([^"]+)"/g)].map(([, code]) => code!),
        ),
    ),
  );
  assert.ok(codes.size > 50);
  // How a connection ends is in tables of another page.
  const sessions = readFileSync(new URL('../../docs/reference/sessions.md', import.meta.url), 'utf8');
  const missing = [...codes].filter((code) => !`${PAGE}${sessions}`.includes(`\`${code}\``));
  assert.equal(missing, []);
});

test('every rule of the protocol has a fault that breaks it, or a reason why there is none', () => {
  const strangers = Object.keys(RULE_FAULTS).filter((id) => !RULES.some((rule) => rule.id === id));
  const spared = RULES.filter(({ id, mark }) => mark !== 'choice' && RULE_FAULTS[id] === undefined);
  assert.equal([...strangers, ...spared], []);
});

test('every choice has a port that decides otherwise, or a reason why no operation shows one', () => {
  const ids = RULES.filter(({ mark }) => mark === 'choice').map(({ id }) => id);
  assert.equal([...new Set(CHOICES.map(({ rule }) => rule))].sort(), ids.sort());
});

test('every rule of the protocol that names vectors has a fault that breaks it', () => {
  const spared = RULES.filter(
    (rule) => rule.mark !== 'choice' && referencesOf(rule).length > 0 && 'reason' in RULE_FAULTS[rule.id]!,
  );
  assert.equal(spared, []);
});

test('the table of broken rules has every rule that a fault breaks, or that none can', () => {
  const table = readFileSync(new URL('../../docs/evidence/rules.md', import.meta.url), 'utf8');
  const rows = [...new Set([...table.matchAll(/^\| (P-\d+) \|/gm)].map(([, id]) => id!))];
  assert.equal(rows.sort(), Object.keys(RULE_FAULTS).sort());
});

test('every rule that the page refers to exists', () => {
  const ids = RULES.map(({ id }) => id);
  const referred = [...PAGE.matchAll(/(?<!\*\*|`)P-\d+/g)].map(([id]) => id);
  assert.equal(
    referred.filter((id) => !ids.includes(id)),
    [],
  );
  assert.ok(referred.length > 0);
});

test('the table of limits has the values of the library', () => {
  const [, table] = /\n## Limits\n([\s\S]*?)\n## /.exec(PAGE)!;
  const values = [...table!.matchAll(/^\| [^|]* \|([^|]*)\|/gm)].map(([, cell]) => cell).join();
  const numbers = (values.match(/(?<![\d,^])\d[\d,]*/g) ?? []).map((number) =>
    Number(number.replace(/,/g, '')),
  );
  const missing = Object.entries(limits).filter(([, value]) => {
    const at = numbers.indexOf(value);
    if (at >= 0) numbers.splice(at, 1); // each limit has a number of its own, also where two are equal
    return at < 0;
  });
  assert.equal(missing, []);
});

function hexOf(part: string, name: string): string {
  const line: Line = WORKED_EXAMPLE[part]!.find((each) => each.name === name)!;
  return (line as { bytes: string }).bytes;
}

test('the worked example leads to the bytes of the vector', () => {
  const vector = readVectorFile('session').testGroups[0]!.tests[0]!;
  const [, , , , answered, incoming] = [0, 1, 2, 3, 4, 5].map((i) => vector.steps[i]);
  const messages = [3, 4].map((i) => JSON.parse(vector.steps[i].events.find(isText).text).payload.noise.msg);
  const { key } = answered.events.find(({ type }: { type: string }) => type === 'pin');
  const { handshakeHash } = answered.events.at(-1);
  assert.is(hexOf('message 1', 'message 1'), messages[0]);
  assert.is(hexOf('message 2', 'hub’s static key'), key);
  assert.is(hexOf('message 3', 'message 3'), messages[1]);
  assert.is(hexOf('message 3', 'payload: h'), handshakeHash);
  assert.is(hexOf('transport', 'client to hub'), vector.keys.clientToHub);
  assert.is(hexOf('transport', 'hub to client'), vector.keys.hubToClient);
  assert.is(hexOf('transport', 'frame'), `00${Buffer.from(incoming.events[0].text).toString('hex')}`);
});

function isText({ text }: { text?: string }): boolean {
  return text !== undefined;
}

test('the example of an authorization matches what a client sends', () => {
  const url = authorizedUrl('wss://hub.example', 'lamp', 'n?~>o');
  assert.ok(PAGE.includes(`\`${url.slice(url.indexOf('?'))}\``));
});

test.run();
