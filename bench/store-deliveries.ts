// What a delivery costs in the store, as ratios within one run: through the whole store behind its
// threads, against the bare statements in batches; and a publish that matches inside its transaction,
// against one that is told its targets. Prints medians. Run: node bench/store-deliveries.ts
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import type { Leased } from '../src/core/delivery.ts';
import { idMaker } from '../src/core/id.ts';
import { limits } from '../src/core/limits.ts';
import { realWorld } from '../src/core/world.ts';
import type { Offer, Settlement } from '../src/store/delivery-verbs.ts';
import { openEmbedded } from '../src/store/open.ts';
import { applyMigrations } from '../src/store/sqlite/apply-migrations.ts';
import { connect } from '../src/store/sqlite/connect.ts';
import { prepareLanes } from '../src/store/sqlite/lanes.ts';
import { prepareMakeDelivery } from '../src/store/sqlite/make-delivery.ts';
import { prepareMatch } from '../src/store/sqlite/match.ts';
import { publishSql } from '../src/store/sqlite/publish.ts';
import { birthsFor } from '../src/store/slots.ts';
import type { Store } from '../src/store/store.ts';

const rounds = 7;
const eventsPerRound = 3_000;
const rowsPerBatch = 256;
const callers = 256;
const subscriptions = 10_000;
const lanesInUse = 50;

const world = realWorld();
const newId = idMaker(world);
const payload = Buffer.alloc(500, 'x');
const migrationsDir = fileURLToPath(new URL('../migrations/sqlite', import.meta.url));
const onFatal = (error: Error): void => {
  throw error;
};

const dirs = await Promise.all(
  Array.from({ length: 2 }, async () => mkdtemp(join(tmpdir(), 'ringback-bench-'))),
);
const [storeDir = '', rawDir = ''] = dirs;
const store = await openEmbedded({ dataDir: storeDir, world, onFatal });
const appNo = await fill(store);
const dispatcher = attach(store);
const raw = connect({ path: join(rawDir, 'raw.db'), access: 'write' });
applyMigrations(raw, { database: 'raw', migrationsDir, nowMs: 1 });
copySubscriptions(raw, join(storeDir, 'ringback.db'));

const rates = {
  bare: new Array<number>(),
  fresh: new Array<number>(),
  claimed: new Array<number>(),
  matched: new Array<number>(),
  told: new Array<number>(),
};
const bare = prepareBare(raw);
const publishRaw = preparePublishes(raw);
for (let round = 0; round <= rounds; round += 1) {
  const rate = {
    bare: measure(bare),
    fresh: await measureStore('fresh'),
    claimed: await measureStore('claimed'),
    matched: measure(publishRaw.matched),
    told: measure(publishRaw.told),
  };
  if (round === 0) continue; // Warm up.
  for (const key of ['bare', 'fresh', 'claimed', 'matched', 'told'] as const) {
    rates[key].push(rate[key]);
  }
}
const [bareRate, freshRate, claimedRate] = [rates.bare, rates.fresh, rates.claimed].map(median);
const [matchedRate, toldRate] = [rates.matched, rates.told].map(median);
console.log(`${subscriptions} subscriptions, events to one callback each, ${payload.length} bytes`);
console.log(`bare statements, batches of ${rowsPerBatch}: ${show(bareRate)} deliveries/s`);
console.log(`the store, born leased: ${show(freshRate)}/s, ratio ${ratio(freshRate, bareRate)}`);
console.log(`the store, claimed: ${show(claimedRate)}/s, ratio ${ratio(claimedRate, bareRate)}`);
console.log(`publish that matches: ${show(matchedRate)} events/s (${micros(matchedRate)} µs)`);
console.log(`publish that is told: ${show(toldRate)} events/s (${micros(toldRate)} µs)`);
console.log(`ratio: ${ratio(matchedRate, toldRate)}`);
const paired = rates.matched.map((rate, i) => 1e6 / rate - 1e6 / (rates.told[i] ?? rate));
console.log(`matching costs ${median(paired).toFixed(1)} µs an event`);
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
  const startMs = world.monotonicMs();
  const ended = dispatcher.expect(eventsPerRound, way);
  let left = eventsPerRound;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (left > 0) {
        left -= 1;
        await store.edit('publish', {
          appNo,
          contract: 'Ringback',
          events: [{ id: newId(), name: nameOf(left), payload }],
          audience: { kind: 'everyone' },
          idempotency: undefined,
        });
      }
    }),
  );
  await ended;
  return (eventsPerRound * 1000) / (world.monotonicMs() - startMs);
}

interface BenchDispatcher {
  expect(count: number, way: 'fresh' | 'claimed'): Promise<void>;
}

