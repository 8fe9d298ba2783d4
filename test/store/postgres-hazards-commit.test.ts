// Outcomes of commits when the connection is cut at each message of a publish and of a settlement: acknowledged changes
// exist, refused ones do not, and uncertain ones are resolved.
import { strict as assert } from 'node:assert';
import { after, before, describe, it } from 'node:test';
import { Client } from 'pg';
import type { Leased } from '../../src/core/domain/delivery.ts';
import { limits } from '../../src/core/limits/limits.ts';
import type { Store } from '../../src/store/port/store.ts';
import { StoreUnavailable } from '../../src/store/port/store.ts';
import type { Side } from '../postgres/wire-messages.ts';
import type { Matches, PostgresProxy, When } from '../postgres/proxy.ts';
import { startProxy } from '../postgres/proxy.ts';
import { digest } from './subject.ts';
import { settlementOf } from './settlement.ts';
import type { Stage } from './postgres-stage.ts';
import { answered, insist, leasedNone, openStage, until, world } from './postgres-stage.ts';
import type { TestDispatcher } from './test-dispatcher.ts';
import { attachDispatcher } from './test-dispatcher.ts';

/** A safety timeout, far longer than any passing test. */
const net = { timeout: 300_000 };
const room = { room: 8 };

let stage: Stage;
let proxy: PostgresProxy;
let store: Store;
let dispatcher: TestDispatcher;
/** Added to the clock that limits the queries for the outcome of a commit. */
const later = { ms: 0 };
/** Pauses between two queries for the outcome of a commit. */
const pauses = { count: 0 };

before(async () => {
  stage = await openStage();
  await stage.subscribe('a');
  await stage.subscribe('plain');
  proxy = await startProxy(stage.database.url);
  const monotonicMs = (): number => world.monotonicMs() + later.ms;
  const sleep: typeof world.sleep = async (ms, signal) => {
    if (ms === limits.commitAskMs) pauses.count += 1;
    return world.sleep(ms, signal);
  };
  const ours = { ...world, monotonicMs, sleep };
  store = await stage.node({ url: proxy.url, world: ours, clock: 'given' });
  dispatcher = attachDispatcher(store);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await proxy[Symbol.asyncDispose]();
});

describe('a connection that is cut', net, () => {
  for (const side of ['frontend', 'backend'] as const) {
    for (const when of ['before', 'after'] as const) {
      it(`${when} each message of the ${side} in turn: a publish`, async (t) => {
        const counts = { answered: 0, refused: 0 };
        for (let k = 1; await publishCutAt({ side, when, k }, counts); k += 1);
        t.diagnostic(JSON.stringify(counts));
        // Both must have happened, or nothing was cut.
        assert(counts.refused > 5 && counts.answered > 0, JSON.stringify(counts));
      });

      it(`${when} each message of the ${side} in turn: a publish that does not wait for the callbacks`, async (t) => {
        const counts = { answered: 0, refused: 0 };
        for (let k = 1; await plainCutAt({ side, when, k }, counts); k += 1);
        t.diagnostic(JSON.stringify(counts));
        // Its commit is sent early: only five or six messages of the server come before it.
        assert(counts.refused > 3 && counts.answered > 0, JSON.stringify(counts));
      });

      it(`${when} each message of the ${side} in turn: a settlement`, async (t) => {
        const counts = { answered: 0, refused: 0 };
        for (let k = 1; await settleCutAt({ side, when, k }, counts); k += 1);
        t.diagnostic(JSON.stringify(counts));
        assert(counts.refused > 5 && counts.answered > 0, JSON.stringify(counts));
      });
    }
  }
});

