// What a delivery costs in the store, as ratios within one run: the whole store behind its threads
// against the bare statements in batches; a publish that matches inside its transaction against one
// with given targets; and one that evaluates 100 filters, of which one lets it pass. Prints
// medians. Run: node bench/parts/store-deliveries.ts
import { emptyMemo, type EditContext } from '../../src/store/sqlite/transaction/edit.ts';
import { strict as assert } from 'node:assert';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openEmbedded } from '../../src/store/open/open.ts';
import { applyMigrations } from '../../src/store/sqlite/schema/apply-migrations.ts';
import { connect } from '../../src/store/sqlite/connection/connect.ts';
import { prepareLanes } from '../../src/store/sqlite/publish/lanes.ts';
import { prepareMakeDelivery } from '../../src/store/sqlite/publish/make-delivery.ts';
import { matchingPatterns } from '../../src/store/rules/pattern-keys.ts';
import { prepareMatch } from '../../src/store/sqlite/publish/match.ts';
import { preparePublish, publishSql } from '../../src/store/sqlite/publish/publish.ts';
import { insertLeasesFor } from '../../src/store/rules/offer-slots.ts';
import {
  drive,
  fill,
  median,
  nameOf as nameOfLane,
  newId,
  onFatal,
  payload,
  rateOf,
  world,
} from './store-driver.ts';

const rounds = 7;
const eventsPerRound = 3_000;
const rowsPerBatch = 256;
const subscriptions = 10_000;
const lanesInUse = 50;
const filters = 100;

const migrationsDir = fileURLToPath(new URL('../../migrations/sqlite', import.meta.url));
const dirs = await Promise.all(
  Array.from({ length: 2 }, async () => mkdtemp(join(tmpdir(), 'ringback-bench-'))),
);
const [storeDir = '', rawDir = ''] = dirs;
const store = await openEmbedded({ dataDir: storeDir, world, onFatal });
const appNo = await fill(store, subscriptions);
const driver = drive(store, { appNo, lanesInUse });
const raw = connect({ path: join(rawDir, 'raw.db'), access: 'write' });
applyMigrations(raw, { database: 'raw', migrationsDir, nowMs: 1 });
copySubscriptions(raw, join(storeDir, 'ringback.db'));

const rates = {
  bare: new Array<number>(),
  fresh: new Array<number>(),
  claimed: new Array<number>(),
  matched: new Array<number>(),
  told: new Array<number>(),
  plain: new Array<number>(),
  filtered: new Array<number>(),
};
const bare = prepareBare(raw);
const publishRaw = preparePublishes(raw);
const publishTo = preparePublishTo(raw);
addFilters(raw);
for (let round = 0; round <= rounds; round += 1) {
  const rate = {
    bare: measure(bare),
    fresh: await measureStore('fresh'),
    claimed: await measureStore('claimed'),
    matched: measure(publishRaw.matched),
    told: measure(publishRaw.told),
    plain: measure(publishTo('plain')),
    filtered: measure(publishTo('filtered')),
  };
  if (round === 0) continue; // Warm-up.
  rates.bare.push(rate.bare);
  rates.fresh.push(rate.fresh);
  rates.claimed.push(rate.claimed);
  rates.matched.push(rate.matched);
  rates.told.push(rate.told);
  rates.plain.push(rate.plain);
  rates.filtered.push(rate.filtered);
}
const [bareRate, freshRate, claimedRate] = [rates.bare, rates.fresh, rates.claimed].map(median);
const [matchedRate, toldRate] = [rates.matched, rates.told].map(median);
console.log(`${subscriptions} subscriptions, events to one callback each, ${payload.length} bytes`);
console.log(`bare statements, batches of ${rowsPerBatch}: ${show(bareRate)} deliveries/s`);
console.log(`the store, leases offered: ${show(freshRate)}/s, ratio ${ratio(freshRate, bareRate)}`);
console.log(`  of which were inserted leased: ${(driver.freshShare() * 100).toFixed(0)} %`);
console.log(`the store, claimed: ${show(claimedRate)}/s, ratio ${ratio(claimedRate, bareRate)}`);
console.log(`publish that matches: ${show(matchedRate)} events/s (${micros(matchedRate)} µs)`);
console.log(`publish that is told: ${show(toldRate)} events/s (${micros(toldRate)} µs)`);
console.log(`ratio: ${ratio(matchedRate, toldRate)}`);
const paired = rates.matched.map((rate, i) => 1e6 / rate - 1e6 / (rates.told[i] ?? rate));
console.log(`matching costs ${median(paired).toFixed(1)} µs an event`);
const [plainRate, filteredRate] = [rates.plain, rates.filtered].map(median);
console.log(`publish to one: ${show(plainRate)} events/s (${micros(plainRate)} µs)`);
console.log(
  `to one of ${filters} filters: ${show(filteredRate)} events/s (${micros(filteredRate)} µs)`,
);
console.log(`ratio: ${ratio(filteredRate, plainRate)}`);
await store.close();
raw.close();
await Promise.all(dirs.map(async (dir) => rm(dir, { recursive: true })));

