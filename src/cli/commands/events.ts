// Declares `ringback events`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { listFlags, timeFlags } from './filter-flags.ts';

export const events: Command = {
  name: 'events',
  group: 'look',
  summary: 'shows what was published, and one event with its payload',
  usage: ['ringback events [--event PATTERN] [--since WHEN]', 'ringback events EVT'],
  positionals: { EVT: 'show this one, with its payload and where it went' },
  flags: {
    event: { kind: 'text', placeholder: 'PATTERN', says: 'of this name, or that fit order.*' },
    ...timeFlags,
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; of one, the event with its payload as it was published',
  examples: [
    { line: 'ringback events --since 1h', says: 'what happened in the last hour' },
    { line: `ringback events --event 'order.*' --all --json`, says: 'all orders, for a program' },
    { line: 'ringback events evt_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'one of them' },
  ],
  run: async (call, terminal) => (await import('../events.ts')).events(call, terminal),
};
