// Declares `ringback migrate` and `ringback backup`; their implementation is loaded when they run.
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

export const backup: Command = {
  name: 'backup',
  group: 'operate',
  summary: 'Copy the SQLite database, while the service runs or not',
  usage: ['ringback backup FILE'],
  about:
    'The copy is a consistent snapshot. It is verified and synced to disk before the ' +
    'command returns. The encryption key is not part of it: store that separately. For ' +
    'PostgreSQL, use pg_dump or continuous archiving.',
  positionals: { FILE: 'Path of the copy; must not exist yet' },
  flags: {},
  takesSettings: true,
  settingsShown: ['data'],
  json: 'source, file, bytes, migration, tookMs and the path of the encryption key',
  examples: [
    { line: 'ringback backup ringback-monday.db', says: 'Back up ./data' },
    {
      line: 'ringback backup /mnt/backups/ringback.db --data /var/lib/ringback',
      says: 'Back up another data folder',
    },
  ],
  run: async (call, terminal) => (await import('../database/backup.ts')).backup(call, terminal),
};
