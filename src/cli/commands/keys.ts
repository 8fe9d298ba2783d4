// Declares `ringback key`; its implementation is loaded when it runs.
import { scopes } from '../../core/domain/key.ts';
import type { Command } from '../declare/command.ts';

export const key: Command = {
  name: 'key',
  group: 'operate',
  summary: 'List, create, rotate and revoke API keys in the database',
  usage: [
    'ringback key list [--app NAME]',
    'ringback key create --name NAME --scopes SCOPES [--customer TEXT] [--app NAME]',
    'ringback key rotate ID [--app NAME]',
    'ringback key revoke ID [--app NAME]',
  ],
  about:
    'Works directly on the database, for when you have no working key. While the service ' +
    'runs on SQLite the database is locked: use the API instead (POST /keys). After a ' +
    'rotation, the old secret keeps working for 24 hours.',
  positionals: { ID: 'Id of a key: the first part of it, rbk_ and eight characters' },
  flags: {
    app: { kind: 'text', placeholder: 'NAME', says: 'App that owns the keys (default)' },
    name: { kind: 'text', placeholder: 'NAME', says: 'Name of the new key, shown in lists' },
    scopes: {
      kind: 'text',
      placeholder: 'SCOPES',
      says: `Scopes of the new key, separated by commas: ${scopes.join(', ')}`,
    },
    customer: {
      kind: 'text',
      placeholder: 'TEXT',
      says: 'Bind the new key to this customer: it sees and changes only what belongs to it',
    },
  },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl'],
  json:
    'list: an array; create and rotate: the key, shown only once; revoke: the key’s id ' +
    'and state',
  examples: [
    { line: 'ringback key list', says: 'List the keys of the default app' },
    {
      line: 'ringback key create --name shop --scopes subscribe,publish',
      says: 'Create a key that can only subscribe and publish',
    },
    {
      line: 'ringback key rotate rbk_Ab12Cd34',
      says: 'Issue a new secret; the old one works for another 24 hours',
    },
    { line: 'ringback key revoke rbk_Ab12Cd34', says: 'Revoke a key at once' },
  ],
  run: async (call, terminal) => (await import('../keys/key.ts')).key(call, terminal),
};
