// Declares `ringback serve`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';

export const serve: Command = {
  name: 'serve',
  group: 'run',
  summary: 'Run the service',
  usage: ['ringback serve [--port PORT] [--data FOLDER] [--contract FILE]… [--SETTING VALUE]…'],
  about:
    'By default it listens on 127.0.0.1:8080 and stores its data in ./data. The first ' +
    'start prints an API key, which is shown only once. Ctrl+C finishes in-flight ' +
    'requests, then stops; a second Ctrl+C stops at once.',
  flags: {},
  takesSettings: true,
  json:
    'one line with url, manageUrl (the url with the manage prefix), appId, key and console once ' +
    'the service listens; logs still go to standard error',
  examples: [
    { line: 'ringback serve', says: 'Run on this machine, with SQLite' },
    {
      line: 'ringback serve --port 0 --data :memory:',
      says: 'Use a free port and keep everything in memory',
    },
    {
      line: 'ringback serve --contract my-api.yaml',
      says: 'Execute the callbacks of your own OpenAPI document',
    },
    {
      line: 'DATABASE_URL=postgres://… RINGBACK_ENCRYPTION_KEY=… ringback serve',
      says: 'Run as a node of a PostgreSQL cluster',
    },
  ],
  run: async (call, terminal) => (await import('../serve/serve.ts')).serve(call, terminal),
};
