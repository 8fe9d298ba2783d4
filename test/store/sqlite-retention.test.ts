// Retention in SQLite below the port: the size and order of a step, and its effect on lanes.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { idMaker } from '../../src/core/base/id.ts';
import { never } from '../../src/core/domain/lane.ts';
import { limits } from '../../src/core/limits/limits.ts';
import { realWorld } from '../../src/core/base/world.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import type { EditOutput } from '../../src/store/port/store.ts';
import { callback, newKey, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import type { Opened } from './open-memory.ts';
import { openMemory } from './open-memory.ts';

const hourMs = 3_600_000;
const tables = ['response', 'attempt', 'delivery_done', 'delivery_live', 'event'] as const;

interface Stage extends Opened {
  app: App;
  newId: () => string;
  /** Subscribes to everything with that many callbacks; returns the id. */
  subscribe: (callbacks?: number) => string;
  /** Publishes to all; with an offer, its deliveries are in flight. */
  publish: (offer?: Offer) => string;
  /** Publishes, and ends every delivery after one attempt. */
  deliver: () => string;
  retain: (limit?: number) => EditOutput<'retain'>;
  counts: () => Record<(typeof tables)[number], number>;
}

function stage(): Stage {
  const opened = openMemory();
  const { db, clock, edit, offering, work } = opened;
  const newId = idMaker({ ...realWorld(), nowMs: () => clock.ms });
  const made = edit('createApp', { id: newId(), name: 'app', key: newKey() });
  assert(made.kind === 'created');
  const { app } = made;
  const publishInput = () => ({
    appNo: app.no,
    contract: 'Ringback',
    events: [{ id: newId(), name: 'a', payload: Buffer.alloc(10) }],
    audience: { kind: 'everyone' as const },
    idempotency: undefined,
  });
  return {
    ...opened,
    app,
    newId,
    subscribe: (callbacks = 1) => {
      const all = Array.from({ length: callbacks }, (_, at) => callback(at, '*'));
      const subscription = newSubscription(app, { callbacks: all });
      edit('subscribe', { subscription, idempotency: undefined });
      return subscription.id;
    },
    publish: (given = offer({ room: 0 })) => {
      const { output } = offering(given, 'publish', publishInput());
      assert(output.kind === 'accepted');
      return output.events[0]?.id ?? '';
    },
    deliver: () => {
      const given = offer({ room: 1_000 });
      const { output, fresh } = offering(given, 'publish', publishInput());
      const settlements = fresh.map((one) => settlementOf({ ...one, ...given }, 'delivered', 0));
      work({ settlements });
      assert(output.kind === 'accepted');
      return output.events[0]?.id ?? '';
    },
    retain: (limit = 500) => edit('retain', { beforeMs: clock.ms - hourMs, limit }),
    counts: () => {
      const count = (table: string) =>
        Number(db.prepare(`select count(*) as n from ${table}`).get()?.['n']);
      return {
        response: count('response'),
        attempt: count('attempt'),
        delivery_done: count('delivery_done'),
        delivery_live: count('delivery_live'),
        event: count('event'),
      };
    },
  };
}

function offer(changes: Partial<Offer> = {}): Offer {
  return { lease: 1, room: 9, free: new Map(), inFlight: new Map(), laneRoom: 8, ...changes };
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

describe('a retention step', () => {
  it('deletes at most the limit of rows in total, and an event after all its rows', () => {
    for (const limit of [1, 2, 3, 7, 40]) {
      const { subscribe, deliver, clock, retain, counts } = stage();
      for (let i = 0; i < 3; i += 1) subscribe(5);
      deliver();
      deliver();
      clock.ms += hourMs + 1;
      for (let before = counts(); total(before) > 0; before = counts()) {
        const { deleted, expired, isMore } = retain(limit);
        const after = counts();
        assert.equal(total(before) - total(after), deleted);
        assert.deepEqual([expired, deleted <= limit, deleted > 0], [0, true, true]);
        assert.equal(isMore, deleted === limit, 'a full step may not have been the last');
        if (after.event === 0)
          assert.equal(total(after), 0, 'no rows are left without their event');
      }
      assert.deepEqual(retain(limit), { expired: 0, deleted: 0, isMore: false });
    }
  });

  it('counts the rows that it expires', () => {
    const { subscribe, publish, clock, retain, counts } = stage();
    subscribe(5);
    publish();
    clock.ms += hourMs + 1;
    assert.deepEqual(retain(3), { expired: 3, deleted: 0, isMore: true });
    assert.deepEqual(retain(3), { expired: 2, deleted: 1, isMore: true });
    assert.equal(counts().delivery_live, 0);
    assert.equal(counts().event, 1);
  });

  it('lists a delivery of a half-deleted event with the name of the event', () => {
    const { subscribe, deliver, clock, retain, read, app, counts } = stage();
    subscribe(4);
    const event = deliver();
    clock.ms += hourMs + 1;
    retain(6); // Four attempts, two deliveries.
    assert.deepEqual([counts().event, counts().attempt, counts().delivery_done], [1, 0, 2]);
    const filter = { state: undefined, name: 'a', event: undefined, subscription: undefined };
    const page = { limit: 9, after: undefined };
    const { items } = read('deliveries', { appNo: app.no, page, filter });
    assert.deepEqual(
      items.map((one) => [one.event, one.eventName]),
      [
        [event, 'a'],
        [event, 'a'],
      ],
    );
  });

  it('deletes the overflow rows of attempts from before migration 0016', () => {
    const { subscribe, deliver, clock, retain, counts, db, read, app } = stage();
    subscribe(2);
    const event = deliver();
    for (const n of [0, 1]) {
      db.exec(`insert into response (event, n, k, head) select event, n, k, head from attempt
        where n = ${n}`);
    }
    db.exec('update attempt set head = null, body = null');
    clock.ms += hourMs + 1;
    assert.equal(retain(1).isMore, true);
    assert.deepEqual([counts().response, counts().attempt], [1, 2], 'first of all');
    // A half-deleted attempt is not shown.
    const shown = [0, 1].map((n) => read('attempts', { appNo: app.no, event, n }).length);
    assert.deepEqual(new Set(shown), new Set([0, 1]));
    retain();
    assert.equal(total(counts()), 0);
  });

  it('is exact to the millisecond', () => {
    const { subscribe, deliver, publish, clock, retain, counts } = stage();
    subscribe();
    publish();
    deliver();
    clock.ms += hourMs;
    const before = counts();
    assert.deepEqual(retain(), { expired: 0, deleted: 0, isMore: false });
    assert.deepEqual(counts(), before);
    clock.ms += 1;
    assert.equal(retain().expired, 2);
    assert.equal(total(counts()), 0);
  });

  it('ends early when it has deleted many bytes', () => {
    const { app, newId, edit, clock, retain, counts } = stage();
    const payload = Buffer.alloc(limits.retentionBytesMax / 4);
    for (let i = 0; i < 6; i += 1) {
      edit('publish', {
        appNo: app.no,
        contract: 'Ringback',
        events: [{ id: newId(), name: 'a', payload }],
        audience: { kind: 'everyone' },
        idempotency: undefined,
      });
    }
    clock.ms += hourMs + 1;
    assert.deepEqual(retain(), { expired: 0, deleted: 4, isMore: true });
    assert.deepEqual(retain(), { expired: 0, deleted: 2, isMore: false });
    assert.equal(counts().event, 0);
  });

  it('stops before the first event with a running delivery, and continues when that has ended', () => {
    const { subscribe, deliver, publish, clock, retain, counts, work } = stage();
    subscribe(1);
    deliver();
    const event = publish(offer({ lease: 77 }));
    deliver();
    clock.ms += hourMs + 1;
    assert.deepEqual(retain(), { expired: 0, deleted: 3, isMore: false });
    assert.equal(counts().event, 2);
    work({ settlements: [settlementOf({ event, n: 0, lease: 77 }, 'delivered', 0)] });
    assert.deepEqual(retain(), { expired: 0, deleted: 6, isMore: false });
  });

  it('refuses a limit that SQLite would treat as unlimited', () => {
    const { retain } = stage();
    for (const limit of [0, -1]) assert.throws(() => retain(limit), /Cannot retain by/);
  });

  it('does nothing while the clock says 1970', () => {
    const { subscribe, publish, deliver, clock, retain, counts } = stage();
    subscribe();
    deliver();
    publish();
    const before = counts();
    clock.ms = 5_000;
    assert.deepEqual(retain(), { expired: 0, deleted: 0, isMore: false });
    assert.deepEqual(counts(), before);
  });
});

describe('an ordered lane', () => {
  /** Its head has a retry in ten hours, with a recent event behind it. */
  function failing(): Stage & { head: string; young: string } {
    const on = stage();
    on.subscribe();
    on.db.exec('update lane set ordered = 1');
    const head = on.publish();
    on.work({ claim: offer({ lease: 5 }) });
    const dueMs = on.clock.ms + 10 * hourMs;
    on.work({
      settlements: [settlementOf({ event: head, n: 0, lease: 5 }, 'retry', dueMs, on.clock.ms)],
    });
    on.clock.ms += hourMs + 1;
    return { ...on, head, young: on.publish() };
  }

  it('continues at once when its head has expired', () => {
    const { retain, work, db, clock, young } = failing();
    assert.deepEqual(work({ claim: offer() }).claimed, []);
    assert.equal(retain().expired, 1);
    assert.equal(db.prepare('select ready_ms from lane').get()?.['ready_ms'], clock.ms);
    const { claimed } = work({ claim: offer() });
    assert.deepEqual(
      claimed.map(({ event }) => event),
      [young],
    );
  });

  it('still waits for its head when a delivery retried by hand has expired', () => {
    const on = stage();
    on.subscribe();
    on.db.exec('update lane set ordered = 1');
    const old = on.publish();
    on.work({ claim: offer({ lease: 5 }) });
    on.work({ settlements: [settlementOf({ event: old, n: 0, lease: 5 }, 'dead', 0)] });
    on.clock.ms += hourMs;
    const head = on.publish();
    on.work({ claim: offer({ lease: 6 }) });
    const dueMs = on.clock.ms + 500;
    on.work({
      settlements: [settlementOf({ event: head, n: 0, lease: 6 }, 'retry', dueMs, on.clock.ms)],
    });
    on.edit('retryDelivery', { appNo: on.app.no, event: old, n: 0 });
    on.clock.ms += 1;
    assert.equal(on.retain().expired, 1);
    assert.deepEqual(on.work({ claim: offer() }).claimed, []);
    on.clock.ms = dueMs;
    assert.equal(on.work({ claim: offer() }).claimed[0]?.event, head);
  });

  it('stays closed while its head is running, whatever expires behind it', () => {
    const on = stage();
    on.subscribe();
    on.db.exec('update lane set ordered = 1');
    const old = [on.publish(), on.publish()];
    const { claimed } = on.work({ claim: offer({ lease: 5 }) });
    assert.deepEqual(
      claimed.map(({ event }) => event),
      [old[0]],
    );
    on.clock.ms += hourMs + 1;
    const young = on.publish();
    assert.equal(on.retain().expired, 1);
    const { gate_ms, ready_ms } = on.db.prepare('select gate_ms, ready_ms from lane').get() ?? {};
    assert.deepEqual([gate_ms, ready_ms], [never, never]);
    assert.deepEqual(on.work({ claim: offer() }).claimed, []);
    const name = { event: old[0] ?? '', n: 0, lease: 5 };
    on.work({ settlements: [settlementOf(name, 'delivered', 0)] });
    assert.equal(on.work({ claim: offer() }).claimed[0]?.event, young);
  });
});

describe('a subscription that ended long ago', () => {
  const rows = ({ db }: Opened) =>
    ['pattern', 'callback', 'lane', 'subscription'].map((table) =>
      Number(db.prepare(`select count(*) as n from ${table}`).get()?.['n']),
    );
  const longMs = hourMs + limits.subscriptionKeepMs + 1;

  it('is deleted in small steps, its own row last', () => {
    const on = stage();
    const id = on.subscribe(3);
    on.subscribe();
    on.edit('unsubscribe', { appNo: on.app.no, id });
    on.edit('sweep', { limit: 99 });
    on.clock.ms += longMs;
    const seen: number[][] = [];
    for (;;) {
      const { deleted, isMore } = on.retain(2);
      assert(deleted <= 2);
      seen.push(rows(on));
      if (!isMore) break;
    }
    assert.deepEqual(seen, [
      [2, 4, 4, 2],
      [1, 3, 4, 2],
      [1, 1, 4, 2],
      [1, 1, 2, 2],
      [1, 1, 1, 1],
      [1, 1, 1, 1],
    ]);
  });

  it('is kept while it has the highest numbers, so that they are never reused', () => {
    const on = stage();
    on.subscribe();
    const id = on.subscribe();
    on.edit('unsubscribe', { appNo: on.app.no, id });
    on.edit('sweep', { limit: 99 });
    on.clock.ms += longMs;
    assert.equal(on.retain().deleted, 0);
    on.subscribe();
    assert.equal(on.retain().deleted, 4);
    assert.deepEqual(rows(on), [2, 2, 2, 2]);
    const numbers = on.db.prepare('select no from callback order by no').all();
    assert.deepEqual(
      numbers.map(({ no }) => no),
      [1, 3],
    );
  });

  it('does not block others that ended after it', () => {
    const on = stage();
    const [first, second, third] = [on.subscribe(), on.subscribe(), on.subscribe()];
    for (const id of [third, first, second]) {
      on.edit('unsubscribe', { appNo: on.app.no, id });
      on.edit('sweep', { limit: 99 });
      on.clock.ms += 1;
    }
    on.clock.ms += longMs;
    assert.equal(on.retain().deleted, 8);
    assert.equal(on.read('subscription', { appNo: on.app.no, id: third })?.state, 'ended');
  });

  it('is kept while its lanes have pending deliveries', () => {
    const on = stage();
    const id = on.subscribe();
    on.subscribe();
    on.edit('unsubscribe', { appNo: on.app.no, id });
    on.edit('sweep', { limit: 99 });
    on.db.exec('update lane set swept = 0 where no = 1');
    on.clock.ms += longMs;
    assert.equal(on.retain().deleted, 0);
    on.edit('sweep', { limit: 5 });
    assert.equal(on.retain().deleted, 4);
  });
});
