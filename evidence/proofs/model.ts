/** The models as texts: which lines a case has, two of them in one system, and small changes to them. */
import { readFileSync } from 'node:fs';
import type { Case, Change, Part, Unnoticed } from './cases.ts';

/** What two models in one system always share: the hub with its key, its node id and its offer, and the counters. */
const SHARED = ['hs', 'node', 'offer', 'p2', 'n0', 'n1'];
/** What the names of the second model end with. */
const SECOND = 'Second';
/** The words of Verifpal, which are no names of a model. */
const WORDS =
  /^(?:[A-Z_]+|attacker|active|principal|knows|public|private|generates|leaks|phase|queries|nil|confidentiality|authentication)$/;

/** The text of a model, as it stands in its file. */
export function readModel(name: Part['model']): string {
  return readFileSync(new URL(`${name.toLowerCase()}.vp`, import.meta.url), 'utf8');
}

/**
 * The lines that a model has with some settings, without comments. A line that ends with `// only: a, b` belongs to the model
 * if one of these settings is among them; one that ends with `// unless: a` does not. What happens after the line `// ends: a`
 * does not happen with this setting.
 */
export function withSettings(text: string, settings: readonly string[]): string {
  let isOver = false;
  const lines = text.split('\n').filter((line) => {
    const [, when, names] = /\/\/ (only|unless|ends): (.*)$/.exec(line) ?? [];
    if (when === 'ends') isOver = settings.includes(names!);
    else if (/^(?:phase|queries)\[/.test(line)) isOver = false;
    if (isOver) return false;
    if (names === undefined) return true;
    return names.split(', ').some((name) => settings.includes(name)) === (when === 'only');
  });
  return lines
    .map((line) => line.replace(/\/\/.*$/, '').trim())
    .filter((line) => line !== '')
    .join('\n');
}

/** The text that Verifpal reads, for a case. It asks what the case, or the change of it, has an answer to. */
export function textOf({ parts, shares = [], holds, attacked }: Case, change?: Change | Unnoticed): string {
  const texts = parts.map(({ model, settings }) => sectionsOf(withSettings(readModel(model), settings)));
  const [, second] = texts;
  if (second !== undefined) {
    const shared = [...SHARED, ...shares];
    if (parts[0]!.model === parts[1]!.model) shared.push('pname');
    for (const name of ['now', 'later', 'queries'] as const) {
      second[name] = second[name].replace(/\w+/g, (word) =>
        WORDS.test(word) || shared.includes(word) ? word : word + SECOND,
      );
    }
  }
  const all = (name: keyof Sections): string => texts.map((sections) => sections[name]).join('\n');
  const asked = change !== undefined && 'fails' in change ? change.fails : [...holds, ...attacked];
  const queries = asked.map((name) => {
    const line = all('queries')
      .split('\n')
      .find((query) => query.endsWith(` ${name}`));
    if (line === undefined) throw new Error(`no query is about ${name}`);
    return line;
  });
  let text = `attacker[active]\n${all('now')}\n`;
  if (texts.some(({ later }) => later !== '')) text += `phase[1]\n${all('later')}\n`;
  for (const [from, to] of change?.replace ?? []) {
    if (text.split(from).length !== 2) throw new Error(`the model has not exactly one: ${from}`);
    text = text.replace(from, to);
  }
  return `${text}queries[\n${queries.join('\n')}\n]\n`;
}

/** The parts of a model: what happens, what happens later, and what is asked. */
interface Sections {
  now: string;
  later: string;
  queries: string;
}

function sectionsOf(text: string): Sections {
  const [happens, queries] = text.split('\nqueries[\n') as [string, string];
  const [now, later = ''] = happens.split('\nphase[1]\n') as [string, string?];
  return { now: now.replace('attacker[active]\n', ''), later, queries: queries.replace(/\n\]$/, '') };
}
