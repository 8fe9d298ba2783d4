// Declares `ringback retry`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';

export const retry: Command = {
  name: 'retry',
  group: 'use',
  summary: 'sends deliveries again that are named',
  usage: ['ringback retry DLV…', 'ringback retry -'],
  about:
    'A dead delivery goes on, with its schedule from the start. A delivered or cancelled one gets a ' +
    'successor with the same webhook-id, so that receivers can tell. One that cannot be sent again does ' +
    'not keep the others from it. For many, ringback replay chooses by state, event and time.',
  positionals: { DLV: 'deliveries: dlv_…; "-" reads them from standard input' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'items: the delivery, the id that is under way now, or an error',
  examples: [
    { line: 'ringback retry dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0', says: 'one of them' },
    {
      line: `ringback deliveries --state dead --json | jq -r '.items[].id' | ringback retry -`,
      says: 'those of a list',
    },
  ],
  run: async (call, terminal) => (await import('../retry.ts')).retry(call, terminal),
};
