// How users call this program where it runs, so that lines to paste work unchanged.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { packageFolder } from '../../core/base/package-folder.ts';

/** In a checkout, npm provides the right Node. The package never contains the source. */
export const ownCommand: string = existsSync(join(packageFolder, 'src'))
  ? 'npm run -s ringback --'
  : 'npx ringback';
