// `ringback migrate`: brings the database up to this program without starting the service. The service
// does the same when it starts; this is for those who want to do it, or know about it, before.
import { CannotOpenStore } from '../store/cannot-open-store.ts';
import { migratorOf } from '../store/bring-up.ts';
import type { AppliedMigration } from '../store/migrate.ts';
import { CliFailure } from './failure.ts';
import { configOf, readFlags } from './flags.ts';
import type { Terminal } from './terminal.ts';

export const migrateUsage = `  ringback migrate [--check]                         --check only says what is due: exit code 1 if so
`;

export async function migrate(args: readonly string[], terminal: Terminal): Promise<void> {
  const { env, on, positionals } = readFlags(args, terminal.env, [], ['check']);
  if (positionals.length > 0) {
    throw new CliFailure(`Cannot migrate "${positionals.join(' ')}": expected flags only`);
  }
  const config = configOf(env, terminal.err);
  const migrator = migratorOf(config.database);
  if (on.has('check')) {
    const due = await migrator.due().catch(explain);
    if (due.length > 0) throw new CliFailure(print(due, 'is due').trimEnd());
  } else {
    const applied = await migrator.apply(terminal.world.nowMs()).catch(explain);
    if (applied.length > 0) return terminal.out(print(applied, 'applied'));
  }
  terminal.out(`already at migration ${migrator.last}\n`);
}

function print(migrations: readonly AppliedMigration[], what: string): string {
  return migrations.map(({ number, name }) => `migration ${number} "${name}" ${what}\n`).join('');
}

function explain(error: unknown): never {
  if (error instanceof CannotOpenStore) throw new CliFailure(error.message, { cause: error });
  throw error;
}
