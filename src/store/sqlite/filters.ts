// The filters of subscriptions, read inside the transaction that asks.
import type { DatabaseSync } from 'node:sqlite';
import type { FilterOf } from '../fitting.ts';
import { filterIn } from '../fitting.ts';
import { one, text } from '../row.ts';

export const filtersSql = {
  settings: 'select settings from subscription where no = ?',
} as const;

export function prepareFilterOf(db: DatabaseSync): FilterOf {
  const settings = db.prepare(filtersSql.settings);
  return (subscription) => filterIn(text(one(settings.get(subscription)), 'settings'));
}
