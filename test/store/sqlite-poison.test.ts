// Unreadable rows, which only corruption can cause: each must only affect itself.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import { timeOf } from '../../src/core/base/id.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Offer } from '../../src/store/port/delivery-verbs.ts';
import { callback, newKey, newSubscription } from './subject.ts';
import { newId, openMemory, type Opened } from './open-memory.ts';

const offer: Offer = { lease: 1, room: 0, free: new Map(), inFlight: new Map(), laneRoom: 0 };
const lanes = limits.callbacksPerSubscriptionMax;

/** An app with enough callbacks that every event is fanned out in steps. */
function crowd(): Opened & { publish: () => string; fanOuts: () => string[] } {
  const opened = openMemory();
  const created = opened.edit('createApp', { id: newId(), name: 'crowd', key: newKey() });
  assert(created.kind === 'created');
  const { no: appNo } = created.app;
  for (let made = 0; made <= limits.targetsAtOnceMax; made += lanes) {
    const callbacks = Array.from({ length: lanes }, (_, position) => callback(position, '*'));
    const subscription = { ...newSubscription(created.app), callbacks };
    opened.edit('subscribe', { subscription, idempotency: undefined });
  }
  return {
    ...opened,
    publish: () => {
      const id = newId();
      opened.edit('publish', {
        appNo,
        contract: 'Ringback',
        events: [{ id, name: 'order.created', payload: Buffer.from('1') }],
        audience: { kind: 'everyone' },
        idempotency: undefined,
      });
      return id;
    },
    fanOuts: () =>
      opened.db
        .prepare('select event from fanout order by event')
        .all()
        .map(({ event }) => String(event)),
  };
}

describe('an unreadable fan-out', () => {
  it('is skipped and kept, while the others are processed', () => {
    const { publish, work, db, fanOuts } = crowd();
    const [poison, sound] = [publish(), publish()];
    db.prepare(`update fanout set names = '{"no":"list"}' where event = ?`).run(poison);
    const failures: string[] = [];
    for (let isMore = true; isMore;) {
      const { fannedOut } = work({ fanOut: offer });
      ({ isMore } = fannedOut);
      if (fannedOut.failure !== undefined) failures.push(fannedOut.failure);
    }
    assert.deepEqual(fanOuts(), [poison]);
    assert.deepEqual(failures.length, 1);
    assert.match(failures[0] ?? '', new RegExp(`"${poison}".*its names are no list`));
    const made = db.prepare('select count(*) as n from delivery_live where event = ?').get(sound);
    assert.equal(made?.['n'], Math.ceil((limits.targetsAtOnceMax + 1) / lanes) * lanes);
  });

  it('does not end the process, however many there are', () => {
    const { publish, work, db, fanOuts } = crowd();
    const many = limits.stalledFanOutsMax + 20;
    const poison = Array.from({ length: many }, publish);
    db.exec(`update fanout set names = '{"no":"list"}'`);
    const sound = publish();
    const failures: string[] = [];
    for (let isMore = true; isMore;) {
      const { fannedOut } = work({ fanOut: offer });
      ({ isMore } = fannedOut);
      if (fannedOut.failure !== undefined) failures.push(fannedOut.failure);
    }
    assert.equal(failures.length, many);
    assert.deepEqual(fanOuts(), poison);
    const made = db.prepare('select count(*) as n from delivery_live where event = ?').get(sound);
    assert.equal(made?.['n'], Math.ceil((limits.targetsAtOnceMax + 1) / lanes) * lanes);
  });

  it('does not block retention, which deletes its event', () => {
    const { publish, work, db, edit } = crowd();
    const poison = publish();
    db.exec(`update fanout set names = '{"no":"list"}'`);
    const ids = (): unknown[] =>
      db
        .prepare('select id from event')
        .all()
        .map(({ id }) => id);
    const retain = (): unknown => edit('retain', { beforeMs: timeOf(poison) + 1, limit: 500 });
    retain();
    assert.deepEqual(ids(), [poison], 'it has not been read yet');
    work({ fanOut: offer });
    retain();
    assert.deepEqual(ids(), []);
  });

  it('rolls back its step', () => {
    const { publish, work, db, fanOuts } = crowd();
    const poison = publish();
    // The next step would start with a delivery that already exists.
    work({ fanOut: offer });
    db.prepare('update fanout set made = made - 1').run();
    const count = (): unknown => db.prepare('select count(*) as n from delivery_live').get()?.['n'];
    const before = count();
    assert.notEqual(work({ fanOut: offer }).fannedOut.failure, undefined);
    assert.deepEqual([count(), fanOuts()], [before, [poison]]);
  });
});

describe('an unreadable filter', () => {
  it('does not affect other subscriptions, and its own delivery is created', () => {
    const { publish, db, work, fanOuts } = crowd();
    db.exec(`update subscription set filter = '{"/a":' where no = 1`);
    db.exec('update pattern set filtered = 1');
    const event = publish();
    while (fanOuts().length > 0) {
      assert.equal(work({ fanOut: offer }).fannedOut.failure, undefined);
    }
    const made = db.prepare('select count(*) as n from delivery_live where event = ?').get(event);
    assert.equal(made?.['n'], Math.ceil((limits.targetsAtOnceMax + 1) / lanes) * lanes);
  });
});
