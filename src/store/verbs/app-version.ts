// The app's version, raised in every change of what its events can reach. The row's lock makes the
// order of versions the order of commits, on any number of nodes.
import { integer } from '../row.ts';
import type { Script } from '../statement.ts';
import { only } from '../statement.ts';

export const appVersionSql = {
  raise: 'update app set version = version + 1 where no = ?1 returning version',
} as const;

export function* raiseVersion(appNo: number): Script<number> {
  return integer(yield* only(appVersionSql.raise, appNo), 'version');
}
