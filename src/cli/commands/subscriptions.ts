// Declares `ringback subscriptions`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { listFlags, subscriptionStates } from '../service/filter-flags.ts';

export const subscriptions: Command = {
  name: 'subscriptions',
  group: 'look',
  summary: 'List subscriptions; show, pause, resume or ping one',
  usage: [
    'ringback subscriptions [--state STATE] [--event NAME] [--target TEXT]',
    'ringback subscriptions SUB [--pause | --resume | --ping | --secret | --rotate-secret]',
  ],
  positionals: { SUB: 'Subscription to show, with its overrides and the health of its receiver' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: subscriptionStates,
      says: 'In this state',
    },
    event: { kind: 'text', placeholder: 'NAME', says: 'That match this event' },
    target: { kind: 'text', placeholder: 'TEXT', says: 'Whose URL contains this text' },
    ...listFlags,
    pause: { kind: 'switch', says: 'Stop sending; new deliveries stay pending' },
    resume: { kind: 'switch', says: 'Resume sending, also after the service disabled it' },
    ping: { kind: 'switch', says: 'Send a test event, ringback.ping' },
    secret: { kind: 'switch', says: 'Show the secret that its receiver verifies signatures with' },
    'rotate-secret': {
      kind: 'switch',
      says: 'Issue a new secret; the old one stays valid for a while',
    },
    overlap: {
      kind: 'text',
      placeholder: 'TIME',
      says: 'How long the old secret stays valid; 0s ends it at once (1d)',
    },
    ...connectFlags,
  },
  takesSettings: false,
  json: 'items and nextCursor; with SUB, the subscription or the response to the action',
  examples: [
    { line: 'ringback subscriptions', says: 'List the newest 50' },
    {
      line: 'ringback subscriptions --state disabled',
      says: 'List subscriptions that were disabled because their receivers kept failing',
    },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --ping',
      says: 'Check that a receiver responds',
    },
    {
      line: 'ringback subscriptions sub_01jc4t6v8m3q5r7w9x1y2z3a4b --rotate-secret --overlap 0s',
      says: 'Replace a leaked secret at once',
    },
  ],
  run: async (call, terminal) =>
    (await import('../subscriptions/subscriptions.ts')).subscriptions(call, terminal),
};
