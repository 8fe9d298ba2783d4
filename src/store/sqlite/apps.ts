// Apps: made together with their first key, so that there is never an app nobody can enter.
import type { DatabaseSync } from 'node:sqlite';
import { belowCursor } from '../cursor.ts';
import { prepareInsertKey } from './keys.ts';
import { fillPage, rowsFetchedMax } from './page.ts';
import { one, toApp } from './row.ts';
import type { Edit, Read } from './verb.ts';

export const appsSql = {
  insert: `
    insert into app (id, name, created_ms) values (:id, :name, :nowMs)
    returning no, id, name, created_ms`,
  byId: 'select no, id, name, created_ms from app where id = ?',
  byName: 'select no, id, name, created_ms from app where name = ?',
  list: 'select no, id, name, created_ms from app where no < ? order by no desc limit ? + 0',
} as const;

export function prepareCreateApp(db: DatabaseSync): Edit<'createApp'> {
  const byName = db.prepare(appsSql.byName);
  const insert = db.prepare(appsSql.insert);
  const keys = prepareInsertKey(db);
  return ({ id, name, key }, { nowMs }) => {
    if (byName.get(name) !== undefined) return { kind: 'name_taken' };
    if (keys.isTaken(key.id)) return { kind: 'key_taken' };
    const app = toApp(one(insert.get({ id, name, nowMs })));
    return { kind: 'created', app, key: keys.insert({ appNo: app.no, key, nowMs }) };
  };
}

export function prepareApp(db: DatabaseSync): Read<'app'> {
  const byId = db.prepare(appsSql.byId);
  const byName = db.prepare(appsSql.byName);
  return (input) => {
    const row = 'id' in input ? byId.get(input.id) : byName.get(input.name);
    return row === undefined ? undefined : toApp(row);
  };
}

export function prepareApps(db: DatabaseSync): Read<'apps'> {
  const list = db.prepare(appsSql.list);
  return ({ page: { limit, after } }) =>
    fillPage({ rows: list.iterate(belowCursor(after), rowsFetchedMax), limit, toItem: toApp });
}
