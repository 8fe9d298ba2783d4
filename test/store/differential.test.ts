// Runs the same random sequences of commands on SQLite and on PostgreSQL. After every command, all replies and all rows of
// all tables must be the same. A failure prints its seed and path: pass both to fc.assert to repeat it, and remove
// `endOnFailure` to shrink it, which takes some minutes.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc, seed } from '../fast-check.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { command } from './differential-commands.ts';
import { Player } from './differential-player.ts';
import { StorePair } from './differential-stores.ts';

/**
 * A sequence takes about 45 ms of CPU time, half of it in PostgreSQL: 1,000 of them took 55 to 82 s on two overloaded
 * cores. `npm run soak` runs 10,000.
 */
const sequences = Number(process.env['RINGBACK_SEQUENCES'] ?? 160);
/** Several pairs run concurrently, because each side often waits for the other. */
const pairs = 4;

describe('SQLite and PostgreSQL', { concurrency: pairs }, () => {
  for (let no = 1; no <= pairs; no += 1) {
    it(`behave the same in any sequence of commands (${no} of ${pairs})`, async () => {
      await using pair = await StorePair.open();
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 24, size: 'max' }), async (commands) => {
          const player = new Player(pair);
          await player.begin();
          for (const each of commands) await player.run(each);
        }),
        // Each pair runs different sequences.
        { numRuns: Math.ceil(sequences / pairs), seed: seed * pairs + no, endOnFailure: true },
      );
    });
  }

  it('behave the same in a large fan-out', async () => {
    await using pair = await StorePair.open();
    const player = new Player(pair);
    await player.begin();
    await player.crowd(limits.targetsAtOnceMax + limits.fanOutStepMax);
    const publish = { kind: 'publish', app: 0, name: 'a', events: 2 } as const;
    await player.run({
      ...editing,
      edits: [
        { ...publish, idempotency: { key: 0, print: 0 } },
        { ...publish, idempotency: undefined },
      ],
      room: 5,
    });
    const work = { kind: 'work' as const, from: 0, settle: [], isFanningOut: true, node: 0 };
    let steps = 0;
    for (; pair.table('fanout').length > 0; steps += 1) {
      assert(steps < 100, 'a fan-out does not end');
      const claim = steps % 2 === 0 ? { room: 8, laneRoom: 2 } : undefined;
      await player.run({ ...work, claim });
      if (steps === 1) await player.run({ ...editing, edits: [unsubscribe], room: 0 });
    }
    assert(steps > 4);
    const counts = pair.table('event').map((row) => Number(row['deliveries']));
    const [all, some] = [Math.max(...counts), Math.min(...counts)];
    assert(some > 100 && all - some >= 3 * limits.callbacksPerSubscriptionMax, counts.join(' '));
  });

  it('behave the same in a replay of everything', async () => {
    await using pair = await StorePair.open();
    const player = new Player(pair);
    await player.begin();
    const publish = { kind: 'publish', app: 0, events: 3, idempotency: undefined } as const;
    const edits = [{ ...publish, name: 'a' } as const, { ...publish, name: 'a.b' } as const];
    await player.run({ ...editing, edits, room: 2 });
    await endAll(pair, player);
    const { length } = pair.table('delivery_done');
    const advance = { kind: 'advance', which: 0, limit: 4, isStale: false } as const;
    let steps = 0;
    do {
      assert((steps += 1) < 100, 'a replay does not end');
      await player.run({ ...advance, state: 'ended' });
      await player.run({ kind: 'wait', ms: 10 });
      if (steps === 2) await endAll(pair, player); // The replay must not find its own deliveries.
    } while (pair.table('replay').some((row) => row['state'] === 'running'));
    assert.deepEqual(
      pair.table('replay').map((row) => [row['replayed'], row['skipped']]),
      [[length, 0]],
    );
  });
});

/** Claims all pending deliveries, and ends them in every way. */
async function endAll(pair: StorePair, player: Player): Promise<void> {
  const outcomes = ['delivered', 'dead', 'delivered', 'cancelled'] as const;
  const settle = Array.from({ length: 12 }, (_, at) => ({
    outcome: outcomes[at % outcomes.length] ?? 'dead',
    waitMs: at,
    startedAgoMs: 0 as const,
    step: 1 as const,
    lease: 'own' as const,
    attempt: 'good' as const,
  }));
  for (let turns = 0; pair.table('delivery_live').length > 0; turns += 1) {
    assert(turns < 100, 'deliveries do not end');
    const claim = { room: 8, laneRoom: 8 };
    await player.run({ kind: 'work', from: 0, settle, claim, isFanningOut: false, node: 0 });
    await player.run({ kind: 'wait', ms: 1_000 });
  }
}

const editing = { kind: 'edits' as const, from: 0, settle: [], node: 0 };
const unsubscribe = { kind: 'unsubscribe', who: 3 } as const;