describe('a commit that outlives its connection', net, () => {
  it('is queried until its outcome is known, and then acknowledged', async () => {
    await using slow = await commitsWait('event');
    const answers = { inProgress: 0 };
    const asked = Promise.withResolvers<number>();
    pauses.count = 0;
    watch((message) => {
      if (message.side !== 'backend' || !message.bytes.includes('in progress')) return;
      if ((answers.inProgress += 1) === 2) asked.resolve(pauses.count);
    });
    const publishing = dispatcher.publish(room, stage.publishing('a'));
    await cutWhileItCommits();
    const pausesBetween = await asked.promise;
    await slow.release();
    const { output, fresh } = await publishing;
    assert.equal(pausesBetween, 1, 'one pause between two queries');
    assert.equal(output.kind, 'accepted');
    assert.equal(fresh.length, 1);
    await settled(fresh);
  });

  it('is refused if its outcome is not known in time; its leases are released once it is', async () => {
    const slow = await commitsWait('event');
    const input = stage.publishing('a');
    const publishing = assert.rejects(dispatcher.publish(room, input), StoreUnavailable);
    await cutForGood();
    await publishing;
    assert.deepEqual(await claimed(), [], 'it is still in progress');
    await slow.release();
    await slow[Symbol.asyncDispose]();
    const deliveries = await untilClaimed();
    assert.deepEqual(
      deliveries.map(({ event }) => event),
      input.events.map(({ id }) => id),
    );
    await settled(deliveries);
  });

  it('is handled in the same way for a claim', async () => {
    const { output } = await dispatcher.publish(leasedNone, stage.publishing('a'));
    assert.equal(output.kind, 'accepted');
    const slow = await commitsWait('delivery_live');
    const claiming = assert.rejects(dispatcher.claim(room));
    await cutForGood();
    await claiming;
    await slow.release();
    await slow[Symbol.asyncDispose]();
    const deliveries = await untilClaimed();
    assert.equal(deliveries.length, 1);
    await settled(deliveries);
    assert.equal((await store.read('tally', {})).running, 0);
  });
});

interface CutPoint {
  side: Side;
  when: When;
  k: number;
}

interface Counts {
  answered: number;
  refused: number;
}

/** Returns false if the transaction has fewer messages. */
async function publishCutAt(place: CutPoint, counts: Counts): Promise<boolean> {
  const isCut = cutInTransaction(place);
  const key = digest(JSON.stringify(place));
  const idempotency = { key, print: digest('print') };
  const input = stage.publishing('a', { idempotency });
  const [id = ''] = input.events.map((event) => event.id);
  const label = JSON.stringify(place);
  const first = await answered(dispatcher.publish(room, input));
  if (first === undefined) {
    counts.refused += 1;
    assert.deepEqual(await eventsOf([id]), [], `refused, but there: ${label}`);
  } else {
    counts.answered += 1;
    assert.deepEqual(first.output, { kind: 'accepted', events: [{ id, deliveries: 1 }] }, label);
    assert.deepEqual(await eventsOf([id]), [id], `acknowledged, but not there: ${label}`);
    assert.equal(first.fresh.length, 1);
  }
  proxy.forget();
  // A refused client repeats its request with the same key.
  const again = stage.publishing('a', { idempotency });
  const second = await insist(async () => dispatcher.publish(room, again));
  const ids = [id, ...again.events.map((event) => event.id)];
  assert.equal(second.output.kind, first === undefined ? 'accepted' : 'repeated', label);
  assert.equal((await eventsOf(ids)).length, 1, `not exactly one event: ${label}`);
  await settled([...(first?.fresh ?? []), ...second.fresh]);
  return isCut();
}

/** Without a key, after enough publishes that the cached callbacks are used. */
async function plainCutAt(place: CutPoint, counts: Counts): Promise<boolean> {
  const publish = async (input = stage.publishing('plain')) => dispatcher.publish(room, input);
  for (let times = 0; times <= limits.listenerCacheSteadyTimes; times += 1) {
    await settled((await insist(publish)).fresh);
  }
  const isCut = cutInTransaction(place);
  const input = stage.publishing('plain');
  const [id = ''] = input.events.map((event) => event.id);
  const label = JSON.stringify(place);
  const answer = await answered(publish(input));
  proxy.forget();
  if (answer === undefined) counts.refused += 1;
  else counts.answered += 1;
  const expected = { kind: 'accepted', events: [{ id, deliveries: 1 }] };
  assert.deepEqual(answer?.output ?? expected, expected, label);
  assert.deepEqual(await eventsOf([id]), answer === undefined ? [] : [id], label);
  await settled(answer?.fresh ?? []);
  return isCut();
}

