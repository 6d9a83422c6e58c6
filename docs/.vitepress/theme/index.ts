import { type Theme, useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { h, type VNode } from 'vue';
import Diagram from './Diagram.vue';
import './style.css';

/** The first page shows what all this is about, before it says so. */
function playground(): VNode | undefined {
  if (useData().page.value.relativePath !== 'index.md') return undefined;
  const title =
    'A client and a hub, both in this page. Ask for a story, and see each message of the protocol.';
  const src = withBase('/playground/?run');
  return h('section', { class: 'playground', 'aria-label': 'Playground' }, [
    h('p', title),
    h('iframe', { src, title }),
  ]);
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-before': () => h(playground) }),
  enhanceApp({ app }) {
    app.component('Diagram', Diagram);
  },
} satisfies Theme;
