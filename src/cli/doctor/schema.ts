// Reports the schema version, on either database.
import type { CannotOpenStore } from '../../store/cannot-open-store.ts';
import type { AppliedMigration } from '../../store/migrate.ts';
import { failed, ok, warning, type Finding } from './finding.ts';

export function judgeSchema(due: readonly AppliedMigration[]): Finding {
  if (due.length === 0) return ok('schema', 'no migration is due');
  const names = due.map(({ number, name }) => `${number} "${name}"`).join(', ');
  return warning('schema', {
    message: `Migrations are due: ${names}`,
    remedy: 'Make a backup; then ringback migrate, or the next start, applies them',
  });
}

/** A start would fail with the same message. */
export function refusedSchema({ code, message }: CannotOpenStore): Finding {
  const remedy =
    code === 'newer_schema'
      ? 'Start the newer Ringback that wrote it, or restore a backup of before'
      : 'Start the Ringback that wrote it, or restore a backup that this version can open';
  return failed('schema', { message, remedy });
}
