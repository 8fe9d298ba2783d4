// The version of the schema, on either database.
import type { AppliedMigration } from '../../store/migrate.ts';
import { ok, warning, type Finding } from './finding.ts';

export function judgeSchema(due: readonly AppliedMigration[]): Finding {
  if (due.length === 0) return ok('schema', 'no migration is due');
  const names = due.map(({ number, name }) => `${number} "${name}"`).join(', ');
  return warning('schema', {
    message: `Migrations are due: ${names}`,
    remedy: 'Make a backup; then ringback migrate, or the next start, applies them',
  });
}
