// Health: a read that reaches the database, and returns its last migration.
import { integer } from '../../sql/row.ts';
import { only } from '../../sql/statement.ts';
import type { Read } from '../shared/verb.ts';

export const healthSql = {
  schema: 'select max(number) as schema from migration',
} as const;

export const health: Read<'health'> = function* () {
  return { schema: integer(yield* only(healthSql.schema), 'schema') };
};
