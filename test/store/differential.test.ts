// The same random sequences of commands on SQLite and on PostgreSQL: after every command every reply and
// every row of every table is the same. A failure prints its seed and path: give both to fc.assert to
// see it again, and leave out `endOnFailure` to have it made shorter, which takes some minutes.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { limits } from '../../src/core/limits.ts';
import { command } from './twin-commands.ts';
import { Player } from './twin-player.ts';
import { Twins } from './twins.ts';

/**
 * A sequence costs some 45 ms of computing, half of it in PostgreSQL: 1,000 of them took 55 to 82 s on two
 * cores with three to five times as much to do. `npm run soak` runs more.
 */
const sequences = Number(process.env['RINGBACK_SEQUENCES'] ?? 1_000);
/** Much of the time goes by while one side waits for the other, so several pairs go side by side. */
const pairs = 4;

describe('SQLite and PostgreSQL', { concurrency: pairs }, () => {
  for (let pair = 1; pair <= pairs; pair += 1) {
    it(`do the same in any sequence of commands (${pair} of ${pairs})`, async () => {
      await using twins = await Twins.open();
      await fc.assert(
        fc.asyncProperty(fc.array(command, { maxLength: 24, size: 'max' }), async (commands) => {
          const player = new Player(twins);
          await player.begin();
          for (const each of commands) await player.run(each);
        }),
        { numRuns: Math.ceil(sequences / pairs), endOnFailure: true },
      );
    });
  }

  it('do the same in a large fan-out', async () => {
    await using twins = await Twins.open();
    const player = new Player(twins);
    await player.begin();
    await player.crowd(limits.targetsAtOnceMax + limits.fanOutStepMax);
    const publish = { kind: 'publish', app: 0, name: 'a', events: 2 } as const;
    await player.run({
      kind: 'edits',
      edits: [
        { ...publish, idempotency: { key: 0, print: 0 } },
        { ...publish, idempotency: undefined },
      ],
      room: 5,
      node: 0,
    });
    const work = { kind: 'work' as const, from: 0, settle: [], isFanningOut: true, node: 0 };
    let steps = 0;
    for (; twins.table('fanout').length > 0; steps += 1) {
      assert(steps < 100, 'a fan-out does not end');
      const claim = steps % 2 === 0 ? { room: 8, laneRoom: 2 } : undefined;
      await player.run({ ...work, claim });
      if (steps === 1) await player.run({ kind: 'edits', edits: [unsubscribe], room: 0, node: 0 });
    }
    assert(steps > 4);
    assert(twins.table('delivery_live').length > 1_500);
  });
});

const unsubscribe = { kind: 'unsubscribe', who: 3 } as const;
