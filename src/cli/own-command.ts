// How a person calls this program where it runs: lines to paste must work as they stand.
import { extname } from 'node:path';

/** From the source, in a checkout, npm brings the right Node; in an installed package all is compiled. */
export const ownCommand: string =
  extname(import.meta.filename) === '.ts' ? 'npm run -s ringback --' : 'npx ringback';
