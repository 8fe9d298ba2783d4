// Declares `ringback subscriptions`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { listFlags, subscriptionStates } from './filter-flags.ts';

export const subscriptions: Command = {
  name: 'subscriptions',
  group: 'look',
  summary: 'shows who listens; pauses, resumes and pings one of them',
  usage: [
    'ringback subscriptions [--state STATE] [--event NAME] [--target TEXT]',
    'ringback subscriptions SUB [--pause | --resume | --ping | --secret | --rotate-secret]',
  ],
  positionals: { SUB: 'show this one, with what it has chosen and how its receiver does' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: subscriptionStates,
      says: 'only those in this state',
    },
    event: { kind: 'text', placeholder: 'NAME', says: 'only those that hear this event' },
    target: { kind: 'text', placeholder: 'TEXT', says: 'only those with this in a URL' },
    ...listFlags,
    pause: { kind: 'switch', says: 'send it nothing for a while; what is published waits' },
    resume: { kind: 'switch', says: 'go on, also after the service has disabled it' },
    ping: { kind: 'switch', says: 'send a test message, the event ringback.ping' },
    secret: { kind: 'switch', says: 'show what its receiver verifies signatures with' },
    'rotate-secret': { kind: 'switch', says: 'make a new secret; for a while both are good' },
    overlap: {
      kind: 'text',
      placeholder: 'TIME',
      says: 'how long the old secret stays good: 0s ends it at once (1d)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; of one, the subscription, or what the call answered',
  examples: [
    { line: 'ringback subscriptions', says: 'the newest 50' },
    { line: 'ringback subscriptions --state disabled', says: 'whose receivers failed for days' },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --ping',
      says: 'is its receiver there?',
    },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --rotate-secret --overlap 0s',
      says: 'the old secret is known to somebody else',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions.ts')).subscriptions(call, terminal),
};
