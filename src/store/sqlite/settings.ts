// Values that the whole installation shares, kept once under a name, by whoever comes first.
import type { DatabaseSync } from 'node:sqlite';
import { bytes, one } from './row.ts';
import type { Edit } from './verb.ts';

export const settingsSql = {
  keep: 'insert into setting (name, value) values (?, ?) on conflict (name) do nothing',
  get: 'select value from setting where name = ?',
} as const;

export function prepareKeepSetting(db: DatabaseSync): Edit<'keepSetting'> {
  const keep = db.prepare(settingsSql.keep);
  const get = db.prepare(settingsSql.get);
  return ({ name, value }) => {
    keep.run(name, value);
    return { value: bytes(one(get.get(name)), 'value') };
  };
}
