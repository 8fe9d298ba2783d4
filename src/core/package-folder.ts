// Where the package is: its manifest, its migrations, its console. The program stands somewhere below it, as it
// was written in src/ or bundled in dist/.
import { existsSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';

export const packageFolder: string = nearestManifest(import.meta.dirname);

/** Whether this is the bundle, or the source itself. */
export const isBundled: boolean = extname(import.meta.filename) !== '.ts';

function nearestManifest(folder: string): string {
  const above = dirname(folder);
  if (existsSync(join(folder, 'package.json'))) return folder;
  if (above === folder) throw new Error('Cannot find package.json above the program');
  return nearestManifest(above);
}
