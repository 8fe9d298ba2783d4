// Checks the plan of every statement on SQLite: each table must be read by an index, without scans and sorts.
import { strict as assert } from 'node:assert';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { describe, it } from 'node:test';
import { createStalledFanOuts } from '../../src/store/rules/fan-outs.ts';
import { prepareWrite } from '../../src/store/sqlite/batch/write.ts';
import { claimSql, fanOutSql } from '../../src/store/sqlite/deliver/claim-and-fan-out.ts';
import { nextWorkSql } from '../../src/store/sqlite/deliver/next-work.ts';
import { prepareOutcomes, settleSql } from '../../src/store/sqlite/deliver/settle.ts';
import { matchSql } from '../../src/store/sqlite/publish/match.ts';
import { prepareRebase } from '../../src/store/sqlite/upkeep/rebase-times.ts';
import { expireSql, forgetSubscriptionsSql } from '../../src/store/sqlite/upkeep/retain.ts';
import { createPendingStatistics } from '../../src/store/statistics/pending-statistics.ts';
import { auditListSql } from '../../src/store/verbs/audit.ts';
import { keysSql } from '../../src/store/verbs/accounts/keys.ts';
import { searchSql } from '../../src/store/verbs/lists/search-queries.ts';
import { spansSql } from '../../src/store/verbs/lists/slices-in-time.ts';
import { walkEventsSql } from '../../src/store/verbs/deliveries/events.ts';
import { replayableSql } from '../../src/store/verbs/replays/replays.ts';
import { subscriptionsSql } from '../../src/store/verbs/subscriptions/subscriptions.ts';
import { openMemory } from './open-memory.ts';
import { statementsIn } from './statements.ts';

const own = await statementsIn('sqlite');
const statements = [...own, ...(await statementsIn('verbs'))];

const usual =
  /^(SEARCH \w+ USING|LIST SUBQUERY|CORRELATED SCALAR|COMPOUND|LEFT|RIGHT|UNION ALL|MERGE)/;
const alive = 'SCAN node USING COVERING INDEX node_alive';
const sorted = 'USE TEMP B-TREE FOR ORDER BY';
const seen = ['MATERIALIZE seen', 'SCAN seen', 'CO-ROUTINE edge', 'SCAN edge', 'SCALAR SUBQUERY'];

const matchedByName = [
  ...seen,
  'MATERIALIZE hearing',
  'SCAN CONSTANT ROW',
  'CO-ROUTINE place',
  'SETUP',
  'RECURSIVE STEP',
  'SCAN place',
  'SCAN hearing',
];