function measure(run: (count: number) => void): number {
  const startMs = world.monotonicMs();
  run(eventsPerRound);
  return (eventsPerRound * 1000) / (world.monotonicMs() - startMs);
}

/** From the first publish until the last delivery is settled. */
async function measureStore(way: 'fresh' | 'claimed'): Promise<number> {
  return rateOf(eventsPerRound, async () => driver.publish(eventsPerRound, way));
}

/** The rows of a delivery without rules, matching or threads: one batch in, one batch out. */
function prepareBare(db: DatabaseSync): (count: number) => void {
  const event = db.prepare(publishSql.event);
  const live = db.prepare(
    `insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
     values (?, 0, 1, ?, ?, ?, 1, 1)`,
  );
  const gone = db.prepare('delete from delivery_live where event = ? and n = 0');
  const done = db.prepare(
    `insert into delivery_done (event, n, app, lane, callback, state, attempts, code, slice, ended_ms)
     values (?, 0, 1, ?, ?, 1, 1, 200, 1, ?)`,
  );
  const attempt = db.prepare(
    `insert into attempt (event, n, k, node, started_ms, took_ms, code, head, body)
     values (?, 0, 1, 1, ?, 1, 200, '{"method":"post"}', x'6f6b')`,
  );
  return (count) => {
    for (let from = 0; from < count; from += rowsPerBatch) {
      const ids = Array.from({ length: Math.min(rowsPerBatch, count - from) }, newId);
      const nowMs = world.nowMs();
      transact(db, () => {
        for (const [i, id] of ids.entries()) {
          const lane = 1 + (i % lanesInUse);
          event.run(id, 1, nameOf(i), 1, nowMs, 1, payload);
          live.run(id, lane, lane, nowMs);
        }
      });
      transact(db, () => {
        for (const [i, id] of ids.entries()) {
          const lane = 1 + (i % lanesInUse);
          gone.run(id);
          done.run(id, lane, lane, nowMs);
          attempt.run(id, nowMs);
        }
      });
    }
  };
}

