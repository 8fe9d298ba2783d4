// Builds the console, or with `--mode portal` the customer portal: hashed file names, nothing inline (the CSP would
// refuse it), nothing from another host. The service reads the output once, at its start. They are built separately,
// so that what only the console uses of a shared file is not in the portal, which must load fast in other sites.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const folder = import.meta.dirname;

/** Pages of other sites load this script, so its name is fixed. */
const embedScript: Plugin = {
  name: 'embed-script',
  generateBundle() {
    const source = readFileSync(join(folder, 'portal', 'embed.js'));
    this.emitFile({ type: 'asset', fileName: 'embed.js', source });
  },
};

/** The strings of a language are the only files that are loaded later. They need no style sheets or preloading. */
const plainImports: Plugin = {
  name: 'plain-imports',
  enforce: 'pre',
  load(id) {
    const isHelper = id === '\0vite/preload-helper.js';
    return isHelper ? 'export const __vitePreload = (load) => load();' : undefined;
  },
};

export default defineConfig(({ mode }) => {
  const isPortal = mode === 'portal';
  return {
    root: folder,
    // The service puts the path in front, which depends on its settings.
    base: './',
    publicDir: false,
    cacheDir: join(folder, 'dist', '.vite'),
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      outDir: join(folder, 'dist'),
      // The portal is built into the same folder, after the console.
      emptyOutDir: !isPortal,
      target: 'baseline-widely-available',
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      sourcemap: false,
      reportCompressedSize: false,
      rolldownOptions: { input: join(folder, isPortal ? 'portal.html' : 'index.html') },
    },
    plugins: isPortal ? [embedScript, plainImports] : [],
  };
});
