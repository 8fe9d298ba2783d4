// Apps: created together with their first key, so that no app ever exists without one.
import { belowCursor } from '../../sql/cursor.ts';
import { text, toApp } from '../../sql/row.ts';
import { all, first, only } from '../../sql/statement.ts';
import type { QuotaEdits } from '../../port/store.ts';
import { pageOf } from '../lists/fill-page.ts';
import { insertKey, isKeyTaken } from './keys.ts';
import type { Edit, Read } from '../shared/verb.ts';

const columns = 'no, id, name, created_ms, settings, subscriptions';

export const appsSql = {
  // Nodes that start at the same time all create the first app; only one insert succeeds.
  insert: `
    insert into app (id, name, created_ms) values (?1, ?2, ?3) on conflict (name) do nothing
    returning ${columns}`,
  // Locks the row until the end of the transaction.
  lock: `update app set settings = settings where no = ?1 returning ${columns}`,
  edit: `update app set name = ?2, settings = ?3 where no = ?1 returning ${columns}`,
  byId: `select ${columns} from app where id = ?1`,
  byName: `select ${columns} from app where name = ?1`,
  list: `select ${columns} from app where no < ?1 order by no desc limit ?2 + 0`,
} as const;

export const createApp: Edit<'createApp'> = function* ({ id, name, key }, nowMs) {
  if ((yield* first(appsSql.byName, name)) !== undefined) return { kind: 'name_taken' };
  if (yield* isKeyTaken(key.id)) return { kind: 'key_taken' };
  const row = yield* first(appsSql.insert, id, name, nowMs);
  if (row === undefined) return { kind: 'name_taken' };
  const app = toApp(row);
  return { kind: 'created', app, key: yield* insertKey({ appNo: app.no, key, nowMs }) };
};

export const editApp: Edit<'editApp'> = function* ({ appNo, name, quotas }) {
  const row = yield* first(appsSql.lock, appNo);
  if (row === undefined) return { kind: 'not_found' };
  const before = toApp(row);
  const named = name === undefined ? undefined : yield* first(appsSql.byName, name);
  if (named !== undefined && toApp(named).no !== appNo) return { kind: 'name_taken' };
  const given = Object.entries(quotas).filter(([, value]) => value !== undefined);
  const merged = { ...before.quotas, ...Object.fromEntries(given) };
  const settings = settingsWith(text(row, 'settings'), merged);
  const app = toApp(yield* only(appsSql.edit, appNo, name ?? before.name, settings));
  const changed = [
    ...(app.name === before.name ? [] : ['name']),
    ...quotaNames.filter((one) => app.quotas[one] !== before.quotas[one]),
  ];
  return { kind: 'edited', app, changed };
};

const quotaNames = ['subscriptions', 'eventsPerSecond', 'payloadBytes'] as const;

/** Leaves out quotas that are not set, as in the settings of an app that never had any. */
function settingsWith(settings: string, quotas: QuotaEdits): string {
  const numbers = Object.entries(quotas).filter(([, value]) => typeof value === 'number');
  const others = new Map(Object.entries(Object(JSON.parse(settings))));
  others.set('quotas', Object.fromEntries(numbers));
  return JSON.stringify(Object.fromEntries(others));
}

export const app: Read<'app'> = function* (input) {
  const row =
    'id' in input ? yield* first(appsSql.byId, input.id) : yield* first(appsSql.byName, input.name);
  return row === undefined ? undefined : toApp(row);
};

export const apps: Read<'apps'> = function* ({ page: { limit, after } }) {
  const rows = yield* all(appsSql.list, belowCursor(after), limit + 1);
  return pageOf(rows, limit, toApp);
};
