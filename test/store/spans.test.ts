// Ranges of a search: each names all slices that overlap it, however they lie.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { fc } from '../fast-check.ts';
import type { App } from '../../src/core/domain/app.ts';
import { firstIdAt } from '../../src/core/base/id.ts';
import { insertLeasesFor } from '../../src/store/rules/offer-slots.ts';
import { emptyMemo } from '../../src/store/sqlite/transaction/edit.ts';
import { preparePublish } from '../../src/store/sqlite/publish/publish.ts';
import { prepareScripts } from '../../src/store/sqlite/transaction/run-script.ts';
import type { Script } from '../../src/store/sql/statement.ts';
import { nextStep } from '../../src/store/verbs/lists/fill-page.ts';
import type { Range } from '../../src/store/verbs/lists/slices-in-time.ts';
import { rangesInTime } from '../../src/store/verbs/lists/slices-in-time.ts';
import type { SearchRange } from '../../src/store/verbs/lists/search-walk.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { newKey } from './subject.ts';
import type { Opened } from './open-memory.ts';
import { newId, openMemory } from './open-memory.ts';

const dayMs = 24 * 60 * 60_000;

describe('the span of a slice', () => {
  it('is written a few times per slice, and covers its events', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const spans = () => opened.db.prepare('select * from slice_span').all();
    const seen = new Set<string>();
    for (let second = 0; second < 500; second += 1) {
      opened.clock.ms += 1_000;
      const id = firstIdAt(opened.clock.ms);
      publish(opened, app, id);
      const [span] = spans();
      assert(String(span?.['first_event']) <= id && id <= String(span?.['last_event']));
      seen.add(String(span?.['last_event']));
    }
    assert(seen.size < 12, `it was written ${seen.size} times`);
    assert.equal(spans().length, 1);
  });

  it('covers an event older than the others, and one after a rollback', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const span = () => ({ ...opened.db.prepare('select * from slice_span').get() });
    publish(opened, app, firstIdAt(opened.clock.ms));
    const old = firstIdAt(opened.clock.ms - dayMs);
    opened.db.exec('begin');
    publishAlone(opened, app, old);
    opened.db.exec('rollback');
    assert.notEqual(span()['first_event'], old);
    publish(opened, app, old);
    assert.equal(span()['first_event'], old);
  });

  it('is deleted a day after its events, and the others are kept', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const first = opened.clock.ms;
    publish(opened, app, firstIdAt(first));
    opened.db.exec('insert into slice_span select 99, first_event, last_event from slice_span');
    opened.clock.ms += 10 * dayMs;
    publish(opened, app, firstIdAt(opened.clock.ms));
    const slices = () => opened.db.prepare('select slice from slice_span').all().length;
    const retain = (beforeMs: number) => opened.edit('retain', { beforeMs, limit: 100 });
    retain(first + dayMs);
    assert.equal(slices(), 2);
    retain(first + 3 * dayMs);
    assert.equal(slices(), 1);
    retain(opened.clock.ms + 3 * dayMs);
    assert.equal(slices(), 1, 'without events, none is older than all events');
  });
});

describe('rangesInTime', () => {
  const { db } = openMemory();
  const run = prepareScripts(db);
  const insert = db.prepare('insert into slice_span values (?, ?, ?)');

  it('covers the time without gaps, and names every slice that may have events', () => {
    // Some are long, as after an event with an old id; most are short.
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
        const ranges = run(rangesIn(range));
        for (const [i, one] of ranges.entries()) {
          const above = ranges[i - 1];
          assert.deepEqual(one.below, above === undefined ? below : { event: above.from, n: 0 });
        }
        for (let at = 0; at < 1_000; at += 7) {
          const id = idOf(at);
          if (id < range.from || id >= below.event) continue;
          const there = some.flatMap(([first, more], i) =>
            first <= at && at <= first + more ? [i + 1] : [],
          );
          const found = ranges.find((one) => id >= one.from && id < one.below.event);
          const missing = there.filter((slice) => !found?.slices.includes(slice));
          assert.deepEqual(missing, [], `slices at ${at}`);
        }
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });
});

function addApp({ edit }: Opened): App {
  const id = newId();
  const output = edit('createApp', { id, name: id, key: newKey() });
  assert(output.kind === 'created');
  return output.app;
}

function publish({ edit }: Opened, app: App, id: string): void {
  edit('publish', inputOf(app, id));
}

/** Publishes in a transaction of the test. */
function publishAlone({ db, clock }: Opened, app: App, id: string): void {
  const context = {
    nowMs: clock.ms,
    insertLeases: insertLeasesFor(undefined),
    facts: [],
    memo: emptyMemo(),
  };
  preparePublish(db)(inputOf(app, id), context);
}

function inputOf(app: App, id: string): EditInput<'publish'> {
  return {
    appNo: app.no,
    contract: 'Ringback',
    events: [{ id, name: 'a', payload: Buffer.from('1') }],
    audience: { kind: 'everyone' },
    idempotency: undefined,
  };
}

function* rangesIn(range: Range): Script<SearchRange[]> {
  const walk = rangesInTime(range);
  const found: SearchRange[] = [];
  for (;;) {
    const one = yield* nextStep(walk);
    if (one === undefined) return found;
    assert('from' in one);
    found.push(one);
  }
}

/** An id by time; an era spans a hundred of these. */
function idOf(at: number): string {
  return String(at).padStart(7, '0').padEnd(26, '0');
}
