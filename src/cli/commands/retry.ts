// Declares `ringback retry`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';

export const retry: Command = {
  name: 'retry',
  group: 'use',
  summary: 'Send the given deliveries again',
  usage: ['ringback retry DLV…', 'ringback retry -'],
  about:
    'A dead-lettered delivery becomes pending again, with its retry schedule restarted. A ' +
    'delivered or cancelled one gets a successor with the same webhook-id, so that ' +
    'receivers can recognize it. If one delivery cannot be sent again, the others still ' +
    'are. To select many by state, event or time, use ringback replay.',
  positionals: { DLV: 'Deliveries, as in dlv_…; "-" reads them from standard input' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'items: the delivery, the id that is now pending, or an error',
  examples: [
    { line: 'ringback retry dlv_01jc4t6v8m3q5r7w9x1y2z3a4b_0', says: 'Resend one delivery' },
    {
      line: `ringback deliveries --state dead --json | jq -r '.items[].id' | ringback retry -`,
      says: 'Resend the deliveries of a list',
    },
  ],
  run: async (call, terminal) => (await import('../deliveries/retry.ts')).retry(call, terminal),
};
