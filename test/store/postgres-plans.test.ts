// Checks the plan of every statement on PostgreSQL, on empty and on large tables: each table must be read by an index from
// its first column on, and nothing of unbounded size may be sorted.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import type { Client } from 'pg';
import { realWorld } from '../../src/core/base/world.ts';
import { connect } from '../../src/store/postgres/connection/connect.ts';
import { repeated, toPostgres } from '../../src/store/postgres/connection/tx.ts';
import { searchSql } from '../../src/store/verbs/lists/search-queries.ts';
import { openDatabase, type Database } from '../postgres/database.ts';
import { sharedPostgres } from '../postgres/shared-server.ts';
import { freshStoreDatabase } from '../postgres/store-database.ts';
import { fillLarge } from './fill-large.ts';
import { findings, indexName, readPlan, type Indexes, type PlanNode } from './plan-findings.ts';
import { statementsIn } from './statements.ts';

const own = (await statementsIn('postgres')).filter(({ name }) => !name.startsWith('savepoint.'));
const statements = await statementsIn('verbs');
/** Statements that are only used for many values at once. */
const neverAlone = /^(search\.|walkEvents\.|spans\.has|subscriptions\.sought|customers\.summary)/;
const shared = statements
  .filter(({ name }) => !neverAlone.test(name))
  .map(({ name, sql }) => ({ name, sql: toPostgres(sql) }));

const ofSearch = [
  'bigint text bigint text bigint', // The position, and the chunk.
  'bigint bigint bigint', // App, slice, lane.
  'bigint text text bigint bigint text bigint bigint text bigint', // The filter.
].flatMap((types) => types.split(' '));
const ofSubscriptions = 'bigint bigint bigint text text bigint text text text'.split(' ');
const ofEvents = 'bigint text text bigint bigint text text text text'.split(' ');
/** Statements that lists run for many rows at once, with the types of their values. */
const repeatedReads = Object.entries({
  'delivery.live': ['text', 'bigint', 'bigint'],
  'delivery.done': ['text', 'bigint', 'bigint'],
  'events.one': ['text', 'bigint'],
  'notices.listening': ['bigint', 'text'],
  'replayable.name': ['text'],
  'feed.after': ['bigint', 'bigint', 'bigint', 'bigint'],
  'subscriptions.callbacks': ['bigint'],
  'statistics.subscription': ['text', 'bigint', 'text'],
  'statistics.ofSubscription': ['bigint', 'bigint', 'bigint', 'bigint'],
  'statistics.waiting': ['bigint', 'bigint'],
  'statistics.heads': ['bigint'],
  'statistics.running': ['bigint'],
  'attention.lastTried': ['bigint'],
  'subscriptions.sought': ofSubscriptions,
  'subscriptions.soughtOfSubject': ofSubscriptions,
  'subscriptions.soughtOfCustomer': ofSubscriptions,
  'customers.summary': ['bigint', 'text', 'bigint'],
  'spans.hasEvents': ['bigint', 'bigint', 'bigint', 'text', 'text', 'text', 'text'],
  'spans.hasWaiting': ['bigint', 'bigint', 'bigint'],
  'walkEvents.ofSlice': 'bigint text text bigint bigint bigint text text'.split(' '),
  'walkEvents.ofSubject': ofEvents,
  'walkEvents.ofCustomer': ofEvents,
  ...Object.fromEntries(Object.keys(searchSql).map((name) => [`search.${name}`, ofSearch])),
}).map(([of, types]) => {
  const sql = statements.find(({ name }) => name === of)?.sql;
  assert(sql !== undefined, `there is no statement ${of}`);
  return { name: `${of}, repeated`, sql: repeated(sql, types) };
});
const all = [...own, ...shared, ...repeatedReads];

const alive = 'reads all of node_alive';
const last = 'sorts by event, n';
const newest = 'sorts by event DESC, n DESC';
/** Chosen only while a day has a few hundred events: a larger one is read by slice and app. */
const fewEvents = 'filters a range of event (id)';

