/** The site as `docs/.vitepress/run` built it: its links, its search, its diagrams, and the playground. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ServedPage, servePage } from '../../examples/page/server.ts';
import { isIn } from './page-steps.ts';
import { Tab } from './tab.ts';

const test = suite('the site');
const SITE = new URL('../../docs/.vitepress/dist/', import.meta.url);
let served: ServedPage;
let tab: Tab;
test.before(async () => {
  served = await servePage(0, SITE);
  tab = await Tab.open();
});
test.after(async () => {
  await tab.stop();
  served.stop();
});

/** The pages by their addresses. */
const PAGES = new Map(
  readdirSync(SITE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.html'))
    .map((file) => [
      `/${file.replace(/(?:^|(?<=\/))index\.html$|\.html$/, '')}`,
      readFileSync(new URL(file, SITE), 'utf8'),
    ]),
);

const hasAnchor = (page: string, anchor: string): boolean => page.includes(` id="${anchor}"`);

test('every link leads to a page and a heading', () => {
  const broken: string[] = [];
  for (const [address, page] of PAGES) {
    for (const [, href] of page.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      const { host, pathname, hash } = new URL(href!, `http://site${address}`);
      if (host !== 'site') continue;
      if (pathname.startsWith('/files/') && existsSync(new URL(`.${pathname}`, SITE))) continue; // a program that a page names
      const target = PAGES.get(pathname);
      if (target === undefined || (hash !== '' && !hasAnchor(target, decodeURIComponent(hash.slice(1))))) {
        broken.push(`${address}: ${href}`);
      }
    }
  }
  assert.ok(PAGES.size > 50);
  assert.equal(broken, []);
});

test('shows the programs that pages name', () => {
  const guide = PAGES.get('/docs/guides/kiosk')!;
  assert.match(guide, 'href="/files/examples/kiosk.ts.txt"');
  const shown = readFileSync(new URL('files/examples/kiosk.ts.txt', SITE), 'utf8');
  assert.is(shown, readFileSync(new URL('../../examples/kiosk.ts', import.meta.url), 'utf8'));
});

test('draws the diagrams', async () => {
  await tab.navigate(`${served.url}docs/reference/sessions`);
  await tab.until(`document.querySelectorAll('.diagram svg').length === 2`);
});

test('search finds a page', async () => {
  await tab.click('.VPNavBarSearch button');
  await tab.until(`document.activeElement?.id === 'localsearch-input'`);
  await tab.paste('keep-pin');
  await tab.until(`document.querySelectorAll('.result').length > 3`);
  await tab.evaluate(`document.querySelector('.result').click()`);
  await tab.until(`document.querySelector('main').innerText.includes('keep-pin')`);
});

const FAILURES = [
  ...[
    'ECONNREFUSED',
    'ENOTFOUND',
    'DNS',
    'firewall',
    'certificate',
    'self-signed',
    'expired',
    'clock',
    'CSP',
    'broker',
  ],
  ...[
    '401',
    'wrong password',
    'access-refused',
    'timeout',
    'lost',
    'dropped',
    '4003',
    'denied',
    'no answer',
    'doctor',
  ],
];
for (const words of FAILURES) {
  test(`search for “${words}” finds the page on failures first`, async () => {
    const type = (text: string): Promise<unknown> =>
      tab.evaluate(
        `(() => {
          const input = document.getElementById('localsearch-input');
          input.value = ${JSON.stringify(text)};
          input.dispatchEvent(new Event('input'));
        })()`,
      );
    // The page answers a click as soon as its scripts run.
    await tab.until(
      `document.getElementById('localsearch-input') !== null ||
        void document.querySelector('.VPNavBarSearch button')?.click()`,
    );
    await type('qqqqzzzz');
    await tab.until(`document.querySelectorAll('.result').length === 0`);
    await type(words);
    await tab.until(`document.querySelectorAll('.result').length > 0`);
    const found = await tab.evaluate<string>(`document.querySelector('.result').getAttribute('href')`);
    assert.match(found, /^\/docs\/guides\/it-does-not-connect/);
  });
}

test('breaks no name in a table on a phone', async () => {
  await tab.resize(390, 844);
  await tab.navigate(`${served.url}client/`);
  await tab.until(`document.readyState === 'complete' && document.querySelector('main td code')`);
  const broken = await tab.evaluate<string[]>(
    `[...document.querySelectorAll('main td code')]
      .filter((code) => /^\\w+$/.test(code.textContent) && code.getClientRects().length > 1)
      .map((code) => code.textContent)`,
  );
  assert.equal(broken, []);
});

const LOOKED_AT = [
  ...['', 'docs/', 'docs/reference/sessions', 'docs/reference/devices', 'docs/reference/api/identity'],
  ...['docs/evidence/mcu', 'SECURITY'],
];
for (const width of [360, 1400, 1920]) {
  test(`no page is wider than a screen of ${width} px`, async () => {
    await tab.resize(width, 900);
    for (const address of LOOKED_AT) {
      await tab.navigate(served.url + address);
      await tab.until(`document.readyState === 'complete' && document.querySelector('main h1')`);
      const [content, screen] = await tab.evaluate<number[]>(
        `[document.documentElement.scrollWidth, document.documentElement.clientWidth]`,
      );
      assert.ok(content! <= screen!, `${address || 'the first page'}: ${content}`);
    }
  });
}

for (const look of ['light', 'dark']) {
  test(`axe finds nothing in the pages and the playground (${look})`, async () => {
    const features = [{ name: 'prefers-color-scheme', value: look }];
    await tab.call('Emulation.setEmulatedMedia', { features });
    for (const address of [...LOOKED_AT, 'playground/']) {
      await tab.navigate(served.url + address);
      await tab.until(`document.readyState === 'complete' && document.querySelector('h1')`);
      await tab.until(`!document.querySelector('.diagram:empty')`);
      assert.equal(await tab.violations(), [], address || 'the first page');
    }
  });
}

test('the first page runs a session at once, and keeps the focus', async () => {
  await tab.navigate(served.url);
  await tab.until(
    `document.querySelector('.playground iframe')?.contentDocument?.getElementById('connection')?.dataset.state === 'ready'`,
  );
  assert.is(await tab.evaluate(`document.activeElement.localName`), 'body');
});

test('has a playground, in which both sides of a session run without a server', async () => {
  await tab.navigate(`${served.url}playground/`);
  await tab.until(`document.querySelector('main button')?.id === 'try'`); // the first one
  await tab.click('#try');
  await tab.until(isIn('ready'));
  await tab.click('#new-key');
  await tab.until(isIn('asking'));
  await tab.until(`document.getElementById('links').checkVisibility()`);
});

test('the sidebar is as wide as its text', async () => {
  await tab.navigate(`${served.url}docs/guides/kiosk`);
  for (const width of [1366, 1440, 1536, 1680]) {
    await tab.resize(width, 900);
    await tab.until(`document.querySelector('.VPSidebar')?.clientWidth >= 240`, 5);
  }
});

test('throws nothing', () => {
  assert.equal(tab.problems, []);
});

test.run();
