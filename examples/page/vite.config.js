/** The page is only files, which any folder can serve: `vite build` writes them to dist/. */
export default {
  base: './',
  // The page's Content-Security-Policy allows no data: URLs.
  build: { assetsInlineLimit: 0, modulePreload: false, target: 'es2022' },
};
