// Slices: their sizes, and lists across them, even after clock steps.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { isCursor } from '../../src/store/sql/cursor.ts';
import type { DeliveryFilter } from '../../src/store/port/delivery-verbs.ts';
import { callback, newKey, newSubscription } from './subject.ts';
import type { Opened } from './open-memory.ts';
import { newId, openMemory } from './open-memory.ts';

const none: DeliveryFilter = {
  state: undefined,
  name: undefined,
  event: undefined,
  subscription: undefined,
};

describe('a slice', () => {
  it('ends after sliceRowsMax rows, events and deliveries counted', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app);
    const count = limits.sliceRowsMax / 2 + 3;
    for (let at = 0; at < count; at += 100) publish(opened, app, Math.min(100, count - at));
    assert.deepEqual(slices(opened), [
      { slice: 1, events: limits.sliceRowsMax / 2 },
      { slice: 2, events: 3 },
    ]);
  });

  it('continues after a restart', () => {
    const opened = openMemory();
    const app = addApp(opened);
    publish(opened, app, 3);
    const again = openMemory(opened.db);
    publish(again, app, limits.sliceRowsMax - 3);
    assert.equal(slices(again).length, 1);
    publish(again, app, 1);
    assert.deepEqual(slices(openMemory(opened.db)).at(-1), { slice: 2, events: 1 });
  });
});

describe('lists across slices', () => {
  const opened = openMemory();
  const [app, busy] = [addApp(opened), addApp(opened)];
  const subscription = subscribe(opened, app);
  subscribe(opened, busy);
  // Five slices of the app, with those of another in between; then the clock is set back a year.
  const made: string[] = [];
  for (const [index, owner] of [app, busy, app, app, busy, app, app].entries()) {
    const year = index < 4 ? '2' : '1';
    const ids = publish(opened, owner, 4, `${year}${'0'.repeat(8)}`);
    if (owner === app) made.push(...ids);
    for (const table of ['event', 'delivery_live']) {
      const name = table === 'event' ? 'id' : 'event';
      const list = ids.map((id) => `'${id}'`).join(',');
      opened.db.exec(`update ${table} set slice = ${index + 1} where ${name} in (${list})`);
    }
  }
  opened.db.exec(`delete from slice_span`);
  opened.db.exec(`insert into slice_span select slice, min(id), max(id) from event group by slice`);
  opened.db.exec(`insert into delivery_done
    select event, n, app, lane, callback, 1, 0, null, null, slice, 1 from delivery_live
    where slice in (1, 3)`);
  opened.db.exec('delete from delivery_live where slice in (1, 3)');

  for (const limit of [1, 3, 500]) {
    it(`return every event once, newest first, ${limit} at a time`, () => {
      const found: string[] = [];
      let after: string | undefined;
      do {
        const page = { limit, after };
        const { items, next } = opened.read('events', { appNo: app.no, page, name: undefined });
        found.push(...items.map(({ id }) => id));
        after = next;
      } while (after !== undefined);
      assert.deepEqual(found, newestFirst(made));
    });

    for (const filter of [
      none,
      { ...none, subscription },
      { ...none, name: 'a' },
      { ...none, state: 'due' as const },
      { ...none, state: 'delivered' as const },
      { ...none, state: 'due' as const, subscription },
      { ...none, state: 'delivered' as const, subscription },
    ]) {
      it(`return every delivery once, ${limit} at a time: ${JSON.stringify(filter)}`, () => {
        const found: string[] = [];
        let after: string | undefined;
        do {
          const page = { limit, after };
          const { items, next } = opened.read('deliveries', { appNo: app.no, page, filter });
          found.push(...items.map(({ event }) => event));
          after = next;
        } while (after !== undefined);
        const isDone = (id: string) => made.indexOf(id) < 8;
        const expected = newestFirst(made).filter(
          (id) => filter.state === undefined || isDone(id) === (filter.state === 'delivered'),
        );
        assert.deepEqual(found, expected);
      });
    }
  }

  it('have a cursor after a page that examined rows without a match', () => {
    const large = openMemory();
    const owner = addApp(large);
    large.db.exec(`insert into delivery_done
      with recursive step (i) as (select 1 union all select i + 1 from step where i < 21000)
      select '01' || printf('%024d', i), 0, ${owner.no}, 1, 1, 2, 1, 503, 'status', 1, 1 from step`);
    const filter = { ...none, status: '404' };
    const first = large.read('deliveries', page(undefined));
    assert(first.next !== undefined && isCursor(first.next, 'position'), `${first.next}`);
    assert.deepEqual(large.read('deliveries', page(first.next)), { items: [], next: undefined });

    function page(after: string | undefined) {
      return { appNo: owner.no, page: { limit: 5, after }, filter };
    }
  });

  it('examine a bounded number of rows, and continue where they stopped', () => {
    const large = openMemory();
    const owner = addApp(large);
    // Each is a separate event without a delivery.
    publish(large, owner, (2 * limits.rowsExaminedMax) / limits.indexProbeRows + 20);
    const filter = { ...none, state: 'delivered' as const };
    const input = { appNo: owner.no, page: { limit: 5, after: undefined }, filter };
    const page = large.read('deliveries', input);
    assert.deepEqual(page.items, []);
    assert(page.next !== undefined);
    let pages = 1;
    let after: string | undefined = page.next;
    while (after !== undefined) {
      after = large.read('deliveries', { ...input, page: { limit: 5, after } }).next;
      pages += 1;
    }
    assert.equal(pages, 3);
  });
});

function newestFirst(ids: readonly string[]): string[] {
  return ids.toSorted().reverse();
}

function addApp({ edit }: Opened): App {
  const id = newId();
  const output = edit('createApp', { id, name: id, key: newKey() });
  assert(output.kind === 'created');
  return output.app;
}

function subscribe({ edit }: Opened, app: App): string {
  const subscription = newSubscription(app, { callbacks: [callback(0, 'a')] });
  edit('subscribe', { subscription, idempotency: undefined });
  return subscription.id;
}

function publish({ edit }: Opened, app: App, count: number, prefix = ''): string[] {
  const events = Array.from({ length: count }, () => ({
    id: prefix + newId().slice(prefix.length),
    name: 'a',
    payload: Buffer.from('1'),
  }));
  const contract = 'Ringback';
  const audience = { kind: 'everyone' } as const;
  edit('publish', { appNo: app.no, contract, events, audience, idempotency: undefined });
  return events.map(({ id }) => id);
}

function slices({ db }: Opened) {
  return db
    .prepare('select slice, count(*) as events from event group by slice order by slice')
    .all()
    .map((row) => ({ ...row }));
}
