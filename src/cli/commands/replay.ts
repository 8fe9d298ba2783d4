// Declares `ringback replay`; its implementation is loaded when it runs.
import type { Command } from '../declare/command.ts';
import { connectFlags } from '../service/connect.ts';
import { deliveryFlags, endedStates, listFlags } from '../service/filter-flags.ts';

export const replay: Command = {
  name: 'replay',
  group: 'use',
  summary: 'Send many deliveries again, selected by state, event or time',
  usage: [
    'ringback replay [--state STATE] [--event PATTERN] [--to SUB] [--since WHEN] [--yes]',
    'ringback replay list',
    'ringback replay show RPL',
    'ringback replay cancel RPL',
  ],
  about:
    'Counts the matching deliveries, asks for confirmation and shows progress. The ' +
    'service runs the replay in the background and resumes it after a restart: Ctrl+C ' +
    'stops watching, not the replay. Each delivery is sent again once.',
  positionals: { RPL: 'Replay, as in rpl_…' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: endedStates,
      says: 'Deliveries that ended in this state; ended means any of them (dead)',
    },
    ...deliveryFlags,
    rate: {
      kind: 'count',
      placeholder: 'N',
      min: 1,
      max: 1_000,
      says: 'Send at most N deliveries per second (50)',
    },
    'dry-run': { kind: 'switch', says: 'Only count the matching deliveries' },
    yes: { kind: 'switch', says: 'Skip the confirmation' },
    'no-wait': { kind: 'switch', says: 'Do not wait for the replay to end' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json:
    'the replay, or null if nothing matches; with --dry-run, matched and isCapped; for ' +
    'list, items and nextCursor',
  examples: [
    { line: 'ringback replay --since 1d', says: 'Resend everything dead-lettered since yesterday' },
    {
      line: `ringback replay --event 'order.*' --status 5xx --rate 100 --yes`,
      says: 'Resend order events that receivers rejected, without confirmation',
    },
    {
      line: 'ringback replay --state delivered --since 1h --dry-run',
      says: 'Count without sending',
    },
    {
      line: 'ringback replay cancel rpl_01jc4t6v8m3q5r7w9x1y2z3a4b',
      says: 'Cancel a running replay',
    },
  ],
  exitCodes: { 130: 'Interrupted with Ctrl+C while waiting; the replay continues' },
  run: async (call, terminal) => (await import('../deliveries/replay.ts')).replay(call, terminal),
};
