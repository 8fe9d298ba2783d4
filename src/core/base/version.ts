// The version of this program, from its package.json.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packageFolder } from './package-folder.ts';

const load = createRequire(import.meta.url);

export const version: string = readVersion(load(join(packageFolder, 'package.json')));

function readVersion(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version);
  }
  throw new TypeError('Cannot read the version: package.json has none');
}
