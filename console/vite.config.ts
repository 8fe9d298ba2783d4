// Builds the console: hashed file names, nothing inline (the CSP would refuse it), nothing from
// another host. The service reads the output once, at its start.
import { join } from 'node:path';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  // The service puts the path in front, which depends on its settings.
  base: './',
  publicDir: false,
  cacheDir: join(import.meta.dirname, 'dist', '.vite'),
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'baseline-widely-available',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
  },
});