/** Allowed exceptions in plans, with the reason why they are bounded. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  'health.schema': ['SEARCH migration'],
  'slices.last': ['SEARCH event USING COVERING INDEX event_find'],
  // Bounded by the limit.
  'notices.oldest': ['SCAN notice'],
  // As many as are asked for.
  'filters.filters': ['SCAN json_each VIRTUAL TABLE INDEX 1:'],
  'definitions.definitions': ['SCAN json_each VIRTUAL TABLE INDEX 1:'],
  // The callbacks of a lane.
  'disableFailing.url': [sorted],
  // Reads only the first row of an index.
  'fanOut.oldest': ['SCAN json_each VIRTUAL TABLE INDEX 1:', 'CREATE BLOOM FILTER'],
  'nextWork.otherFanOut': ['SCAN json_each VIRTUAL TABLE INDEX 1:', 'CREATE BLOOM FILTER'],
  'nextWork.fanOut': ['SCAN fanout'],
  'forget.firstFanOut': ['SCAN fanout'],
  'sweep.lane': ['SCAN lane USING COVERING INDEX lane_sweep'],
  // The oldest rows, bounded by the limit.
  'auditList.forget': ['SCAN audit'],
  // The last row of a table, three times.
  'forgetSubscriptions.oldest': [
    'SCALAR SUBQUERY',
    ...['subscription', 'callback', 'lane'].map((table) => `SEARCH ${table}`),
  ],
  // Bounded by the limit, of running ones.
  'replays.due': ['SCAN replay USING INDEX replay_running'],
  // All pending deliveries, but only at a start or after a clock step.
  'rebase.latest': ['SEARCH node'],
  'rebase.nodes': ['SCAN node'],
  'rebase.seen': ['SCAN node USING INDEX node_alive'],
  'rebase.lanes': ['SCAN lane'],
  'rebase.deliveries': ['SCAN delivery_live', 'SCAN lane', 'CREATE BLOOM FILTER'],
  'rebase.sessions': ['SCAN session'],
  // What a node has under way.
  'nodes.lanes': ['USE TEMP B-TREE FOR DISTINCT', alive, 'CREATE BLOOM FILTER'],
  'nodes.free': [alive, 'CREATE BLOOM FILTER'],
  // All living nodes.
  'nodes.silent': [alive],
  'nodes.list': ['SCAN node USING INDEX node_alive'],
  // Bounded by the rows of a chunk; those of a lane or of names in a slice are sorted.
  ...Object.fromEntries(
    Object.keys(searchSql).map((name) => [
      `search.${name}`,
      [...seen, ...(/Lane|running/.test(name) ? [sorted] : [])],
    ]),
  ),
  'walkEvents.ofSlice': [...seen, sorted],
  'walkEvents.ofSubject': seen,
  'walkEvents.ofCustomer': seen,
  // The patterns that match one name.
  'subscriptions.sought': matchedByName,
  'subscriptions.soughtOfSubject': matchedByName,
  'subscriptions.soughtOfCustomer': matchedByName,
  // One step of the index for each customer of a page; at most so many subscriptions of each.
  'customers.named': ['CO-ROUTINE named', 'SETUP', 'RECURSIVE STEP', 'SCAN named'],
  'customers.summary': ['CO-ROUTINE own', 'SCAN own'],
  // So many, and no more are counted.
  'deliveries.failed': ['CO-ROUTINE few', 'SCAN few'],
  'deliveries.retried': ['CO-ROUTINE few', 'SCAN few'],
  // The first event.
  'forgetSpans.old': [
    'SCALAR SUBQUERY',
    'SEARCH event USING COVERING INDEX sqlite_autoindex_event_1',
  ],
  // Minutes that are not folded yet: a few per app.
  'tidyStatistics.over': ['SCAN stat_app USING COVERING INDEX stat_app_fresh'],
  'statistics.counts': ['CO-ROUTINE parts', 'SCAN parts'],
  // The minutes of a span.
  'statistics.ofApp': ['USE TEMP B-TREE FOR GROUP BY'],
  'statistics.ofSubscription': ['USE TEMP B-TREE FOR GROUP BY'],
  // Bounded by a limit, and deliveries in flight.
  'statistics.waiting': ['CO-ROUTINE waiting', 'SCAN waiting'],
  'statistics.running': ['CREATE BLOOM FILTER'],
  // The first thousand rows; the first rows of so many slices.
  'oldestPending.first': ['CO-ROUTINE oldest', 'SCAN delivery_live', 'SEARCH oldest'],
  'oldestPending.bySlices': [
    'MATERIALIZE step',
    'SETUP',
    'SEARCH delivery_live USING COVERING INDEX delivery_waiting',
    'RECURSIVE STEP',
    'SCAN step',
    'SEARCH found EXISTS USING COVERING INDEX delivery_waiting (slice=? AND app=?)',
    sorted,
  ],
  // What a node has under way.
  'deliveries.running': ['USE TEMP B-TREE FOR DISTINCT'],
  // The newest subscriptions of a customer, the minutes of a span, and at most so many deliveries.
  'customerStatistics.steps': ['CO-ROUTINE own', 'SCAN own', 'USE TEMP B-TREE FOR GROUP BY'],
  'customerStatistics.waiting': [
    'CO-ROUTINE waiting',
    'CO-ROUTINE own',
    'SCAN own',
    'SCAN waiting',
  ],
  'customerStatistics.heads': ['CO-ROUTINE own', 'SEARCH own'],
  'customerStatistics.running': ['CO-ROUTINE own', 'SCAN own', 'CREATE BLOOM FILTER'],
  // A few of each.
  'attention.failing': ['CO-ROUTINE failing', 'SCAN failing', sorted],
  'attention.lastTried': ['CO-ROUTINE waiting', 'SCAN waiting', sorted],
  // One row per node in the feed.
  'feed.heads': ['CO-ROUTINE teller', 'SETUP', 'RECURSIVE STEP', 'SCAN teller'],
  // One row per app, and minutes that are not folded yet.
  'gauges.counts': ['CO-ROUTINE parts', 'SCAN stat_app USING INDEX stat_app_fresh', 'SCAN parts'],
  // From lane to lane, one at a time.
  'gauges.due': [
    'CO-ROUTINE walk',
    'SETUP',
    'SCAN CONSTANT ROW',
    'SCALAR SUBQUERY',
    'RECURSIVE STEP',
    'SCAN walk',
    'CO-ROUTINE counted',
    'SCAN counted',
    'SEARCH walk',
  ],
  // So many, and no more are counted.
  'gauges.notices': ['CO-ROUTINE counted', 'SCAN notice', 'SCAN counted'],
  'gauges.fanOuts': ['CO-ROUTINE counted', 'SCAN fanout', 'SCAN counted'],
  'gauges.replays': [
    'CO-ROUTINE counted',
    'SCAN replay USING COVERING INDEX replay_running',
    'SCAN counted',
  ],
  // A chunk of the table.
  'gauges.lanes': ['CO-ROUTINE piece', 'SCAN piece'],
  'gauges.subscriptions': ['CO-ROUTINE piece', 'SCAN piece'],
  // For tests only.
  'tally.all': ['CO-ROUTINE counted', 'SCAN delivery_live', 'SCAN delivery_done', 'SCAN counted'],
};

describe('the plan of', () => {
  const { db } = openMemory();
  for (const { name, sql } of statements) {
    it(name, () => {
      const steps = db
        .prepare(`explain query plan ${sql}`)
        .all()
        .map(({ detail }) => String(detail))
        .map((step) => step.replace(/^SCALAR SUBQUERY \d+$/, 'SCALAR SUBQUERY'));
      const allowed = exceptions[name] ?? [];
      for (const step of steps) {
        if (!allowed.includes(step)) assert.match(step, usual, steps.join('\n'));
      }
      const unused = allowed.filter((step) => !steps.includes(step));
      assert.deepEqual(unused, [], 'an exception that is not needed');
      const isInsert = sql.trimStart().startsWith('insert');
      assert(isInsert || steps.length > 0, 'a statement without a plan');
    });
  }
});

describe('the list of statements', () => {
  it('has no bare parameter as a limit, which SQLite would recompile for every call', () => {
    const bare = statements.filter(({ sql }) => /limit\s+[?:]\w*(?!\w| \+ 0)/.test(sql));
    assert.deepEqual(
      bare.map(({ name }) => name),
      [],
    );
  });

  it('contains every statement that the adapter prepares', () => {
    const { db } = openMemory();
    const prepared = new Set<string>();
    class Recorder extends DatabaseSync {
      override prepare(sql: string): StatementSync {
        prepared.add(sql);
        return db.prepare(sql);
      }
    }
    const recorder = new Recorder(':memory:');
    const planOutcomes = prepareOutcomes(recorder);
    const rebase = prepareRebase(recorder);
    const deps = {
      pending: createPendingStatistics(),
      stalled: createStalledFanOuts(),
      planOutcomes,
      rebase,
    };
    prepareWrite(recorder, deps);
    assert.deepEqual(prepared, new Set(own.map(({ sql }) => sql)));
  });
});

describe('the index', () => {
  const { db } = openMemory();
  const hot: Readonly<Record<string, { sql: string; first: string }>> = {
    'of a list of keys': {
      sql: keysSql.list,
      first: 'SEARCH app USING INTEGER PRIMARY KEY (rowid=?)',
    },
    'of a list of subscriptions': {
      sql: subscriptionsSql.sought,
      first: 'SEARCH subscription USING INDEX subscription_list (app=? AND no<?)',
    },
    'of a list of subscriptions with a subject': {
      sql: subscriptionsSql.soughtOfSubject,
      first: 'SEARCH subscription USING INDEX subscription_subject (app=? AND subject=? AND no<?)',
    },
    'of a list of subscriptions of a customer': {
      sql: subscriptionsSql.soughtOfCustomer,
      first:
        'SEARCH subscription USING INDEX subscription_customer (app=? AND customer=? AND no<?)',
    },
    'that finds listeners holds only those alive': {
      sql: matchSql.listeners,
      first:
        'SEARCH pattern USING COVERING INDEX pattern_alive (app=? AND contract=? AND pattern=?)',
    },
    'of lanes to look at': {
      sql: claimSql.lanes,
      first: 'SEARCH lane USING INDEX lane_ready (ready_ms<?)',
    },
    'of the next lane': {
      sql: nextWorkSql.ready,
      first: 'SEARCH lane USING INDEX lane_ready (ready_ms<?)',
    },
    'of what is due in a lane': {
      sql: claimSql.due,
      first: 'SEARCH delivery_live USING INDEX delivery_due (lane=? AND due_ms<?)',
    },
    'of what is due next': {
      sql: claimSql.next,
      first: 'SEARCH delivery_live USING INDEX delivery_due (lane=?)',
    },
    'of a settlement is the name, not the lease': {
      sql: settleSql.find,
      first: 'SEARCH delivery_live USING PRIMARY KEY (event=? AND n=?)',
    },
    'of a fan-out reads on where it stopped': {
      sql: fanOutSql.listeners,
      first: 'SEARCH pattern USING PRIMARY KEY (app=? AND contract=? AND pattern=? AND callback>?)',
    },
    'of failures goes on within an event': {
      sql: searchSql.failed,
      first:
        'SEARCH delivery_done USING COVERING INDEX delivery_failed ' +
        '(app=? AND event>? AND (event,n)<(?,?))',
    },
    'of the first one to replay': {
      sql: replayableSql.firstFailed,
      first:
        'SEARCH delivery_done USING COVERING INDEX delivery_failed (app=? AND event>? AND event<?)',
    },
    'of the last one to replay': {
      sql: replayableSql.lastFailed,
      first:
        'SEARCH delivery_done USING COVERING INDEX delivery_failed (app=? AND event>? AND event<?)',
    },
    'of what to replay goes on within an event': {
      sql: replayableSql.failed,
      first:
        'SEARCH delivery_done USING INDEX delivery_failed (app=? AND (event,n)>(?,?) AND event<?)',
    },
    'of the deliveries of a lane goes on within an event': {
      sql: searchSql.doneOfLane,
      first:
        'SEARCH delivery_done USING INDEX delivery_find ' +
        '(slice=? AND lane=? AND event>? AND (event,n)<(?,?))',
    },
    'of slices that reach into a time reads those of one era': {
      sql: spansSql.reaching,
      first: 'SEARCH slice_span USING INDEX slice_span_first (first_event>? AND first_event<?)',
    },
    'of what is past its time reads from the oldest on': {
      sql: expireSql.waiting,
      first: 'SEARCH delivery_live USING PRIMARY KEY (event<?)',
    },
    'of ended subscriptions': {
      sql: forgetSubscriptionsSql.oldest,
      first: 'SEARCH ended USING COVERING INDEX subscription_ended (ended_ms<?)',
    },
    'of events by subject': {
      sql: walkEventsSql.ofSubject,
      first: 'SEARCH event USING INDEX event_subject (app=? AND subject=? AND id>? AND id<?)',
    },
    'of events of a customer': {
      sql: walkEventsSql.ofCustomer,
      first: 'SEARCH event USING INDEX event_customer (app=? AND customer=? AND id>? AND id<?)',
    },
    'of the first event of a subject': {
      sql: replayableSql.firstOfSubject,
      first:
        'SEARCH event USING COVERING INDEX event_subject (app=? AND subject=? AND id>? AND id<?)',
    },
    'of the audit trail': {
      sql: auditListSql.ofApp,
      first: 'SEARCH audit USING INDEX audit_list (app=? AND at_ms>? AND at_ms<?)',
    },
    'of the audit trail of an object': {
      sql: auditListSql.ofObject,
      first: 'SEARCH audit USING INDEX audit_object (app=? AND object=? AND at_ms>? AND at_ms<?)',
    },
    'of the audit trail of a customer': {
      sql: auditListSql.ofCustomer,
      first:
        'SEARCH audit USING INDEX audit_customer (app=? AND customer=? AND at_ms>? AND at_ms<?)',
    },
    'of events by name': {
      sql: walkEventsSql.ofSlice,
      first:
        'SEARCH event USING COVERING INDEX event_find (slice=? AND app=? AND name>? AND name<?)',
    },
  };
  for (const [name, { sql, first }] of Object.entries(hot)) {
    it(name, () => {
      const steps = db.prepare(`explain query plan ${sql}`).all();
      const step = steps.find(({ detail }) => String(detail).startsWith('SEARCH'));
      assert.equal(step?.['detail'], first);
    });
  }
});
