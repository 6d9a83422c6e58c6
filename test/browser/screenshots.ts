/**
 * Writes the pictures of examples/page to docs/guides/: by day, by night, and on a narrow screen; and those of the site to
 * docs/evidence/. Afterwards, look at them.
 *
 *     docs/.vitepress/run && node --import tsx test/browser/screenshots.ts
 */
import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { servePage } from '../../examples/page/server.ts';
import { dialNow, isIn, pausesAt } from './page-steps.ts';
import { Tab } from './tab.ts';

const format = process.argv[2] ?? 'webp';
const served = await servePage(0);
const tab = await Tab.open();
await tab.navigate(served.url, pausesAt(0.9));
const state = (name: string): Promise<void> => tab.until(isIn(name));

async function picture(path: string, scheme: 'light' | 'dark', width: number, height: number): Promise<void> {
  await tab.resize(width, height);
  await tab.call('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: scheme }],
  });
  await tab.evaluate('document.activeElement.blur()');
  await tab.evaluate('scrollTo(0, 0)');
  await tab.evaluate(`document.querySelector('.scroll')?.scrollTo(0, 1e6)`);
  await sleep(500); // for the rows to appear
  const { data } = await tab.call<{ data: string }>('Page.captureScreenshot', { format, quality: 85 });
  writeFileSync(new URL(`../../docs/${path}.${format}`, import.meta.url), Buffer.from(data, 'base64'));
}

await tab.call('Emulation.setScrollbarsHidden', { hidden: true });
await tab.click('#fill-in');
await tab.click('#identity-form .primary');
await tab.click('#connect');
await state('ready');
await tab.evaluate(`document.getElementById('utterance').focus()`);
await tab.paste('What is on today?');
await tab.press('Enter');
await tab.until(`document.querySelector('#conversation .hub')`);
await picture('guides/page-narrow', 'light', 400, 1700);
await tab.click('#cut');
await state('waiting');
await picture('guides/page-light', 'light', 1200, 900);
await dialNow(tab, 'ready');
await tab.click('#new-key');
await state('asking');
await picture('guides/page-dark', 'dark', 1200, 900);
served.stop();

const site = await servePage(0, new URL('../../docs/.vitepress/dist/', import.meta.url));
for (const [name, scheme, width] of [
  ['wide', 'light', 1400],
  ['narrow', 'dark', 400],
] as const) {
  await tab.navigate(`${site.url}docs/reference/sessions`);
  await tab.until(`document.querySelector('.diagram svg')`);
  await picture(`evidence/site-${name}`, scheme, width, 1000);
}
await tab.stop();
site.stop();
