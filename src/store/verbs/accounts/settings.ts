// Values that the whole installation shares. The first writer of a name wins.
import { bytes } from '../../sql/row.ts';
import { all, only } from '../../sql/statement.ts';
import type { Edit } from '../shared/verb.ts';

export const settingsSql = {
  keep: 'insert into setting (name, value) values (?1, ?2) on conflict (name) do nothing',
  get: 'select value from setting where name = ?1',
} as const;

export const keepSetting: Edit<'keepSetting'> = function* ({ name, value }) {
  yield* all(settingsSql.keep, name, value);
  return { value: bytes(yield* only(settingsSql.get, name), 'value') };
};
