// Checks a cluster after faults, from what clients and receivers observed and from the database. It explains every
// duplicate by the fate of the node that held the delivery; a duplicate without an explanation is a flaw.
import type { Database, Row } from '../postgres/database.ts';
import { judgeLeases } from './chaos-leases.ts';
import type { Arrival, ChaosRecord, PublishedEvent, Subscription } from './chaos-record.ts';

const never = '9007199254740991';

/** Installs triggers that log the leases of deliveries, and any change of an ended delivery. */
export async function install(database: Database): Promise<void> {
  await database.query(`
    create schema chaos;
    create table chaos.lease (no bigint generated always as identity, event text collate "C", n integer,
      lease bigint, at_ms bigint);
    create table chaos.changed (event text collate "C", n integer, state integer, what text);
    create function chaos.note_lease() returns trigger language plpgsql as $$
    begin
      if tg_op = 'DELETE' then
        insert into chaos.lease (event, n, lease, at_ms)
          values (old.event, old.n, null, extract(epoch from clock_timestamp()) * 1000);
      elsif tg_op = 'INSERT' or new.lease is distinct from old.lease then
        insert into chaos.lease (event, n, lease, at_ms)
          values (new.event, new.n, new.lease, extract(epoch from clock_timestamp()) * 1000);
      end if;
      return null;
    end $$;
    create trigger note_lease after insert or update or delete on ringback.delivery_live
      for each row execute function chaos.note_lease();
    create function chaos.note_change() returns trigger language plpgsql as $$
    begin
      insert into chaos.changed values (old.event, old.n, old.state, tg_op);
      return null;
    end $$;
    create trigger note_change after update or delete on ringback.delivery_done
      for each row execute function chaos.note_change();`);
}

/** Checks what must hold at every moment, in one statement, which sees a single snapshot. */
export async function snapshotFlaws(database: Database): Promise<string[]> {
  const [row] = await database.query(`
    select
      (select coalesce(sum(deliveries), 0)::int from ringback.event) as accepted,
      (select count(*)::int from ringback.delivery_done) as ended,
      (select count(*)::int from ringback.delivery_live) as pending,
      (select coalesce(sum(made + revived - delivered - dead - cancelled), 0)::int
        from ringback.stat_app where writer > 0 or minute = 0) as counted,
      (select coalesce(sum(published), 0)::int from ringback.stat_app
        where writer > 0 or minute = 0) as counted_events,
      (select count(*)::int from ringback.event where rejected is null) as events,
      (select count(*)::int from chaos.changed where state <> 2) as changed,
      (select coalesce(string_agg(no::text, ' '), '') from ringback.lane
        where state = 0 and ready_ms = ${never} and ordered = 0 and exists (
          select from ringback.delivery_live where lane = lane.no and lease is null)) as closed`);
  const accepted = Number(row?.['accepted']);
  const [ended, pending] = [Number(row?.['ended']), Number(row?.['pending'])];
  const flaws: string[] = [];
  if (accepted !== ended + pending) {
    flaws.push(`${accepted} deliveries were accepted, ${ended} ended and ${pending} are pending`);
  }
  if (row?.['counted'] !== pending) {
    flaws.push(`the statistics count ${String(row?.['counted'])} pending, there are ${pending}`);
  }
  if (row?.['counted_events'] !== row?.['events']) {
    const [counted, events] = [String(row?.['counted_events']), String(row?.['events'])];
    flaws.push(`the statistics count ${counted} events, there are ${events}`);
  }
  if (row?.['changed'] !== 0) flaws.push(`${String(row?.['changed'])} left a terminal state`);
  if (row?.['closed'] !== '')
    flaws.push(`lanes ${String(row?.['closed'])} sleep, but have pending deliveries`);
  return flaws;
}

/** The number of deliveries that have not ended, and a few of them for the error message. */
export async function findPending(database: Database): Promise<{ count: number; some: Row[] }> {
  const [row] = await database.query('select count(*)::int as count from ringback.delivery_live');
  const some = await database.query(`
    select live.event, live.n, live.lane, live.due_ms, live.tries, live.lease,
      live.lease >> 32 as holder, node.name, node.gone, lane.state, lane.ready_ms, lane.gate_ms,
      lane.failures, lane.swept
    from ringback.delivery_live live join ringback.lane on lane.no = live.lane
    left join ringback.node on node.no = live.lease >> 32 limit 5`);
  return { count: Number(row?.['count']), some };
}

