// `ringback migrate`: migrates the database without starting the service. A start does the same;
// this is for those who want to do or check it beforehand.
import { CannotOpenStore } from '../../store/port/store.ts';
import { migratorOf, type Migrator } from '../../store/open/migrate-database.ts';
import type { AppliedMigration } from '../../store/sql/migration-rules.ts';
import type { Invocation } from '../declare/command.ts';
import { CliFailure } from '../terminal/failure.ts';
import { configOf } from '../declare/flags.ts';
import { painter } from '../terminal/text.ts';
import { startProgress } from '../terminal/progress.ts';
import type { Terminal } from '../terminal/terminal.ts';

export async function migrate(call: Invocation, terminal: Terminal): Promise<void> {
  const config = configOf(call, terminal.err);
  const migrator = migratorOf(config.database);
  const isCheck = call.isOn('check');
  const due = isCheck ? await migrator.due().catch(explain) : [];
  const applied = isCheck ? [] : await apply(migrator, terminal).catch(explain);
  const at = migrator.last - due.length;
  if (call.isJson) terminal.out(`${JSON.stringify({ applied, due, at, last: migrator.last })}\n`);
  if (due.length > 0) throw new CliFailure(print(due, 'is pending').trimEnd());
  if (call.isJson) return;
  const paint = painter(terminal);
  terminal.out(
    print(applied, paint('green', 'applied')) || `already at migration ${migrator.last}\n`,
  );
}

async function apply(migrator: Migrator, terminal: Terminal): Promise<readonly AppliedMigration[]> {
  const total = (await migrator.due()).length;
  using progress = startProgress('Migrations', terminal);
  let done = 0;
  if (total > 1) progress.show({ done, total });
  const applied = await migrator.apply(terminal.world.nowMs(), () => {
    done += 1;
    if (total > 1) progress.show({ done, total });
  });
  return applied; // The progress bar is erased on return.
}

function print(migrations: readonly AppliedMigration[], what: string): string {
  return migrations.map(({ number, name }) => `migration ${number} "${name}" ${what}\n`).join('');
}

function explain(error: unknown): never {
  if (error instanceof CannotOpenStore) throw new CliFailure(error.message, { cause: error });
  throw error;
}
