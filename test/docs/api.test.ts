/** The docstrings of which docs/reference/api/ is made leave nothing out. */
import { readdirSync, readFileSync } from 'node:fs';
import swc from '@swc/core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import * as limits from '../../src/limits.ts';
import { DEADLINE, TIMES } from '../../src/policy/connection-policy.ts';
import { DEADLINES } from '../../src/requests/request-scheduler.ts';
import { defaultOf, isInput } from '../../tools/api.ts';
import { clientNames, type Doc, documentedNames, type Member, parseDoc } from '../../tools/declared.ts';
import { codesIn } from '../../tools/errors.ts';

const NAMES = [...documentedNames(), ...clientNames()];

/** All members of all public names, with the path to each. */
const MEMBERS: readonly (readonly [string, Member])[] = NAMES.flatMap(({ name, members }) =>
  withInner(name, members),
);

function withInner(path: string, members: readonly Member[]): [string, Member][] {
  return members.flatMap((member): [string, Member][] => [
    [`${path}.${member.name}`, member],
    ...withInner(`${path}.${member.name}`, member.members),
  ]);
}

/** A field with one possible value, such as the `type` of an event. */
function isConstant({ type }: Member): boolean {
  return /^('[^']*'|true|false|undefined)$/.test(type);
}

/** What a docstring does not say of a function. */
function unsaid(doc: Doc | undefined, params: readonly string[], signature: string): string[] {
  if (/, as \{@link [\w.]+\} does/.test(doc?.text ?? '')) return [];
  const missing = params.filter((name) => !doc?.params.has(name.replace('...', '')));
  return /: (?:void|Promise<void>);?$/.test(signature) || doc?.returns !== undefined
    ? missing
    : [...missing, 'what it returns'];
}

test('parses docstrings', () => {
  const doc = parseDoc(
    '/**\n * Adds.\n * @param a - one\n *   more\n * @returns 2\n * @throws LocalError `x`\n */',
  );
  assert.equal(doc.text, 'Adds.');
  assert.equal([...doc.params], [['a', 'one more']]);
  assert.equal([doc.returns, doc.throws], ['2', ['LocalError `x`']]);
});

test('every public name has a docstring', () => {
  assert.ok(NAMES.length > 140, `${NAMES.length}`);
  assert.equal(
    NAMES.filter(({ doc }) => doc === undefined).map(({ name }) => name),
    [],
  );
});

test('every field and option has a docstring', () => {
  const isMute = ([, member]: readonly [string, Member]): boolean =>
    member.kind !== 'constructor' && member.doc === undefined && !isConstant(member);
  assert.equal(
    MEMBERS.filter(isMute).map(([path]) => path),
    [],
  );
});

test('every parameter and result of a function or method is described', () => {
  const functions = NAMES.filter(({ kind }) => kind === 'function').flatMap(({ name, doc, params, code }) =>
    unsaid(doc, params, code).map((what) => `${name}: ${what}`),
  );
  const methods = MEMBERS.filter(([, { kind }]) => kind === 'method').flatMap(([path, member]) =>
    unsaid(member.doc, member.params, member.signature).map((what) => `${path}: ${what}`),
  );
  assert.equal([...functions, ...methods], []);
});

test('every function documents what it throws, or that it never throws', () => {
  const isSilent = ({ throws, text }: Doc): boolean => throws.length === 0 && !/Never\s+throws/.test(text);
  assert.equal(
    NAMES.filter(({ kind, doc }) => kind === 'function' && isSilent(doc!)).map(({ name }) => name),
    [],
  );
});

test('every optional option documents its default', () => {
  const options = NAMES.filter(({ name }) => isInput(name)).flatMap(({ name, members }) =>
    withInner(name, members),
  );
  assert.ok(options.length > 60, `${options.length}`);
  assert.equal(
    options.filter(([, each]) => !isConstant(each) && defaultOf(each) === '').map(([path]) => path),
    [],
  );
});

test('the defaults in docstrings match the code', () => {
  const stated = (path: string): string =>
    defaultOf({ ...MEMBERS.find(([each]) => each === path)![1], isOptional: true });
  assert.is(stated('ClientOptions.maxMessage'), `${limits.MAX_MESSAGE / 2 ** 20} MiB, which is the maximum`);
  for (const [state, time] of Object.entries(DEADLINES))
    assert.is(stated(`ReplyDeadlines.${state}`), `${time}`);
  for (const [name, time] of Object.entries(TIMES)) {
    assert.is(stated(`PolicyOptions.${name}`).split(',')[0], `${time}`, name);
  }
  assert.is(stated('PolicyOptions.deadlines'), `${DEADLINE} each`);
});

// What tests show to be thrown, compared with what docstrings say.

/** The fields of syntax nodes of calls. */
interface Syntax {
  readonly type?: string;
  readonly value?: unknown;
  readonly callee?: Syntax;
  readonly property?: Syntax;
  readonly arguments?: readonly { readonly expression?: Syntax }[];
  readonly expression?: Syntax;
  readonly body?: Syntax;
}

/** `name code` for each `raisesLocal(() => name(…), 'code')`, and `.name code` for methods, `new name code` for constructors. */
function raisedIn(code: string): string[] {
  const found: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type, callee, arguments: all } = node as Syntax;
    if (
      type === 'CallExpression' &&
      /^raises(Local|Remote)$/.test(String(callee?.value)) &&
      all !== undefined
    ) {
      const [call, code] = all.map(({ expression }) => expression);
      const body = call?.type === 'ArrowFunctionExpression' ? call.body : undefined;
      const target = body?.type === 'ParenthesisExpression' ? body.expression : body;
      const name = target?.type === 'NewExpression' ? `new ${target.callee?.value}` : calledIn(target);
      if (code?.type === 'StringLiteral' && name !== undefined) found.push(`${name} ${code.value}`);
    }
    Object.values(node).forEach(visit);
  };
  visit(swc.parseSync(code, { syntax: 'typescript' }));
  return found;
}

function calledIn(node: Syntax | undefined): string | undefined {
  if (node?.type !== 'CallExpression') return undefined;
  const { callee } = node;
  if (callee?.type === 'Identifier') return String(callee.value);
  return callee?.type === 'MemberExpression' ? `.${callee.property?.value}` : undefined;
}

/** The codes that each function, method and constructor documents, by the names that `raisedIn` gives them. */
function documented(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (name: string, doc: Doc | undefined): void => {
    const codes = found.get(name) ?? new Set();
    for (const throws of doc?.throws ?? []) for (const code of codesIn(throws)) codes.add(code);
    found.set(name, codes);
  };
  for (const { kind, name, doc, members } of NAMES) {
    if (kind === 'function') add(name, doc);
    if (kind !== 'class') continue;
    for (const member of members) {
      if (member.kind === 'constructor') add(`new ${name}`, member.doc);
      if (member.kind === 'method') add(`.${member.name}`, member.doc);
    }
  }
  return found;
}

test('every code that a test expects of a public function is in its @throws', () => {
  const known = documented();
  const tests = new URL('../', import.meta.url);
  const raised = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts') && !name.startsWith('docs'))
    .flatMap((name) => raisedIn(readFileSync(new URL(name, tests), 'utf8')));
  const ofPublic = [...new Set(raised)].filter((each) => known.has(each.slice(0, each.lastIndexOf(' '))));
  assert.ok(ofPublic.length > 80, `${ofPublic.length}`);
  assert.equal(
    ofPublic.filter((each) => {
      const space = each.lastIndexOf(' ');
      return !known.get(each.slice(0, space))!.has(each.slice(space + 1));
    }),
    [],
  );
});

test.run();
