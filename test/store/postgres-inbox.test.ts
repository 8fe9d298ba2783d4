// The inbox for events published by SQL, which nodes poll.
import { strict as assert } from 'node:assert';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { never } from '../../src/core/domain/lane.ts';
import { callback, newApp, newSubscription } from './subject.ts';
import type { Stage } from './postgres-stage.ts';
import { openStage } from './postgres-stage.ts';
import { newId } from './open-memory.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(async () => stage[Symbol.asyncDispose]());

describe('takeInbox', { timeout: 300_000 }, () => {
  it('writes and locks nothing if the inbox is empty', async () => {
    const held = await stage.begin();
    await held.tx.query('lock table inbox in exclusive mode', []); // A write would block.
    assert.deepEqual(await take(60_000), []);
    await held.rollback();
  });

  it('gives an entry to one node at a time, and to another after its time is over', async () => {
    await stage.database.query(
      `select ringback.publish('a', '{}', null, (select name from ringback.app limit 1))`,
    );
    const [entry] = await take(60_000);
    assert.equal(entry?.name, 'a');
    assert.deepEqual(await take(60_000), []);
    assert.deepEqual(await take(-1), [entry]);
  });

  it('publishes an entry once, even if one batch contains it twice', async () => {
    await stage.database.query(
      `select ringback.publish('a', '{}', null, (select name from ringback.app limit 1))`,
    );
    const [entry] = await take(60_000);
    const ask = async () =>
      stage.store.edit('publish', stage.publishing('a', { inbox: entry?.no ?? 0 }));
    const replies = await Promise.all([ask(), ask()]);
    assert.deepEqual(replies.map(({ kind }) => kind).toSorted(), ['accepted', 'taken']);
    assert.equal((await stage.database.query('select from ringback.event')).length, 1);
  });

  it('keeps an entry whose publish is refused, so that it can be rejected or published again', async () => {
    const { store, database } = stage;
    const app = await newApp(store);
    const one = { callbacks: [callback(0, 'a')], subject: 'job_17' };
    for (const subscription of [
      newSubscription(app, one),
      newSubscription(app, { ...one, confirmByMs: never }),
    ]) {
      await store.edit('subscribe', { subscription, idempotency: undefined });
    }
    for (const [subject, refusal] of [
      [undefined, 'subject_missing'],
      ['job_17', 'unconfirmed'],
    ] as const) {
      await database.query(`select ringback.publish('a', '{}', null, $1)`, [app.name]);
      const [entry] = await take(60_000);
      assert(entry);
      const events = [{ id: entry.id, name: 'a', subject, payload: entry.payload }];
      const publishing = stage.publishing('a', { appNo: app.no, events, inbox: entry.no });
      assert.equal((await store.edit('publish', publishing)).kind, refusal);
      const rejected = await store.edit('rejectInbox', { no: entry.no, reason: 'is odd' });
      assert.equal(rejected.kind, 'rejected');
    }
  });
});

describe('rejectInbox', { timeout: 300_000 }, () => {
  it('reports the rejection in the same transaction, if a subscription matches', async () => {
    const { store } = stage;
    const app = await newApp(store);
    const callbacks = [callback(0, 'ringback.event.rejected')];
    for (const subscription of [undefined, newSubscription(app, { callbacks })]) {
      if (subscription !== undefined) {
        await store.edit('subscribe', { subscription, idempotency: undefined });
      }
      await stage.database.query(`select ringback.publish('a', '{}', null, '${app.name}')`);
      const [entry] = await take(60_000);
      assert(entry);
      const rejected = await store.edit('rejectInbox', { no: entry.no, reason: 'is odd' });
      assert.equal(rejected.kind, 'rejected');
      const again = await store.edit('rejectInbox', { no: entry.no, reason: 'is odd' });
      assert.equal(again.kind, 'taken');
      const notices = await store.read('notices', { writtenByMs: never, limit: 10 });
      assert.deepEqual(
        notices.map(({ name, payload }) => [name, JSON.parse(payload).eventId]),
        subscription === undefined ? [] : [['ringback.event.rejected', `evt_${entry.id}`]],
      );
    }
  });
});

describe('the subject and the customer of an entry', { timeout: 300_000 }, () => {
  it('are each kept with a rejected event if they are valid', async () => {
    const { store, database, appNo } = stage;
    const long = 'c'.repeat(10_000);
    for (const [subject, customer] of [
      ['job_17', 'cus_1'],
      ['job_17', long],
      [long, 'cus_1'],
    ]) {
      await database.query(
        `insert into ringback.inbox (id, app, name, subject, customer, payload, created_ms)
        values ($1, $2, 'a', $3, $4, '{', 1)`,
        [newId(), appNo, subject, customer],
      );
      const [entry] = await take(60_000);
      assert(entry);
      assert.deepEqual([entry.subject, entry.customer], [subject, customer]);
      await store.edit('rejectInbox', { no: entry.no, reason: 'is odd' });
      const event = await store.read('event', { appNo, id: entry.id });
      const kept = [subject, customer].map((name) => (name === long ? undefined : name));
      assert.deepEqual([event?.subject, event?.customer], kept);
    }
  });
});

async function take(forMs: number) {
  return (await stage.store.edit('takeInbox', { limit: 10, forMs })).entries;
}
