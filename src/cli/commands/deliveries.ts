// Declares `ringback deliveries`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { deliveryFlags, deliveryStates, listFlags } from '../service/filter-flags.ts';

export const deliveries: Command = {
  name: 'deliveries',
  group: 'look',
  summary: 'List deliveries, or show one with its attempts',
  usage: [
    'ringback deliveries [--state STATE] [--event PATTERN] [--to SUB] [--since WHEN]',
    'ringback deliveries DLV',
    'ringback deliveries --watch',
  ],
  positionals: { DLV: 'Delivery to show, with the request and response of each attempt' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: deliveryStates,
      says: 'In this state; pending is due or running, retrying is pending after a failed attempt',
    },
    'event-id': { kind: 'text', placeholder: 'EVT', says: 'Of this event' },
    ...deliveryFlags,
    watch: { kind: 'switch', says: 'Follow changes as they happen; Ctrl+C ends it' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json:
    'items and nextCursor; with DLV, the delivery and its attempts; with --watch, one ' +
    'line per change',
  examples: [
    {
      line: 'ringback deliveries --state dead --since 1d',
      says: 'List what was dead-lettered since yesterday',
    },
    {
      line: 'ringback deliveries --status 5xx',
      says: 'List deliveries whose last response was a server error',
    },
    {
      line: 'ringback deliveries dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0',
      says: 'Show one delivery and why it failed',
    },
    {
      line: `ringback deliveries --watch --event 'order.*'`,
      says: 'Follow deliveries of order events',
    },
  ],
  run: async (call, terminal) =>
    (await import('../deliveries/deliveries.ts')).deliveries(call, terminal),
};
