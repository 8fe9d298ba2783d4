// The version of this program, as its package says.
import { createRequire } from 'node:module';

export const version: string = readVersion(createRequire(import.meta.url)('../../package.json'));

function readVersion(manifest: unknown): string {
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest) {
    return String(manifest.version);
  }
  throw new TypeError('Cannot read the version: package.json has none');
}
