// Declares `ringback backup`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';

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
