// Declares `ringback events`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { listFlags, timeFlags } from '../service/filter-flags.ts';

export const events: Command = {
  name: 'events',
  group: 'look',
  summary: 'List events, or show one with its payload',
  usage: ['ringback events [--event PATTERN] [--since WHEN]', 'ringback events EVT'],
  positionals: { EVT: 'Event to show, with its payload and deliveries' },
  flags: {
    event: {
      kind: 'text',
      placeholder: 'PATTERN',
      says: 'With this name, or matching a pattern such as order.*',
    },
    ...timeFlags,
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; with EVT, the event with its payload exactly as published',
  examples: [
    { line: 'ringback events --since 1h', says: 'List events of the last hour' },
    {
      line: `ringback events --event 'order.*' --all --json`,
      says: 'Print all order events as JSON',
    },
    { line: 'ringback events evt_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'Show one event' },
  ],
  run: async (call, terminal) => (await import('../deliveries/events.ts')).events(call, terminal),
};
