// Random sequences of commands on the in-memory adapter, compared with a model. A failure prints its seed: pass it to
// fc.assert as { seed, path } to repeat it.
import { describe, it } from 'node:test';
import { fc } from '../fast-check.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { chosen, name, outcome, pattern, room, which, who } from './command-parts.ts';
import type { Command } from './model-commands.ts';
import { Model } from './delivery-model.ts';

const command = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('subscribe' as const),
      pattern,
      ...chosen,
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('choose' as const), who, ...chosen }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('publish' as const),
      name,
      events: fc.integer({ min: 1, max: 3 }),
      room,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('address' as const),
      who,
      how: fc.constantFrom('subscription', 'all_callbacks'),
      room,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('beginFanOut' as const), name }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('work' as const),
      room: fc.nat(8),
      laneRoom: fc.nat(3),
      fanOut: fc.boolean(),
      settle: fc.array(outcome, { maxLength: 4 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      which,
      outcome,
      waitMs: fc.nat(5_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('settleStale' as const), which, outcome }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('hold', 'resume', 'resume', 'unsubscribe'), who }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('retry' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('sweep' as const),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('retain' as const),
      ageMs: fc.nat(60_000),
      limit: fc.integer({ min: 1, max: 30 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('tidyStatistics' as const),
      limit: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'startNode' as const }) },
  {
    weight: 1,
    arbitrary: fc.constant({ kind: 'wait' as const, ms: 2 * limits.subscriptionKeepMs }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(40_000) }) },
);

const plain = { ordered: false, rate: undefined, concurrency: undefined };
const beginning: Command[] = [
  { kind: 'subscribe', pattern: '*', ...plain },
  { kind: 'subscribe', pattern: 'a.*', ...plain, ordered: true },
];

describe('any sequence of commands', () => {
  it('obeys the rules of the lanes, loses nothing, and ends', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60, size: 'max' }), (commands) => {
        const model = new Model();
        for (const one of [...beginning, ...commands]) model.run(one);
        model.heal();
        model.outlive();
      }),
      { numRuns: 150 },
    );
  });
});