/** Allowed exceptions in plans, with the reason why they are bounded. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // Stops at the first lanes that are not full; lanes of the same time are sorted by number.
  'claim.lanes': ['filters a range of lane_ready', 'sorts by ready_ms, no'],
  'nextWork.ahead': [
    'reads all of lane_ready',
    'sorts by ready_ms, no',
    'filters a range of fanout_pkey',
  ],
  'nextWork.aheadByApp': ['filters a range of fanout_pkey'],
  // Reads only the first row, or the first that is not locked.
  'fanOut.oldest': ['filters a range of fanout_pkey'],
  'nextWork.fanOut': ['filters a range of fanout_pkey'],
  'forget.firstFanOut': ['reads all of fanout_pkey'],
  // Stops at the first whose time is not over, and at a limit.
  'expireSubscription.soonest': ['reads all of subscription_expiry'],
  'expireSubscription.unconfirmed': ['reads all of subscription_unconfirmed'],
  // Bounded by the batch, and by the lanes of one subscription.
  'subscribeAll.subscriptions': ['sorts by i', 'sorts by app, i'],
  'subscribeAll.callbacks': ['sorts by no'],
  'unsubscribeAll.end': ['sorts by app, i'],
  'confirmAll.confirm': ['sorts by app, i'],
  'findSubscriptions.rows': ['sorts by id'],
  'findSubscriptions.callbacks': ['sorts by id'],
  'sweep.lanes': ['filters a range of lane_sweep'],
  'health.schema': ['reads all of migration_pkey'],
  // Skips entries that nodes have taken, and leased deliveries.
  'inbox.take': ['reads all of inbox_pkey', 'sorts by no'],
  'inbox.isAny': ['reads all of inbox_pkey'],
  'expire.waiting': ['filters a range of delivery_live_pkey'],
  // Bounded by the step.
  'expire.standing': ['sorts by no, due_ms, event, n'],
  // The first of each day.
  'forgetSubscriptions.firstEvent': ['reads all of event (id)'],
  // The oldest ended ones; few have lanes that are not swept yet.
  'forgetSubscriptions.oldest': ['filters a range of subscription_ended'],
  // Bounded by the limit.
  'notices.oldest': ['reads all of notice_pkey'],
  'auditList.forget': ['reads all of audit_pkey'],
  // Five days of one subscription, by the half hour; the callbacks of a lane.
  'disableFailing.delivered': ['filters a range of stat_subscription_pkey'],
  'disableFailing.url': ['sorts by "position"'],
  // Bounded by the limit, of running ones.
  'replays.due': ['reads all of replay_running'],
  // Bounded by the batch, or by the lanes of a subscription.
  'idempotencyKeys.keep': ['sorts by app, key'],
  'makeDeliveries.order': ['sorts by no'],
  'endSubscription.lanes': ['sorts by no'],
  'arrangeLanes.lanes': ['sorts by no'],
  // All living nodes, and their deliveries in flight.
  'nodes.silent': [alive],
  'nodes.list': [alive],
  'nodes.orphans': [alive, 'sorts by lane'],
  'nodes.leased': ['sorts by lane', 'reads all of delivery_running'],
  'nodes.freeLeased': ['reads all of delivery_running'],
  // All nodes ever, once a minute.
  'nodes.forget': ['scans node'],
  // Bounded by the number of gone receivers.
  'settle.lockApps': ['sorts by no'],
  'nodes.free': [alive, 'filters a range of delivery_running'],
  // Minutes that are not folded yet, and those that are too old, bounded by the step.
  'tidyStatistics.fold': ['reads all of stat_app_fresh', 'sorts by app, minute', 'sorts by app'],
  'tidyStatistics.coarsen': [
    'filters a range of stat_subscription_fine',
    'sorts by subscription, coarse',
  ],
  'tidyStatistics.oldOfApps': ['filters a range of stat_app_age'],
  'tidyStatistics.oldOfSubscriptions': ['filters a range of stat_subscription_age'],
  // Bounded by the batch.
  'writeStatistics.app': ['sorts by app'],
  'writeStatistics.subscription': ['sorts by subscription, minute'],
  // The minutes of a span.
  'statistics.ofApp': ['sorts by ((((minute - $2) / $4))::integer)'],
  // Deliveries in flight.
  'deliveries.running': ['sorts by slice', 'reads all of delivery_running'],
  'oldestPending.running': ['reads all of delivery_running'],
  'customerStatistics.running': ['reads all of delivery_running'],
  'statistics.running': ['reads all of delivery_running'],
  'statistics.running, repeated': ['reads all of delivery_running'],
  // The first thousand rows; the first rows of so many slices.
  'oldestPending.first': ['reads all of delivery_live_pkey'],
  'oldestPending.bySlices': ['reads all of delivery_waiting', 'sorts by slice'],
  // A few of each.
  'attention.failing': ['sorts by "position"'],
  'attention.lastTried': ['sorts by started_ms DESC, event DESC, n DESC'],
  'attention.lastTried, repeated': ['sorts by started_ms DESC, event DESC, n DESC'],
  // The slices of an era, and those across its edge: a few thousand at most.
  'spans.reaching': ['filters a range of slice_span_first', 'filters a range of slice_span_wide'],
  // The slices that are older than the oldest event by a day.
  'forgetSpans.old': ['filters a range of slice_span_first', 'reads all of event (id)'],
  // Bounded by the rows of a chunk.
  'subscriptions.sought, repeated': ['sorts by no'],
  'subscriptions.soughtOfSubject, repeated': ['sorts by no'],
  'subscriptions.soughtOfCustomer, repeated': ['sorts by no'],
  'search.doneByKey, repeated': [last],
  'search.liveByKey, repeated': [last],
  'search.failed, repeated': [last],
  'search.retried, repeated': [last],
  'search.running, repeated': [last, newest, 'reads all of delivery_running'],
  // At most a slice; on days that are still empty at most a search range, which is some slices.
  'walkEvents.ofSlice, repeated': ['sorts by id DESC', 'sorts by id', fewEvents],
  'spans.hasEvents, repeated': [fewEvents],
  'walkEvents.ofSubject, repeated': ['sorts by id'],
  'walkEvents.ofCustomer, repeated': ['sorts by id'],
  'search.doneOfLane, repeated': [last, newest, 'filters a range of delivery_done (event, n)'],
  'search.waitingOfLane, repeated': [last, newest],
  // One row per app, and minutes that are not folded yet.
  'gauges.counts': ['reads all of stat_app_fresh'],
  // Deliveries in flight, or bounded by a limit.
  'gauges.running': ['reads all of delivery_running'],
  'gauges.notices': ['reads all of notice_pkey'],
  'gauges.fanOuts': ['reads all of fanout_pkey'],
  'gauges.replays': ['reads all of replay_running'],
  'gauges.oldest': ['reads all of delivery_live_pkey'],
  // For tests only.
  'tally.all': ['scans delivery_live', 'scans delivery_done'],
};

/** The expected indexes of hot statements, in the order of the plan. */
const hot: Readonly<Record<string, readonly string[]>> = {
  'claim.lanes': ['lane_ready'],
  'claim.lanesByApp': ['lane_app_ready'],
  'claim.provenLanes': ['lane_pkey'],
  'claim.due': ['delivery_due'],
  'claim.lease': ['delivery_live_pkey'],
  'claim.events': ['event (id)'],
  'claim.look': ['lane_pkey'],
  'settle.find': ['delivery_live_pkey'],
  'settle.end': ['delivery_live_pkey', 'lane_pkey'],
  'settle.back': ['delivery_live_pkey'],
  'lanes.lock': ['lane_pkey'],
  // Not by the index of an app, which leads through all of its subscriptions.
  'lockOrder.lanesOf': ['subscription_id_key', 'lane_subscription', 'lane_pkey'],
  'unsubscribeAll.end': ['subscription_id_key', 'subscription_pkey', 'app_pkey'],
  'unsubscribeAll.endLanes': ['subscription_id_key', 'lane_subscription'],
  'findSubscriptions.callbacks': [
    'idem_pkey',
    'subscription_id_key',
    'callback_subscription_position_key',
  ],
  'lanes.write': ['lane_pkey'],
  'match.listeners': ['pattern_alive', 'lane_pkey'],
  'match.ofSubscriptions': ['callback_subscription_position_key', 'lane_pkey'],
  'makeDeliveries.order': ['lane_pkey'],
  'makeDeliveries.insert': [],
  'makeDeliveries.wake': ['lane_pkey'],
  'nextWork.ahead': ['fanout_pkey', 'lane_ready'],
  'nextWork.aheadByApp': ['lane_app_ready', 'fanout_pkey', 'lane_pkey'],
  'replayable.firstFailed': ['delivery_done (app, event, n, state, lane, code, error)'],
  'replayable.lastFailed': ['delivery_done (app, event, n, state, lane, code, error)'],
  'replayable.failed': ['delivery_done (app, event, n, state, lane, code, error)'],
};

