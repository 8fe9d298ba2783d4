// How a person calls this program where it runs: lines to paste must work as they stand.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../core/package-folder.ts';

/** In a checkout npm brings the right Node. The source is never in the package. */
export const ownCommand: string = existsSync(join(packageFolder, 'src'))
  ? 'npm run -s ringback --'
  : 'npx ringback';