async function settleCutAt(place: CutPoint, counts: Counts): Promise<boolean> {
  const { fresh } = await insist(async () => dispatcher.publish(room, stage.publishing('a')));
  const [leased] = fresh;
  assert(leased);
  const settlement = settlementOf(leased, 'delivered', world.nowMs());
  const isCut = cutInTransaction(place);
  const label = JSON.stringify(place);
  const first = await answered(store.settle(settlement));
  if (first === undefined) counts.refused += 1;
  else counts.answered += 1;
  proxy.forget();
  assert.deepEqual(first ?? { kind: 'settled' }, { kind: 'settled' }, label);
  const second = await insist(async () => store.settle(settlement));
  assert.equal(second.kind, first === undefined ? 'settled' : 'stale', label);
  const { event, n } = leased;
  assert.equal((await store.read('attempts', { appNo: stage.appNo, event, n })).length, 1, label);
  return isCut();
}

/** Cuts at the k-th message of one side after `begin`; returns whether that was reached. */
function cutInTransaction({ side, when, k }: CutPoint): () => boolean {
  let connection: number | undefined;
  let count = 0;
  let isCut = false;
  const matches: Matches = (message) => {
    if (message.side === 'frontend' && message.sql === 'begin') connection ??= message.connection;
    if (message.connection !== connection || message.side !== side) return false;
    count += 1;
    isCut ||= count === k;
    return count === k;
  };
  void proxy.cut(when, matches);
  return () => isCut;
}

function watch(see: (message: Parameters<Matches>[0]) => void): void {
  void proxy.cut('before', (message) => {
    see(message);
    return false;
  });
}

async function eventsOf(ids: readonly string[]): Promise<unknown[]> {
  const rows = await stage.database.query('select id from ringback.event where id = any($1)', [
    ids,
  ]);
  return rows.map(({ id }) => id);
}

async function settled(deliveries: readonly Leased[]): Promise<void> {
  for (const leased of deliveries) {
    const settlement = settlementOf(leased, 'delivered', world.nowMs());
    assert.deepEqual(await insist(async () => store.settle(settlement)), { kind: 'settled' });
  }
}

async function claimed(): Promise<readonly Leased[]> {
  return (await dispatcher.claim(room)).claimed;
}

async function untilClaimed(): Promise<readonly Leased[]> {
  let deliveries: readonly Leased[] = [];
  await until(async () => {
    deliveries = await claimed();
    return deliveries.length > 0;
  });
  return deliveries;
}

/**
 * Cuts all connections while a commit waits (`commitsWait`). Not sooner, because a server that cannot respond to the
 * earlier statements in the same packet rolls back.
 */
async function cutWhileItCommits(): Promise<void> {
  const waiting = "select from pg_locks where locktype = 'advisory' and objid = 7 and not granted";
  await until(async () => (await stage.database.query(waiting)).length > 0);
  proxy.cutAll();
}

/** Cuts at the commit; the time limit is reached at the first response that it is still in progress. */
async function cutForGood(): Promise<void> {
  let isLate = false;
  watch(({ side, bytes }) => {
    if (isLate || side !== 'backend' || !bytes.includes('in progress')) return;
    isLate = true;
    later.ms += limits.commitUnknownMs;
  });
  await cutWhileItCommits();
}

interface Waiting extends AsyncDisposable {
  release(): Promise<void>;
}

/** From now on, commits that wrote to the table wait until they are released. */
async function commitsWait(table: string): Promise<Waiting> {
  const { database } = stage;
  const holder = new Client({ connectionString: database.url });
  await holder.connect();
  await holder.query('select pg_advisory_lock(7)');
  await database.query(`
    create function public.wait_here() returns trigger language plpgsql set lock_timeout = 0 as $$
    begin
      perform pg_advisory_xact_lock_shared(7);
      return null;
    end $$;
    create constraint trigger wait_here after insert or update on ringback.${table}
      deferrable initially deferred for each row execute function public.wait_here()`);
  return {
    release: async () => holder.end(),
    [Symbol.asyncDispose]: async () => {
      await database.query('drop function public.wait_here cascade');
    },
  };
}
