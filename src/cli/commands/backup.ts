// Declares `ringback backup`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';

export const backup: Command = {
  name: 'backup',
  group: 'operate',
  summary: 'copies the SQLite database, also while the service runs',
  usage: ['ringback backup FILE'],
  about:
    'The copy is as the database was at one moment, checked and on the disk when the command ends. The ' +
    'encryption key is not in it: keep that too, in another place. PostgreSQL has pg_dump and archiving.',
  positionals: { FILE: 'the copy, which must not exist yet' },
  flags: {},
  takesSettings: true,
  settingsShown: ['data'],
  json: 'source, file, bytes, migration, tookMs, and where the encryption key is',
  examples: [
    { line: 'ringback backup ringback-monday.db', says: 'of ./data' },
    {
      line: 'ringback backup /mnt/backups/ringback.db --data /var/lib/ringback',
      says: 'of another',
    },
  ],
  run: async (call, terminal) => (await import('../backup.ts')).backup(call, terminal),
};
