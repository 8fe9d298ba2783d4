// The app's version, raised first in every change of what its events can reach: a publish that was
// matched against an older version is refused as stale, so no subscription is ever missed.
import type { DatabaseSync } from 'node:sqlite';
import { integer, one } from './row.ts';

export const appVersionSql = {
  raise: 'update app set version = version + 1 where no = ? returning version',
} as const;

export type RaiseVersion = (appNo: number) => number;

export function prepareRaiseVersion(db: DatabaseSync): RaiseVersion {
  const raise = db.prepare(appVersionSql.raise);
  return (appNo) => integer(one(raise.get(appNo)), 'version');
}
