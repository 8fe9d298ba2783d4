// Stretches of time: whichever slices lie side by side, all that reach into a stretch are named in it.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { prepareScripts } from '../../src/store/sqlite/run-script.ts';
import type { Script } from '../../src/store/statement.ts';
import { nextStep } from '../../src/store/verbs/fill-page.ts';
import type { Range } from '../../src/store/verbs/spans.ts';
import { walkSpans } from '../../src/store/verbs/spans.ts';
import type { Stretch } from '../../src/store/verbs/walk.ts';
import { openMemory } from './open-memory.ts';

describe('walkSpans', () => {
  const { db } = openMemory();
  const run = prepareScripts(db);
  const insert = db.prepare('insert into slice_span values (?, ?, ?)');

  it('covers the time without a gap, and names every slice where it may have anything', () => {
    // Some are long, as that of a node which was sent an old event; most are short.
    const length = fc.oneof({ weight: 9, arbitrary: fc.nat({ max: 9 }) }, fc.nat({ max: 900 }));
    const span = fc.tuple(fc.integer({ min: 1, max: 999 }), length);
    const spans = fc.uniqueArray(span, { maxLength: 200, size: 'max', selector: ([at]) => at });
    const edge = fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: undefined });
    fc.assert(
      fc.property(spans, edge, edge, (some, from, until) => {
        db.exec('delete from slice_span');
        for (const [i, [at, more]] of some.entries()) insert.run(i + 1, idOf(at), idOf(at + more));
        const below = { event: until === undefined ? '~' : idOf(until), n: 0 };
        const range = { below, from: from === undefined ? '' : idOf(from) };
        const stretches = run(stretchesIn(range));
        for (const [i, stretch] of stretches.entries()) {
          const above = stretches[i - 1];
          assert.deepEqual(
            stretch.below,
            above === undefined ? below : { event: above.from, n: 0 },
          );
        }
        for (let at = 0; at < 1_000; at += 7) {
          const id = idOf(at);
          if (id < range.from || id >= below.event) continue;
          const there = some.flatMap(([first, more], i) =>
            first <= at && at <= first + more ? [i + 1] : [],
          );
          const stretch = stretches.find((one) => id >= one.from && id < one.below.event);
          const missing = there.filter((slice) => !stretch?.slices.includes(slice));
          assert.deepEqual(missing, [], `slices at ${at}`);
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});

function* stretchesIn(range: Range): Script<Stretch[]> {
  const walk = walkSpans(range);
  const found: Stretch[] = [];
  for (;;) {
    const one = yield* nextStep(walk);
    if (one === undefined) return found;
    assert('from' in one);
    found.push(one);
  }
}

function idOf(at: number): string {
  return String(at).padStart(26, '0');
}
