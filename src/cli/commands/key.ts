// Declares `ringback key`; its implementation is loaded when it runs.
import { scopes } from '../../core/key.ts';
import type { Command } from '../command.ts';

export const key: Command = {
  name: 'key',
  group: 'operate',
  summary: 'lists, makes, rotates and revokes API keys in the database',
  usage: [
    'ringback key list [--app NAME]',
    'ringback key create --name NAME --scopes SCOPES [--app NAME]',
    'ringback key rotate ID [--app NAME]',
    'ringback key revoke ID [--app NAME]',
  ],
  about:
    'For the moment when no key is at hand: it works right in the database. While the service runs on ' +
    'SQLite, only its API can do the same (POST /keys). A key that was rotated works for 24 more hours.',
  positionals: { ID: 'what a key begins with: rbk_ and eight characters' },
  flags: {
    app: { kind: 'text', placeholder: 'NAME', says: 'the app whose keys are meant (default)' },
    name: { kind: 'text', placeholder: 'NAME', says: 'how a new key is called in lists' },
    scopes: {
      kind: 'text',
      placeholder: 'SCOPES',
      says: `what a new key may do, separated by commas: ${scopes.join(', ')}`,
    },
  },
  takesSettings: true,
  settingsShown: ['data', 'databaseUrl'],
  json: 'list gives a list; create and rotate give the key, shown this once; revoke its id and state',
  examples: [
    { line: 'ringback key list', says: 'the keys of the app default' },
    {
      line: 'ringback key create --name shop --scopes subscribe,publish',
      says: 'a key that can subscribe and publish, and nothing else',
    },
    { line: 'ringback key rotate rbk_Ab12Cd34', says: 'a new secret; the old one works for a day' },
    { line: 'ringback key revoke rbk_Ab12Cd34', says: 'it lets nobody in any more' },
  ],
  run: async (call, terminal) => (await import('../key.ts')).key(call, terminal),
};
