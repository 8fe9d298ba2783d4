// Declares `ringback listen`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';

export const listen: Command = {
  name: 'listen',
  group: 'run',
  summary: 'subscribes this terminal and prints callbacks as they come',
  usage: ['ringback listen [--event NAME] [--forward URL] [--listen-port PORT]'],
  about:
    'Checks the signature of each callback, prints it, and answers 200, or what the URL behind ' +
    '--forward answers. Ctrl+C unsubscribes and ends it. It listens on 127.0.0.1, so the service must ' +
    'run on this machine.',
  flags: {
    event: {
      kind: 'text',
      placeholder: 'NAME',
      says: 'hear this event, or all that fit order.*; every one otherwise',
    },
    forward: { kind: 'text', placeholder: 'URL', says: 'pass each callback on, as it came' },
    'listen-port': {
      kind: 'count',
      placeholder: 'PORT',
      max: 65_535,
      says: 'port to take callbacks on; 0 takes a free one (8081)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'a line at the start, one for each callback, and one at the end; each has a kind',
  examples: [
    { line: 'ringback listen', says: 'every event, with the key in RINGBACK_API_KEY' },
    { line: 'ringback listen --event order.created', says: 'one event only' },
    {
      line: 'ringback listen --forward http://127.0.0.1:3000/callbacks',
      says: 'see what your own receiver gets, and what it answers',
    },
    {
      line: `ringback listen --json | jq 'select(.kind == "callback") | .event'`,
      says: 'only the names',
    },
  ],
  run: async (call, terminal) => (await import('../listen.ts')).listen(call, terminal),
};
