// Health: a read that reaches the file, and the migration that the database is at.
import type { DatabaseSync } from 'node:sqlite';
import { integer, one } from './row.ts';
import type { Read } from './verb.ts';

export const healthSql = {
  schema: 'select max(number) as schema from migration',
} as const;

export function prepareHealth(db: DatabaseSync): Read<'health'> {
  const schema = db.prepare(healthSql.schema);
  return () => ({ schema: integer(one(schema.get()), 'schema') });
}
