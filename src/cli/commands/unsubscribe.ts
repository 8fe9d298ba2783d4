// Declares `ringback unsubscribe`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';

export const unsubscribe: Command = {
  name: 'unsubscribe',
  group: 'use',
  summary: 'ends a subscription with all its callbacks',
  usage: ['ringback unsubscribe SUB'],
  about:
    'What waits for it is cancelled. Ending it again changes nothing. To stop for a while only: ' +
    'ringback subscriptions SUB --pause',
  positionals: { SUB: 'a subscription: sub_…' },
  flags: { ...connectFlags },
  takesSettings: false,
  json: 'subscriberId',
  examples: [
    { line: 'ringback unsubscribe sub_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'nothing more is sent' },
  ],
  run: async (call, terminal) => (await import('../unsubscribe.ts')).unsubscribe(call, terminal),
};
