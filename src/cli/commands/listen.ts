// Declares `ringback listen`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';

export const listen: Command = {
  name: 'listen',
  group: 'run',
  summary: 'Subscribe this terminal and print callbacks as they arrive',
  usage: ['ringback listen [--event NAME] [--forward URL] [--listen-port PORT]'],
  about:
    'Verifies the signature of each callback, prints it, and responds with 200, or with ' +
    'the response of the --forward URL. Ctrl+C unsubscribes and exits. It listens on ' +
    '127.0.0.1, so the service must run on this machine.',
  flags: {
    event: {
      kind: 'text',
      placeholder: 'NAME',
      says: 'Only this event, or events matching a pattern such as order.*; default: all events',
    },
    forward: {
      kind: 'text',
      placeholder: 'URL',
      says: 'Forward each callback, unchanged, to this URL',
    },
    'listen-port': {
      kind: 'count',
      placeholder: 'PORT',
      max: 65_535,
      says: 'Port to receive callbacks on; 0 picks a free one (8081)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'one line at the start, one per callback and one at the end; each has a kind',
  examples: [
    { line: 'ringback listen', says: 'Receive every event, with the key in RINGBACK_API_KEY' },
    { line: 'ringback listen --event order.created', says: 'Receive one event only' },
    {
      line: 'ringback listen --forward http://127.0.0.1:3000/callbacks',
      says: 'Forward to your own receiver and show its responses',
    },
    {
      line: `ringback listen --json | jq 'select(.kind == "callback") | .event'`,
      says: 'Print only the event names',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/listen.ts')).listen(call, terminal),
};