const dayMs = 24 * 60 * 60 * 1000;

describe('a statement that leases a bounded number of rows', () => {
  it('does not select them below "in (…)", where a plan may repeat the selection for each row', () => {
    const often = own.filter(({ sql }) => /\bin\s*\(\s*select[^)]*\bskip locked/.test(sql));
    assert.deepEqual(
      often.map(({ name }) => name),
      [],
    );
  });
});

describe('the plan on PostgreSQL', { skip: await tooOld() }, () => {
  let database: Database;
  let explain: Explain;
  const clients: Client[] = [];
  const seen = new Map<string, Set<string>>();
  before(async () => {
    database = await freshStoreDatabase();
    explain = await explainer(database.url, clients);
  });
  after(async () => {
    await Promise.all(clients.map(async (client) => client.end()));
    await database[Symbol.asyncDispose]();
  });

  describe('on empty tables, of', () => {
    for (const { name, sql } of all) it(name, async () => holds({ name, sql }));
  });

  describe('on large tables, of', () => {
    before(async () => {
      const client = await connect({ url: database.url, kind: 'schema', purpose: 'fill', onLost });
      await fillLarge(client, realWorld().nowMs() - dayMs);
      await client.end();
    });
    for (const { name, sql } of all) it(name, async () => holds({ name, sql }));
  });

  it('has no unused exceptions', () => {
    const unused = Object.entries(exceptions).flatMap(([name, allowed]) =>
      allowed.filter((finding) => seen.get(name)?.has(finding) !== true),
    );
    assert.deepEqual(unused, []);
  });

  it('finds events by id even in a day that was analyzed while empty', async () => {
    await database.query('analyze');
    const { sql = '' } = own.find(({ name }) => name === 'claim.events') ?? {};
    const { nodes, indexes } = await explain(sql);
    assert.deepEqual(indexesOf(nodes, indexes), hot['claim.events']);
  });

  async function holds({ name, sql }: { name: string; sql: string }) {
    const { nodes, indexes, text } = await explain(sql);
    const allowed = exceptions[name] ?? [];
    const found = findings(nodes, indexes);
    const bad = [...found].filter((finding) => !allowed.includes(finding));
    assert.deepEqual(bad, [], text);
    const before_ = seen.get(name) ?? new Set();
    seen.set(name, before_.union(found));
    if (name in hot) assert.deepEqual(indexesOf(nodes, indexes), hot[name], text);
  }
});