/** A publish in the transaction, either matching or with targets from a map; both read the lane. */
function preparePublishes(db: DatabaseSync) {
  const event = db.prepare(publishSql.event);
  const match = prepareMatch(db);
  const make = prepareMakeDelivery(db);
  const lanes = prepareLanes(db);
  const targets = new Map(
    Array.from({ length: lanesInUse }, (_, i) => {
      const name = nameOf(i);
      const found = match.everyone(
        { appNo, contract: 'Ringback', keys: matchingPatterns(name) },
        new Map(),
      );
      assert.equal(found.length, 1);
      return [name, found.map(({ callback, lane: { no } }) => ({ callback, lane: no }))] as const;
    }),
  );
  const told = (name: string) =>
    (targets.get(name) ?? []).map(({ callback, lane }) => {
      return { callback, lane: lanes.get(lane), filteredBy: undefined };
    });
  const matched = (name: string) =>
    match.everyone({ appNo, contract: 'Ringback', keys: matchingPatterns(name) }, new Map());
  const publishing = (find: typeof matched) => (count: number) => {
    inBatches(db, count, (i, context) => {
      const id = newId();
      const listeners = find(nameOf(i));
      event.run(id, appNo, nameOf(i), 1, context.nowMs, listeners.length, payload, null, null);
      for (const [n, one] of listeners.entries()) {
        make({ event: id, n, appNo, slice: 1, ...one }, context);
      }
    });
  };
  return { matched: publishing(matched), told: publishing(told) };
}

/** `plain` matches one callback; `filtered` matches many with filters, of which one passes. */
function addFilters(db: DatabaseSync): void {
  const hear = db.prepare(
    `insert into pattern (app, contract, pattern, callback, born, lane, filtered)
     select app, 'Ringback', ?, no, 1, lane, ? from callback where no = ?`,
  );
  const filter = db.prepare('update subscription set filter = ? where no = ?');
  hear.run('plain', 0, 1);
  for (let no = 1; no <= filters; no += 1) {
    hear.run('filtered', 1, no);
    filter.run(JSON.stringify({ '/customer/id': [`customer ${no}`] }), no);
  }
}

/** The whole verb, in batches. */
function preparePublishTo(db: DatabaseSync): (name: string) => (count: number) => void {
  const publish = preparePublish(db);
  const meant = Buffer.from(
    JSON.stringify({ customer: { id: 'customer 7' }, text: 'x'.repeat(900) }),
  );
  return (name) => (count) => {
    inBatches(db, count, (_, context) => {
      const events = [{ id: newId(), name, payload: meant }];
      const audience = { kind: 'everyone' } as const;
      const input = { appNo, contract: 'Ringback', events, audience, idempotency: undefined };
      const result = publish(input, context);
      assert(result.kind === 'accepted' && result.events[0]?.deliveries === 1);
    });
  };
}

/** Publishes in batches, then deletes the deliveries. */
function inBatches(
  db: DatabaseSync,
  count: number,
  publishOne: (i: number, context: EditContext) => void,
): void {
  for (let from = 0; from < count; from += rowsPerBatch) {
    const insertLeases = insertLeasesFor({
      lease: 1,
      room: 512,
      free: new Map(),
      inFlight: new Map(),
      laneRoom: 512,
    });
    const context = { nowMs: world.nowMs(), insertLeases, facts: [], memo: emptyMemo() };
    transact(db, () => {
      for (let i = 0; i < Math.min(rowsPerBatch, count - from); i += 1) {
        publishOne(i, context);
      }
    });
  }
  db.exec('delete from delivery_live');
}

function nameOf(i: number): string {
  return nameOfLane(i % lanesInUse);
}

function copySubscriptions(db: DatabaseSync, path: string): void {
  db.exec(`attach '${path}' as from_store`);
  for (const table of ['app', 'subscription', 'lane', 'callback', 'pattern']) {
    const columns = db
      .prepare(`select name from pragma_table_info('${table}')`)
      .all()
      .map(({ name }) => String(name))
      .join(', ');
    db.exec(`insert into ${table} (${columns}) select ${columns} from from_store.${table}`);
  }
  db.exec('detach from_store');
}

function transact(db: DatabaseSync, body: () => void): void {
  db.exec('begin immediate');
  body();
  db.exec('commit');
}

function show(rate = 0): string {
  return rate.toFixed(0);
}

function micros(rate = 1): string {
  return (1e6 / rate).toFixed(1);
}

function ratio(a = 0, b = 1): string {
  return (a / b).toFixed(2);
}
