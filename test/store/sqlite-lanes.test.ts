// Rows that claims, batches and fan-outs write, which the port alone does not show.
import { strict as assert } from 'node:assert';
import { describe, it } from 'node:test';
import type { App } from '../../src/core/domain/app.ts';
import { never } from '../../src/core/domain/lane.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Offer, WorkOffers } from '../../src/store/port/delivery-verbs.ts';
import type { EditInput } from '../../src/store/port/store.ts';
import { callback, newKey, newSubscription } from './subject.ts';
import { settlementOf } from './settlement.ts';
import type { Opened } from './open-memory.ts';
import { newId, openMemory } from './open-memory.ts';

describe('the healthy path', () => {
  it('does not write lane rows', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app, '*');
    opened.db.exec(`create trigger untouched before update on lane
      begin select raise(abort, 'a lane row was written'); end`);
    const { fresh } = publish(opened, app, offer());
    assert.equal(fresh.length, 1);
    const [one] = fresh;
    assert(one);
    const settlement = settlementOf({ ...one, lease: offer().lease }, 'delivered', 0);
    assert.deepEqual(opened.work({ settlements: [settlement] }).settled, [{ kind: 'settled' }]);
  });
});

describe('a claim', () => {
  it('does not change full lanes, and skips any number of them', () => {
    const opened = openMemory();
    const app = addApp(opened);
    const full = limits.claimLanesMax + 5;
    for (let i = 0; i < full; i += 1) subscribe(opened, app, 'a');
    publishAs(opened, app, 'a'); // So many that it needs a large fan-out.
    while (opened.work({ fanOut: offer({ room: 0 }) }).fannedOut.isMore);
    opened.clock.ms += 5;
    subscribe(opened, app, 'b');
    publishAs(opened, app, 'b');
    const before = lanes(opened);
    const free = new Map(before.slice(0, full).map(({ no }) => [Number(no), 0]));
    opened.clock.ms += 5;
    const { claimed, readyMs } = opened.work({ claim: offer({ free }) });
    assert.deepEqual(
      claimed.map(({ eventName }) => eventName),
      ['b'],
    );
    assert.equal(readyMs, undefined);
    assert.deepEqual(lanes(opened).slice(0, full), before.slice(0, full));
  });

  it('and a fan-out in the same cycle share the window and its lanes', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app, 'a');
    subscribe(opened, app, 'b');
    publishAs(opened, app, 'b');
    beginFanOut(opened, app, ['a', 'b']);
    const one = opened.work({ claim: offer({ room: 1 }), fanOut: offer({ room: 1 }) });
    assert.equal(one.claimed.length, 1);
    assert.deepEqual(one.fannedOut.deliveries, []);

    beginFanOut(opened, app, ['b']);
    opened.db.exec(`update lane set ready_ms = ${never}`);
    opened.db.exec('delete from delivery_live');
    publishAs(opened, app, 'b');
    const room = { room: 9, laneRoom: 1 };
    const two = opened.work({ claim: offer(room), fanOut: offer(room) });
    assert.equal(two.claimed.length, 1);
    assert.deepEqual(two.fannedOut.deliveries, [], 'the claim has filled its lane');
  });
});

describe('a batch', () => {
  it('shares the window and its lanes among fresh, claimed and fanned-out deliveries', () => {
    const opened = openMemory();
    const app = addApp(opened);
    for (const name of ['a', 'b', 'c']) subscribe(opened, app, name);
    publishAs(opened, app, 'b');
    beginFanOut(opened, app, ['a', 'b', 'c']);
    const room = { laneRoom: 1 };
    const workOffers = {
      claim: offer({ ...room, lease: 2 }),
      fanOut: offer({ ...room, lease: 3 }),
    };
    const { fresh, worked, nextWork } = publish(opened, app, offer(room), { workOffers });
    assert.deepEqual(
      [fresh, worked?.claimed ?? [], worked?.fannedOut.deliveries ?? []].map((each) =>
        each.map(({ lane }) => lane),
      ),
      [[1], [2], [3]],
      'one of each lane',
    );
    assert.deepEqual(
      [...(worked?.claimed ?? []), ...(worked?.fannedOut.deliveries ?? [])].map(
        ({ lease }) => lease,
      ),
      [2, 3],
    );
    assert.deepEqual(nextWork, { readyMs: worked?.readyMs, isFanningOut: false });
    const { count } = opened.db.prepare('select count(*) as count from delivery_live').get() ?? {};
    assert.equal(count, 5, 'the others stay pending');
  });

  it('does not exceed the total room', () => {
    const opened = openMemory();
    const app = addApp(opened);
    for (const name of ['a', 'b']) subscribe(opened, app, name);
    publishAs(opened, app, 'b');
    const one = { room: 1 };
    const workOffers = { claim: offer(one), fanOut: undefined };
    const { fresh, worked } = publish(opened, app, offer(one), { workOffers });
    assert.deepEqual([fresh.length, worked?.claimed], [1, []]);
  });
});

