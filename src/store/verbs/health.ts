// Health: a read that reaches the database, and returns its last migration.
import { integer } from '../row.ts';
import { only } from '../statement.ts';
import type { Read } from './verb.ts';

export const healthSql = {
  schema: 'select max(number) as schema from migration',
} as const;

export const health: Read<'health'> = function* () {
  return { schema: integer(yield* only(healthSql.schema), 'schema') };
};
