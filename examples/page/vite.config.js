/** The page is files alone, to be served from any folder: `vite build` writes them to dist/. */
export default {
  base: './',
  // The page's Content-Security-Policy allows no data: URLs.
  build: { assetsInlineLimit: 0, modulePreload: false, target: 'es2022' },
};