describe('a callback with several patterns', () => {
  it('gets one delivery per event, from a publish or a fan-out', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app, 'a');
    opened.db.exec(`insert into pattern (app, contract, pattern, callback, born, lane)
      select app, contract, '*', callback, born, lane from pattern`);
    assert.equal(publishAs(opened, app, 'a'), 1);
    beginFanOut(opened, app, ['a', '*']);
    assert.equal(opened.work({ fanOut: offer() }).fannedOut.isMore, false);
    assert.deepEqual(
      opened.db
        .prepare('select deliveries from event order by no')
        .all()
        .map(({ deliveries }) => deliveries),
      [1, 1],
    );
  });
});

describe('the schema of deliveries', () => {
  it('refuses rows that violate an invariant', () => {
    const opened = openMemory();
    const app = addApp(opened);
    subscribe(opened, app, '*');
    publishAs(opened, app, 'a');
    const done = "'x', 0, 1, 1, 1, ?, 1, null, null, 1, 1";
    for (const sql of [
      "update event set id = 'short'",
      "update event set name = ''",
      'update event set deliveries = -1',
      'update event set slice = 0',
      'update delivery_live set n = -1',
      'update delivery_live set tries = 1, attempts = 0',
      'update delivery_live set lease = 0',
      'update delivery_live set due_ms = -1',
      `insert into delivery_done values (${done.replace('?', '0')})`,
      `insert into delivery_done values (${done.replace('?', '4')})`,
      "insert into attempt values ('x', 0, 0, 1, 1, 1, 200, null, '{}', null)",
      "insert into attempt values ('x', 0, 1, 1, 1, -1, 200, null, '{}', null)",
      "insert into attempt values ('x', 0, 1, 1, 1, 1, 99, null, '{}', null)",
      "insert into response values (1, 'x', 0, 1, '{', null)",
      `insert into fanout (event, app, contract, version, names)
        values ('nothing', 1, 'Ringback', 1, '[]')`,
      "insert into node (name, role, version, started_ms, seen_ms, gone) values ('', '', '', 1, 1, 2)",
    ]) {
      assert.throws(() => opened.db.exec(sql), { message: /constraint failed/ }, sql);
    }
  });

  it('never reuses the number of a node', () => {
    const opened = openMemory();
    const input = { name: 'here', role: 'all', version: '1', aloneHere: true } as const;
    const first = opened.edit('startNode', input);
    opened.db.exec('delete from node');
    assert(opened.edit('startNode', input).node > first.node);
  });
});

function offer(changes: Partial<Offer> = {}): Offer {
  return { lease: 1, room: 9, free: new Map(), inFlight: new Map(), laneRoom: 8, ...changes };
}

function addApp({ edit }: Opened): App {
  const id = newId();
  const output = edit('createApp', { id, name: id, key: newKey() });
  assert(output.kind === 'created');
  return output.app;
}

function subscribe({ edit }: Opened, app: App, pattern: string): void {
  const subscription = newSubscription(app, { callbacks: [callback(0, pattern)] });
  edit('subscribe', { subscription, idempotency: undefined });
}

function publish(
  opened: Opened,
  app: App,
  room: Offer,
  { name = 'a', workOffers }: { name?: string; workOffers?: WorkOffers } = {},
) {
  const input: EditInput<'publish'> = {
    appNo: app.no,
    contract: 'Ringback',
    events: [{ id: newId(), name, payload: Buffer.from('1') }],
    audience: { kind: 'everyone' },
    idempotency: undefined,
  };
  const { output, ...rest } = opened.offering(room, 'publish', input, workOffers);
  assert(output.kind === 'accepted');
  return { ...rest, deliveries: output.events[0]?.deliveries };
}

function publishAs(opened: Opened, app: App, name: string): number | undefined {
  return publish(opened, app, offer({ room: 0 }), { name }).deliveries;
}

function beginFanOut({ db }: Opened, app: App, names: readonly string[]): void {
  const id = newId();
  db.prepare(
    `insert into event (id, app, name, slice, created_ms, payload) values (?, ?, 'a', 1, 1, x'31')`,
  ).run(id, app.no);
  db.prepare(
    `insert into fanout (event, app, contract, version, names)
     select ?, no, 'Ringback', version, ? from app where no = ?`,
  ).run(id, JSON.stringify(names), app.no);
}

function lanes({ db }: Opened) {
  return db.prepare('select no, ready_ms, gate_ms from lane order by no').all();
}
