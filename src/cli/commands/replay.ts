// Declares `ringback replay`; its implementation is loaded when it runs.
import type { Command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { deliveryFlags, endedStates, listFlags } from './filter-flags.ts';

export const replay: Command = {
  name: 'replay',
  group: 'use',
  summary: 'sends many deliveries again, chosen by state, event or time',
  usage: [
    'ringback replay [--state STATE] [--event PATTERN] [--to SUB] [--since WHEN] [--yes]',
    'ringback replay list',
    'ringback replay show RPL',
    'ringback replay cancel RPL',
  ],
  about:
    'It counts what fits, asks, and shows how far it is. The service does it by itself, also after a ' +
    'restart: Ctrl+C stops the watching, not the replay. Each delivery is sent again once.',
  positionals: { RPL: 'a replay: rpl_…' },
  flags: {
    state: {
      kind: 'choice',
      placeholder: 'STATE',
      choices: endedStates,
      says: 'deliveries that ended so; ended is any way (dead)',
    },
    ...deliveryFlags,
    rate: {
      kind: 'count',
      placeholder: 'N',
      min: 1,
      max: 1_000,
      says: 'deliveries sent again in a second, at most (50)',
    },
    'dry-run': { kind: 'switch', says: 'only count' },
    yes: { kind: 'switch', says: 'do not ask' },
    'no-wait': { kind: 'switch', says: 'do not wait for its end' },
    ...listFlags,
    ...connectFlags,
  },
  takesSettings: false,
  json: 'the replay, or null where nothing fits; with --dry-run matched and isCapped; items and nextCursor of a list',
  examples: [
    { line: 'ringback replay --since 1d', says: 'all that died since yesterday' },
    {
      line: `ringback replay --event 'order.*' --status 5xx --rate 100 --yes`,
      says: 'orders that receivers failed to take, without being asked',
    },
    { line: 'ringback replay --state delivered --since 1h --dry-run', says: 'only count' },
    { line: 'ringback replay cancel rpl_01jc4t6v8m3q5r7w9x1y2z3a4b', says: 'end one that runs' },
  ],
  exitCodes: { 130: 'left with Ctrl+C while waiting; the replay goes on' },
  run: async (call, terminal) => (await import('../replay.ts')).replay(call, terminal),
};
