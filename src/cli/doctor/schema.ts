// Reports the schema version, on either database.
import type { CannotOpenStore } from '../../store/port/store.ts';
import type { AppliedMigration } from '../../store/sql/migrate.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

export function judgeSchema(due: readonly AppliedMigration[]): Finding {
  if (due.length === 0) return ok('schema', 'up to date, no migration pending');
  const names = due.map(({ number, name }) => `${number} "${name}"`).join(', ');
  return warning('schema', {
    message: `Migrations are pending: ${names}`,
    remedy: 'Back up first; then run ringback migrate, or let the next start apply them',
  });
}

/** A start would fail with the same message. */
export function refusedSchema({ code, message }: CannotOpenStore): Finding {
  const remedy =
    code === 'newer_schema'
      ? 'Start the newer Ringback that wrote it, or restore an earlier backup'
      : 'Start the Ringback that wrote it, or restore a backup that this version can open';
  return failed('schema', { message, remedy });
}
