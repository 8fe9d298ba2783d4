// Declares `ringback migrate`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';

export const migrate: Command = {
  name: 'migrate',
  group: 'operate',
  summary: 'brings the database up to this program, without starting it',
  usage: ['ringback migrate [--check]'],
  about:
    'A start does the same. This is for those who want to do it, or know about it, before. On SQLite it ' +
    'is refused while the service runs; --check never is.',
  flags: { check: { kind: 'switch', says: 'only say what is due, and change nothing' } },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl'],
  json: 'the migrations that were applied, those that are due, and the one it is at',
  examples: [
    { line: 'ringback migrate --check', says: 'what would be done' },
    { line: 'ringback migrate --data ./data', says: 'do it' },
  ],
  exitCodes: { 0: 'the database is up to date', 1: 'it is not: with --check, something is due' },
  run: async (call, terminal) => (await import('../migrate.ts')).migrate(call, terminal),
};
