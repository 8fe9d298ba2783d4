// Event types of an app. Whether a schema is valid is decided by the engine.
import type { EventType } from '../../../core/domain/event.ts';
import { limits } from '../../../core/limits/limits.ts';
import { integer, text, toEventType } from '../../sql/row.ts';
import { all, first, only } from '../../sql/statement.ts';
import type { Edit, Read } from '../shared/verb.ts';

const columns = 'name, schema, description, example, state, version, created_ms, updated_ms';

export const eventTypesSql = {
  // One statement, so that no change of a schema is lost between nodes.
  put: `
    insert into event_type
      (app, name, schema, description, example, state, created_ms, updated_ms)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
    on conflict (app, name) do update set
      schema = excluded.schema, description = excluded.description, example = excluded.example,
      state = excluded.state, updated_ms = excluded.updated_ms,
      version = event_type.version
        + case when event_type.schema = excluded.schema then 0 else 1 end
    returning ${columns}`,
  delete: 'delete from event_type where app = ?1 and name = ?2 returning name',
  byName: `select ${columns} from event_type where app = ?1 and name = ?2`,
  list: `select ${columns} from event_type where app = ?1 order by name`,
  versions: 'select name, version, created_ms from event_type where app = ?1',
  others: `
    select count(*) as types, cast(coalesce(sum(length(schema) + coalesce(length(example), 0)
      + coalesce(length(description), 0)), 0) as bigint) as chars
    from event_type where app = ?1 and name <> ?2`,
} as const;

export const putEventType: Edit<'putEventType'> = function* ({ appNo, type: asked }, nowMs) {
  const { name, schema, description = null, example = null, state } = asked;
  const others = yield* only(eventTypesSql.others, appNo, name);
  const types = integer(others, 'types') + 1;
  const chars = [schema, description, example].reduce(
    (sum, part) => sum + (part?.length ?? 0),
    integer(others, 'chars'),
  );
  if (types > limits.eventTypesMax || chars > limits.eventTypesCharsMax) {
    return { kind: 'full', types, chars };
  }
  const before = yield* first(eventTypesSql.byName, appNo, name);
  const given = [appNo, name, schema, description, example, state, nowMs];
  const row = yield* only(eventTypesSql.put, ...given);
  const type = toEventType(row);
  if (before === undefined) return { kind: 'created', type };
  return { kind: 'replaced', type, changed: changedIn(toEventType(before), type) };
};

function changedIn(before: EventType, now: EventType): string[] {
  const names = ['schema', 'description', 'example', 'state'] as const;
  return names.filter((name) => before[name] !== now[name]);
}

export const deleteEventType: Edit<'deleteEventType'> = function* ({ appNo, name }) {
  const row = yield* first(eventTypesSql.delete, appNo, name);
  return { kind: row === undefined ? 'not_found' : 'deleted' };
};

export const eventType: Read<'eventType'> = function* ({ appNo, name }) {
  const row = yield* first(eventTypesSql.byName, appNo, name);
  return row === undefined ? undefined : toEventType(row);
};

export const eventTypes: Read<'eventTypes'> = function* ({ appNo }) {
  return (yield* all(eventTypesSql.list, appNo)).map(toEventType);
};

export const eventTypeVersions: Read<'eventTypeVersions'> = function* ({ appNo }) {
  const rows = yield* all(eventTypesSql.versions, appNo);
  return rows.map((row) => ({
    name: text(row, 'name'),
    version: integer(row, 'version'),
    createdMs: integer(row, 'created_ms'),
  }));
};
