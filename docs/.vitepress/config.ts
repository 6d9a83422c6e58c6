/** The site: the Markdown of this repository, as VitePress serves it. `docs/.vitepress/run` builds it. */
import { cpSync, existsSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type DefaultTheme, defineConfig } from 'vitepress';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { homepage, repository } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  homepage?: string;
  repository?: { url: string };
};
/** Where files are that are not pages, once the project has a public address. */
const FILES = repository && `${repository.url.replace(/^git\+|\.git$/g, '')}/blob/main/`;

/** Files that pages link to, and that the site shows as plain text as long as there is no repository to show them. */
const shown = new Set<string>();

/** The pages, as patterns. All other Markdown is for contributors. */
const PAGES =
  /^(?:README|CHANGELOG|CONTRIBUTING|SECURITY|docs\/.*|(?:client|evidence|judge|vectors|examples\/bridge)\/README)\.md$/;

const titleOf = (page: string): string =>
  /^# (.*)$/m.exec(readFileSync(ROOT + page, 'utf8'))![1]!.replace(/`/g, '');

const addressOf = (page: string): string => `/${page.replace(/(?:README)?\.md$/, '')}`;

const itemOf = (page: string): DefaultTheme.SidebarItem => ({ text: titleOf(page), link: addressOf(page) });

/** The pages that a page links to in its tables, in order. */
function linked(section: string): DefaultTheme.SidebarItem[] {
  const index = readFileSync(`${ROOT}docs/README.md`, 'utf8');
  const text = index.slice(index.indexOf(`\n## ${section}`) + 1).split('\n## ')[0]!;
  const pages = [...text.matchAll(/\]\(([\w./-]+\.md|[\w/-]+\/README\.md)\)/g)].map(([, path]) =>
    posix.join('docs', path!),
  );
  return [...new Set(pages)].filter((page) => PAGES.test(page)).map(itemOf);
}

/** The anchor of a heading as GitHub makes it: the links of the pages are to these. */
const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replace(/ /g, '-');

export default defineConfig({
  title: 'hub-protocol',
  description: 'HiveMind protocol 3 for clients and hubs, sans I/O',
  head: [['link', { rel: 'icon', href: 'data:,' }]], // no request for one
  srcDir: '..',
  outDir: fileURLToPath(new URL('dist', import.meta.url)),
  cacheDir: fileURLToPath(new URL('cache', import.meta.url)),
  srcExclude: [
    '{bundles,cli,evidence/!(README.md),examples/!(bridge),judge/!(README.md),ports,src,test,tools,vectors/!(README.md)}/**',
  ],
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  buildEnd({ outDir }) {
    for (const file of shown) cpSync(ROOT + file, `${outDir}/files/${file}.txt`);
  },
  ...(homepage && { sitemap: { hostname: homepage } }),
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/docs/#guides-how-do-i', activeMatch: '^/docs/guides/' },
      { text: 'Reference', link: '/docs/#reference-what-exactly', activeMatch: '^/docs/reference/' },
      { text: 'Evidence', link: '/docs/#evidence-how-do-you-know', activeMatch: '^/docs/evidence/' },
      { text: 'Playground', link: '/playground/', target: '_self' },
    ],
    sidebar: [
      { text: 'Guides', items: linked('Guides') },
      { text: 'Reference', items: linked('Reference') },
      { text: 'Evidence', items: linked('Evidence') },
      {
        text: 'The project',
        items: ['CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'].map(itemOf),
      },
    ],
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Whoever looks for a word of a failure finds the page on failures first. The page that searches has only this function.
            boostDocument: (id: string, term: string) =>
              id.startsWith('/docs/guides/it-does-not-connect') && !/^(?:hub|mqtt|close|code)$/.test(term)
                ? 3
                : 1,
          },
        },
      },
    },
    ...(repository && { socialLinks: [{ icon: 'github', link: FILES!.replace(/blob\/main\/$/, '') }] }),
  },
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // The empty corner of a table is no heading, and keys scroll code without a language.
      md.core.ruler.push('axe', ({ tokens }) => {
        for (const [index, token] of tokens.entries()) {
          if (token.type === 'code_block') token.attrSet('tabindex', '0');
          if (token.type === 'th_open' && tokens[index + 1]!.content === '')
            token.tag = tokens[index + 2]!.tag = 'td';
        }
      });
      // Links to files that are not pages lead to the repository, or nowhere until there is one.
      md.core.ruler.push('files', ({ tokens, env }) => {
        for (const { children } of tokens) {
          let isDropped = false;
          for (const token of children ?? []) {
            if (token.type === 'link_close' && isDropped) [token.tag, isDropped] = ['span', false];
            if (token.type !== 'link_open') continue;
            const href = token.attrGet('href')!;
            if (/^(?:[a-z]+:|#)/.test(href)) continue;
            const [path, hash = ''] = decodeURI(href).split('#');
            const target = posix.normalize(posix.join(posix.dirname(env.relativePath), path!));
            const anchor = hash && `#${hash}`;
            if (PAGES.test(target)) token.attrSet('href', addressOf(target) + anchor);
            else if (PAGES.test(`${target}README.md`)) token.attrSet('href', `/${target}${anchor}`);
            else if (FILES === undefined && existsSync(ROOT + target) && statSync(ROOT + target).isFile()) {
              shown.add(target);
              token.attrSet('href', `/files/${target}.txt`);
              token.attrSet('target', '_self'); // no page of the site
            } else if (FILES === undefined) {
              [token.tag, token.attrs, isDropped] = ['span', [['title', target]], true];
            } else token.attrSet('href', FILES + target + anchor);
          }
        }
      });
      const fence = md.renderer.rules.fence!;
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index]!.info === 'mermaid'
          ? `<Diagram code="${encodeURIComponent(tokens[index]!.content)}" />`
          : fence(tokens, index, ...rest);
    },
  },
  vite: {
    publicDir: fileURLToPath(new URL('public', import.meta.url)),
    // The pages are outside of this folder, in which Node.js finds these when it renders them.
    plugins: [
      {
        name: 'packages-of-the-site',
        enforce: 'pre',
        resolveId: (id, _, options) =>
          options.ssr && /^(?:vue|vue\/server-renderer)$/.test(id) ? { id, external: true } : undefined,
      },
    ],
    build: { chunkSizeWarningLimit: 1000 },
  },
});
