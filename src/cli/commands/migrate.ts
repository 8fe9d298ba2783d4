// Declares `ringback migrate`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';

export const migrate: Command = {
  name: 'migrate',
  group: 'operate',
  summary: 'Apply pending database migrations without starting the service',
  usage: ['ringback migrate [--check]'],
  about:
    'The service also applies pending migrations when it starts; run this to do it, or ' +
    'preview it, beforehand. On SQLite it is refused while the service runs; --check ' +
    'always works.',
  flags: { check: { kind: 'switch', says: 'List pending migrations and change nothing' } },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl'],
  json: 'the migrations applied, those still pending, and the current one',
  examples: [
    { line: 'ringback migrate --check', says: 'Preview pending migrations' },
    { line: 'ringback migrate --data ./data', says: 'Apply pending migrations' },
  ],
  exitCodes: {
    0: 'The database is up to date',
    1: 'The database is not up to date; with --check, migrations are pending',
  },
  run: async (call, terminal) => (await import('../database/migrate.ts')).migrate(call, terminal),
};
