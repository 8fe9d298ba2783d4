// Apps: made together with their first key, so that there is never an app nobody can enter.
import { belowCursor } from '../cursor.ts';
import { toApp } from '../row.ts';
import { all, first } from '../statement.ts';
import { pageOf } from './fill-page.ts';
import { insertKey, isKeyTaken } from './keys.ts';
import type { Edit, Read } from './verb.ts';

export const appsSql = {
  // Nodes that start at the same time all want the first app; one of them makes it.
  insert: `
    insert into app (id, name, created_ms) values (?1, ?2, ?3) on conflict (name) do nothing
    returning no, id, name, created_ms`,
  byId: 'select no, id, name, created_ms from app where id = ?1',
  byName: 'select no, id, name, created_ms from app where name = ?1',
  list: 'select no, id, name, created_ms from app where no < ?1 order by no desc limit ?2 + 0',
} as const;

export const createApp: Edit<'createApp'> = function* ({ id, name, key }, nowMs) {
  if ((yield* first(appsSql.byName, name)) !== undefined) return { kind: 'name_taken' };
  if (yield* isKeyTaken(key.id)) return { kind: 'key_taken' };
  const row = yield* first(appsSql.insert, id, name, nowMs);
  if (row === undefined) return { kind: 'name_taken' };
  const app = toApp(row);
  return { kind: 'created', app, key: yield* insertKey({ appNo: app.no, key, nowMs }) };
};

export const app: Read<'app'> = function* (input) {
  const row =
    'id' in input ? yield* first(appsSql.byId, input.id) : yield* first(appsSql.byName, input.name);
  return row === undefined ? undefined : toApp(row);
};

export const apps: Read<'apps'> = function* ({ page: { limit, after } }) {
  const rows = yield* all(appsSql.list, belowCursor(after), limit + 1);
  return pageOf(rows, limit, toApp);
};