export interface Judgement {
  flaws: string[];
  deliveries: number;
  delivered: number;
  dead: number;
  cancelled: number;
  /** Duplicates of accepted callbacks, by cause. */
  duplicates: Record<string, number>;
}

interface Ended {
  /** `dlv_…` */
  id: string;
  event: string;
  n: number;
  state: 'delivered' | 'dead' | 'cancelled';
  attempts: number;
  /** Recorded attempts with a response. */
  answered: number;
  subscription: string;
}

export async function judge(database: Database, record: ChaosRecord): Promise<Judgement> {
  const ended = await readEnded(database);
  const arrivals = Map.groupBy(record.arrivals, ({ delivery }) => delivery);
  const { duplicates, flaws: ofLeases } = await judgeLeases(database, record, arrivals);
  const count = (state: Ended['state']): number =>
    ended.filter((one) => one.state === state).length;
  return {
    flaws: [
      ...record.flaws,
      ...(await snapshotFlaws(database)),
      ...(await judgeRows(database, ended, record)),
      ...judgePromised(ended, record),
      ...judgeEnds(ended, arrivals, record),
      ...judgeBytes(record),
      ...judgeSilences(record),
      ...ofLeases,
    ],
    deliveries: ended.length,
    delivered: count('delivered'),
    dead: count('dead'),
    cancelled: count('cancelled'),
    duplicates,
  };
}

async function readEnded(database: Database): Promise<Ended[]> {
  const rows = await database.query(`
    select done.event, done.n, done.state, done.attempts, subscription.id as subscription,
      (select count(*) from ringback.attempt
       where attempt.event = done.event and attempt.n = done.n and attempt.code > 0) as answered
    from ringback.delivery_done done join ringback.callback on callback.no = done.callback
    join ringback.subscription on subscription.no = callback.subscription`);
  const states = ['delivered', 'dead', 'cancelled'] as const;
  return rows.map((row) => ({
    id: `dlv_${String(row['event'])}_${String(row['n'])}`,
    event: `evt_${String(row['event'])}`,
    n: Number(row['n']),
    state: states[Number(row['state']) - 1] ?? 'delivered',
    attempts: Number(row['attempts']),
    answered: Number(row['answered']),
    subscription: `sub_${String(row['subscription'])}`,
  }));
}

/** Every acknowledged event exists once, with all its deliveries, and there are no others. */
async function judgeRows(
  database: Database,
  ended: readonly Ended[],
  { events, subscriptions }: ChaosRecord,
): Promise<string[]> {
  const flaws: string[] = [];
  const { count, some } = await findPending(database);
  if (count > 0) flaws.push(`${count} deliveries have not ended: ${JSON.stringify(some)}`);
  const rows = await database.query('select id, name, deliveries from ringback.event');
  const kept = new Map(rows.map((row) => [`evt_${String(row['id'])}`, row]));
  const published = new Map(events.map((event) => [event.id, event]));
  if (published.size !== events.length)
    flaws.push('two requests were answered with the same event');
  for (const { id } of events) if (!kept.has(id)) flaws.push(`${id} was acknowledged and is lost`);
  const made = Map.groupBy(ended, ({ event }) => event);
  for (const [id, row] of kept) {
    const event = published.get(id);
    if (event === undefined) flaws.push(`${id} is stored, but was never acknowledged`);
    else if (event.name !== row['name'])
      flaws.push(`${id} has another name than the one published`);
    const numbers = (made.get(id) ?? []).map(({ n }) => n).sort((a, b) => a - b);
    if (numbers.length !== row['deliveries'] || numbers.some((n, at) => n !== at)) {
      flaws.push(`${id} has ${String(row['deliveries'])} deliveries; there are ${numbers.join()}`);
    }
  }
  const states = await database.query('select id, state from ringback.subscription');
  const stateOf = new Map(states.map((row) => [`sub_${String(row['id'])}`, row['state']]));
  if (stateOf.size !== subscriptions.length)
    flaws.push('there are more subscriptions than requested');
  for (const one of subscriptions) {
    const expected = one.endAnsweredMs !== undefined || one.saidGone ? 'ended' : 'active';
    const found = stateOf.get(one.id);
    if (found !== expected) flaws.push(`${one.id} is ${String(found)}, expected ${expected}`);
  }
  return flaws;
}