/** Before 18, `any(…)` loses the order of an index more often; generic plans can be shown from 16 on. */
async function tooOld(): Promise<string | false> {
  await using server = openDatabase(await sharedPostgres());
  const [row] = await server.query("select current_setting('server_version_num')::int as version");
  return Number(row?.['version']) < 180_000 ? 'plans are those of PostgreSQL 18' : false;
}

interface Explained {
  nodes: readonly PlanNode[];
  indexes: Indexes;
  text: string;
}

type Explain = (sql: string) => Promise<Explained>;

/** Shows generic plans, with the settings of the engine's connections. */
async function explainer(url: string, clients: Client[]): Promise<Explain> {
  const client = await connect({ url, kind: 'engine', purpose: 'plans', onLost });
  clients.push(client);
  return async (sql) => {
    const { rows } = await client.query<{ 'QUERY PLAN': unknown }>(
      `explain (generic_plan, format json) ${sql}`,
    );
    const plan = rows[0]?.['QUERY PLAN'];
    const indexes = await indexesOn(client);
    return { nodes: readPlan(plan), indexes, text: JSON.stringify(plan, undefined, 1) };
  };
}

async function indexesOn(client: Client): Promise<Indexes> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(`
    select relname as name, array(
      select pg_get_indexdef(indexrelid, k + 1, true) from generate_subscripts(indkey, 1) k
      order by k) as columns
    from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'ringback'::regnamespace`);
  return new Map(rows.map(({ name, columns }) => [name, columns]));
}

/** The used indexes without duplicates, in the order of the plan. */
function indexesOf(nodes: readonly PlanNode[], indexes: Indexes): string[] {
  const used = nodes.flatMap(({ index }) =>
    index === undefined ? [] : [indexName(index, indexes)],
  );
  return [...new Set(used)];
}

function onLost(error: Error): void {
  throw error;
}