/** Every receiver answers at once; the window is as in the engine. */
function attach(to: Store): BenchDispatcher {
  let leases = 2 ** 32;
  let underWay = 0;
  let left = 0;
  let isFresh = true;
  let done = Promise.withResolvers<void>();
  const offer = (max: number): Offer | undefined => {
    if (underWay >= max) return undefined;
    leases += 1;
    return { lease: leases, room: max - underWay, free: new Map(), laneRoom: 128 };
  };
  const finishAll = (all: readonly Leased[]): void => {
    underWay += all.length;
    for (const leased of all) finish(leased).catch(onFatal);
  };
  const finish = async (leased: Leased): Promise<void> => {
    await to.settle(delivered(leased));
    underWay -= 1;
    left -= 1;
    to.work();
    if (left === 0) done.resolve();
  };
  to.attach({
    offer: () => (isFresh ? offer(limits.windowMax) : undefined),
    take: (born) => {
      finishAll(born);
      to.work();
    },
    claim: () => offer(limits.windowClaimedMax),
    fanOut: () => undefined,
    wake: () => undefined,
    refused: () => done.reject(new Error('Cannot measure: the store failed')),
    worked: ({ claimed }) => finishAll(claimed),
  });
  return {
    expect: async (count, way) => {
      isFresh = way === 'fresh';
      left = count;
      done = Promise.withResolvers();
      return done.promise;
    },
  };
}

function delivered({ event, n, lease }: Leased): Settlement {
  return {
    event,
    n,
    lease,
    outcome: { kind: 'delivered' },
    attempt: {
      node: 1,
      startedMs: world.nowMs(),
      tookMs: 1,
      status: 200,
      error: undefined,
      message: undefined,
      request: { method: 'post', url: 'https://receiver.example/callback' },
      response: { headers: [['server', 'x']], body: Buffer.from('ok'), cut: false },
      warning: undefined,
    },
  };
}

/** The rows of a delivery's life, without a rule, a match or a thread: one batch in, one batch out. */
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
    `insert into attempt (event, n, k, node, started_ms, took_ms, code) values (?, 0, 1, 1, ?, 1, 200)`,
  );
  const response = db.prepare(
    `insert into response (event, n, k, head, body) values (?, 0, 1, '{"method":"post"}', x'6f6b')`,
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
          response.run(id);
        }
      });
    }
  };
}

/** A publish in the transaction, with its match or with targets from a map; both look at the lane. */
function preparePublishes(db: DatabaseSync) {
  const event = db.prepare(publishSql.event);
  const match = prepareMatch(db);
  const make = prepareMakeDelivery(db);
  const lanes = prepareLanes(db);
  const targets = new Map(
    Array.from({ length: lanesInUse }, (_, i) => {
      const name = nameOf(i);
      const found = match.everyone({ appNo, contract: 'Ringback', name });
      assert.equal(found.length, 1);
      return [name, found.map(({ callback, lane: { no } }) => ({ callback, lane: no }))] as const;
    }),
  );
  const told = (name: string) =>
    (targets.get(name) ?? []).map(({ callback, lane }) => ({ callback, lane: lanes.get(lane) }));
  const matched = (name: string) => match.everyone({ appNo, contract: 'Ringback', name });
  const publishing = (find: typeof matched) => (count: number) => {
    for (let from = 0; from < count; from += rowsPerBatch) {
      const births = birthsFor({ lease: 1, room: 512, free: new Map(), laneRoom: 512 });
      const context = { nowMs: world.nowMs(), births };
      transact(db, () => {
        for (let i = 0; i < Math.min(rowsPerBatch, count - from); i += 1) {
          const id = newId();
          const listeners = find(nameOf(i));
          event.run(id, appNo, nameOf(i), 1, context.nowMs, listeners.length, payload);
          for (const [n, one] of listeners.entries()) {
            make({ event: id, n, appNo, slice: 1, ...one }, context);
          }
        }
      });
    }
    db.exec('delete from delivery_live');
  };
  return { matched: publishing(matched), told: publishing(told) };
}

function nameOf(i: number): string {
  return `order.item.created${i % lanesInUse}`;
}

async function fill(to: Store): Promise<number> {
  const id = newId();
  const hash = createHash('sha256').update(id).digest();
  const key = { id: id.slice(-8), hash, name: 'bench', scopes: ['publish' as const] };
  const input = { id, name: id, key: { ...key, expiresMs: undefined } };
  const made = await to.edit('createApp', input);
  assert(made.kind === 'created');
  const subscribe = async (i: number): Promise<void> => {
    const subscription = {
      id: newId(),
      appNo: made.app.no,
      contract: 'Ringback',
      operation: 'subscribe',
      callbacks: [
        {
          position: 0,
          label: 'myEvent',
          event: `order.item.created${i}`,
          definition: 'subscribe/myEvent/0',
          method: 'post',
          url: 'https://receiver.example/callback',
          inactive: undefined,
        },
      ],
      secrets: payload.subarray(0, 130),
    };
    await to.edit('subscribe', { subscription, idempotency: undefined });
  };
  for (let from = 0; from < subscriptions; from += callers) {
    const count = Math.min(callers, subscriptions - from);
    await Promise.all(Array.from({ length: count }, async (_, i) => subscribe(from + i)));
  }
  return made.app.no;
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

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
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
