// Declares `ringback serve`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';

export const serve: Command = {
  name: 'serve',
  group: 'run',
  summary: 'runs the service until it is told to stop',
  usage: ['ringback serve [--port PORT] [--data FOLDER] [--contract FILE]… [--SETTING VALUE]…'],
  about:
    'Without settings it listens on 127.0.0.1:8080 and keeps all it knows in ./data. The first start ' +
    'prints an API key, this once. Ctrl+C stops it: requests under way are finished first, and a second ' +
    'Ctrl+C does not wait for them.',
  flags: {},
  takesSettings: true,
  json: 'a line with url, appId, key and console once it listens; logs go to stderr as ever',
  examples: [
    { line: 'ringback serve', says: 'on this machine, with SQLite' },
    {
      line: 'ringback serve --port 0 --data :memory:',
      says: 'on a free port, and nothing is kept',
    },
    {
      line: 'ringback serve --contract my-api.yaml',
      says: 'executes the callbacks of a document of yours',
    },
    {
      line: 'DATABASE_URL=postgres://… RINGBACK_ENCRYPTION_KEY=… ringback serve',
      says: 'as a node of a cluster',
    },
  ],
  run: async (call, terminal) => (await import('../serve.ts')).serve(call, terminal),
};
