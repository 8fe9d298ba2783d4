// Locates the package: its manifest, migrations and console. The program runs from somewhere below
// it: from src/, or bundled in dist/.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';

export const packageFolder: string = nearestManifest(import.meta.dirname);

/** Whether the running program is the bundle, not the source. */
export const isBundled: boolean = extname(import.meta.filename) !== '.ts';

function nearestManifest(folder: string): string {
  const above = dirname(folder);
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (above === folder) throw new Error('Cannot find package.json above the program');
  return nearestManifest(above);
}

const load = createRequire(import.meta.url);

export const version: string = readVersion(load(join(packageFolder, 'package.json')));

function readVersion(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version);
  }
  throw new TypeError('Cannot read the version: package.json has none');
}
