// Declares `ringback deliveries`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { deliveryFlags, deliveryStates, listFlags } from './filter-flags.ts';

export const deliveries: Command = {
  name: 'deliveries',
  group: 'look',
  summary: 'shows events on their way, and every attempt of one',
  usage: [
    'ringback deliveries [--state STATE] [--event PATTERN] [--to SUB] [--since WHEN]',
    'ringback deliveries DLV',
    'ringback deliveries --watch',
  ],
  positionals: { DLV: 'show this one, with what each attempt sent and got back' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: deliveryStates,
      says: 'in this state; pending is due or running, retrying is pending after a failure',
    },
    'event-id': { kind: 'text', placeholder: 'EVT', says: 'of this one event' },
    ...deliveryFlags,
    watch: { kind: 'switch', says: 'follow them as they change, until Ctrl+C' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; of one, the delivery with its attempts; with --watch a line for each change',
  examples: [
    {
      line: 'ringback deliveries --state dead --since 1d',
      says: 'what nobody got since yesterday',
    },
    { line: 'ringback deliveries --status 5xx', says: 'where receivers failed' },
    { line: 'ringback deliveries dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0', says: 'why it failed' },
    { line: `ringback deliveries --watch --event 'order.*'`, says: 'as it happens' },
  ],
  run: async (call, terminal) => (await import('../deliveries.ts')).deliveries(call, terminal),
};
