/** The documents: their links lead somewhere, and their code is syntactically correct. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import swc from '@swc/core';
import { parse } from 'acorn';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Folders of other people, and of what is built. */
const NOT_OURS = /(?:^|\/)(?:\.[^/]*|node_modules|dist|judge\/vectors)$/;

/** The Markdown files in a folder, as paths from the root of the project. */
function pagesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return NOT_OURS.test(path) ? [] : pagesIn(path);
    return path.endsWith('.md') ? [path] : [];
  });
}

const PAGES = pagesIn('');

interface Page {
  /** Everything outside of code fences. */
  prose: string;
  fences: { language: string; code: string }[];
}

function read(path: string): Page {
  return pageOf(readFileSync(join(ROOT, path), 'utf8'));
}

function pageOf(text: string): Page {
  const fences: Page['fences'] = [];
  const prose = text.replace(
    /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm,
    (_, indent: string, language: string, code: string) => {
      fences.push({ language, code: code.replace(new RegExp(`^${indent}`, 'gm'), '') });
      return '';
    },
  );
  return { prose, fences };
}

/** The targets of links, without those of inline code. */
function linksOf(prose: string): string[] {
  return [...prose.replace(/`[^`\n]*`/g, '').matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors of the headings, as GitHub derives them. */
function anchorsOf(prose: string): string[] {
  const seen = new Map<string, number>();
  return [...prose.matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading]) => {
    const name = heading!
      .replace(/\]\([^)]*\)/g, ']')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replace(/ /g, '-');
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  });
}

/** What is wrong with the links of a page. */
function brokenLinks(path: string): string[] {
  return linksOf(read(path).prose).filter((target) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return false;
    const [file, anchor] = target.split('#') as [string, string | undefined];
    const linked = file === '' ? path : join(dirname(path), file);
    const absolute = resolve(ROOT, linked);
    if (!absolute.startsWith(ROOT) || !existsSync(absolute)) return true;
    if (anchor === undefined) return false;
    return statSync(absolute).isDirectory() || !anchorsOf(read(linked).prose).includes(anchor);
  });
}

/** The links to other people's pages, which no test opens. Look at each before a release. */
const EXTERNAL = [
  'https://docs.espressif.com/projects/esp-idf/en/stable/esp32/api-reference/system/random.html',
  'https://github.com/JarbasHiveMind/HiveMind-core',
  'https://github.com/Moddable-OpenSource/moddable',
  'https://keepachangelog.com/en/1.1.0/',
  'https://semver.org/spec/v2.0.0.html',
  'https://verifpal.com',
];

test('the links to pages of others are those that a person looks at before a release', () => {
  const targets = PAGES.flatMap((path) => linksOf(read(path).prose)).filter((target) =>
    /^[a-z]+:/.test(target),
  );
  assert.equal([...new Set(targets)].sort(), EXTERNAL);
});

for (const path of PAGES) {
  test(`${path}: every relative link leads to a file and a heading`, () => {
    assert.equal(brokenLinks(path), []);
  });

  test(`${path}: every fence of code parses`, () => {
    for (const { language, code } of read(path).fences) {
      if (language === 'js') parse(code, { ecmaVersion: 2022, sourceType: 'module' });
      if (language === 'ts' && !path.startsWith('docs/reference/api/'))
        swc.parseSync(code, { syntax: 'typescript' });
      if (language === 'json' && code.startsWith('{')) JSON.parse(code);
    }
  });
}

test.run();