/** A subscription that existed throughout the publish gets the event; one that began later or ended before does not. */
function judgePromised(ended: readonly Ended[], { events, subscriptions }: ChaosRecord): string[] {
  const made = Map.groupBy(ended, ({ event, subscription }) => `${event} ${subscription}`);
  const flaws: string[] = [];
  for (const event of events) {
    for (const one of subscriptions) {
      const found = made.get(`${event.id} ${one.id}`)?.length ?? 0;
      const expected = expectedOf(event, one);
      if (expected !== 'either' && found !== expected) {
        flaws.push(`${event.id} (${event.name}) made ${found} deliveries for ${one.id}`);
      } else if (found > 1) flaws.push(`${event.id} made ${found} deliveries for ${one.id}`);
    }
  }
  return flaws;
}

function expectedOf(event: PublishedEvent, one: Subscription): 0 | 1 | 'either' {
  if (!isHeard(event.name, one)) return 0;
  if (one.answeredMs <= event.askedMs && (one.endAskedMs ?? Infinity) >= event.answeredMs) return 1;
  const isLater = one.askedMs >= event.answeredMs;
  return isLater || (one.endAnsweredMs ?? Infinity) <= event.askedMs ? 0 : 'either';
}

function isHeard(name: string, { hears }: Subscription): boolean {
  switch (hears.variant) {
    case 'body':
      return true;
    case 'query':
      return hears.event === name;
    case 'multi':
      return ['inProgress', 'failed', 'success'].includes(name);
  }
}

/** Attempts per delivery: one more than the retries in `RINGBACK_RETRY`. */
export const attemptsMax = 9;

/** Compares the end state of each delivery with the responses of its receiver. */
function judgeEnds(
  ended: readonly Ended[],
  arrivals: ReadonlyMap<string, readonly Arrival[]>,
  { subscriptions }: ChaosRecord,
): string[] {
  const byId = new Map(subscriptions.map((one) => [one.id, one]));
  const flaws: string[] = [];
  const known = new Set(ended.map(({ id }) => id));
  for (const id of arrivals.keys()) if (!known.has(id)) flaws.push(`${id} came, but is not stored`);
  for (const { id, state, attempts, answered, subscription } of ended) {
    const came = arrivals.get(id) ?? [];
    const taken = came.filter(({ reply }) => reply === 200).length;
    const refused = came.filter(({ reply }) => reply !== 200).length;
    const owner = byId.get(subscription);
    if (state === 'delivered' && taken === 0)
      flaws.push(`${id} is delivered, but no receiver accepted it`);
    if (state === 'cancelled' && owner?.endAskedMs === undefined) {
      flaws.push(`${id} is cancelled, but its subscription has not ended`);
    }
    if (state === 'dead' && (attempts !== attemptsMax || refused < attemptsMax)) {
      flaws.push(`${id} is dead after ${attempts} attempts, ${refused} of them refused`);
    }
    // If a node died, more requests may have come than are on record, but never fewer. A request without a response
    // may not have come: a node that was frozen while connecting times out when it resumes.
    if (came.length < answered)
      flaws.push(`${id} has ${answered} responses on record, but ${came.length} requests came`);
  }
  return flaws;
}

function judgeBytes({ arrivals, events }: ChaosRecord): string[] {
  const printOf = new Map(events.map(({ id, print }) => [id, print]));
  return arrivals
    .filter(({ eventId, print }) => printOf.get(eventId) !== print)
    .map(({ eventId, delivery }) => `${delivery} came with other bytes than ${eventId} has`);
}

/** From one second after the response on, no attempt may start, not even on a node that was frozen. */
const obeyMs = 1_000;

function judgeSilences(record: ChaosRecord): string[] {
  const ofSubscription = Map.groupBy(record.arrivals, ({ subscription }) => subscription);
  return record.subscriptions.flatMap((one) => {
    const silences = one.pauses.map(({ answeredMs, resumeAskedMs }) => ({
      of: 'pause',
      fromMs: answeredMs,
      toMs: resumeAskedMs,
    }));
    if (one.endAnsweredMs !== undefined) {
      silences.push({ of: 'unsubscribe', fromMs: one.endAnsweredMs, toMs: Infinity });
    }
    return silences.flatMap(({ of, fromMs, toMs }) =>
      (ofSubscription.get(one.id) ?? [])
        .filter(({ atMs }) => atMs - record.lagAt(atMs) > fromMs + obeyMs && atMs < toMs)
        .map(({ delivery, atMs }) => `${delivery} came ${atMs - fromMs} ms after the ${of}`),
    );
  });
}
