// Declares `ringback unsubscribe`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';

export const unsubscribe: Command = {
  name: 'unsubscribe',
  group: 'use',
  summary: 'End a subscription and all its callbacks',
  usage: ['ringback unsubscribe SUB'],
  about:
    'Cancels its pending deliveries. Ending a subscription that has already ended changes ' +
    'nothing. To stop only temporarily, use ringback subscriptions SUB --pause',
  positionals: { SUB: 'Subscription, as in sub_…' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'subscriberId',
  examples: [
    { line: 'ringback unsubscribe sub_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'End a subscription' },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/unsubscribe.ts')).unsubscribe(call, terminal),
};
