// The database of a simulation, with a log that its own transactions keep, and what is read out of it.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { migratedMemory } from '../../store/migrated-memory.ts';
import type { DeliveryRow, EventRow, LogRow } from '../invariants/history.ts';

const logSql = `
  create table sim_log (no integer primary key, at_ms real, what text, event text, n integer, a integer,
    b integer);
  create trigger sim_made after insert on delivery_live begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'made', new.event, new.n, new.due_ms, new.lane);
  end;
  create trigger sim_left after delete on delivery_done begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'left', old.event, old.n, old.state, 0);
  end;
  create trigger sim_changed after update on delivery_done begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'changed', old.event, old.n, old.state, new.state);
  end;
  create trigger sim_gone after update of gone on node when old.gone = 0 and new.gone = 1 begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'gone', '', new.no, old.seen_ms, 0);
  end`;

export function openDatabase(nowMs: () => number): DatabaseSync {
  const db = migratedMemory();
  db.function('sim_ms', () => nowMs());
  db.exec('pragma trusted_schema = on'); // The log asks for the time.
  db.exec(logSql);
  return db;
}

export function readLog(db: DatabaseSync): LogRow[] {
  return db
    .prepare('select * from sim_log order by no')
    .all()
    .map((row) => ({
      atMs: Number(row['at_ms']),
      what: String(row['what']),
      event: String(row['event']),
      n: Number(row['n']),
      a: Number(row['a']),
      b: Number(row['b']),
    }));
}

export function readEvents(db: DatabaseSync): EventRow[] {
  return db
    .prepare('select id, name, payload, deliveries from event order by id')
    .all()
    .map((row) => ({
      id: `evt_${String(row['id'])}`,
      name: String(row['name']),
      body: bytesOf(row['payload']),
      deliveries: row['deliveries'] === null ? undefined : Number(row['deliveries']),
    }));
}

const states = ['pending', 'delivered', 'dead', 'cancelled'] as const;

export function readDeliveries(db: DatabaseSync): DeliveryRow[] {
  return db
    .prepare(
      `select known.event, n, known.state, attempts, subscription.id as subscription from (
        select event, n, callback, 0 as state, attempts from delivery_live
        union all select event, n, callback, state, attempts from delivery_done) as known
      join callback on callback.no = known.callback
      join subscription on subscription.no = callback.subscription order by known.event, n`,
    )
    .all()
    .map((row) => ({
      id: `dlv_${String(row['event'])}_${String(row['n'])}`,
      event: `evt_${String(row['event'])}`,
      subscription: `sub_${String(row['subscription'])}`,
      state: states[Number(row['state'])] ?? 'pending',
      attempts: Number(row['attempts']),
    }));
}

/** What is asked again and again. */
export interface Looks {
  countPending: () => number;
  /** What must hold at every instant. */
  snapshotFlaws: () => string[];
}

export function prepareLooks(db: DatabaseSync): Looks {
  const pending = db.prepare(
    'select (select count(*) from delivery_live) + (select count(*) from fanout) as count',
  );
  const snapshot = db.prepare(snapshotSql);
  return {
    countPending: () => Number(pending.get()?.['count']),
    snapshotFlaws: () => flawsOf(snapshot.get() ?? {}),
  };
}

const snapshotSql = `select
        (select coalesce(sum(deliveries), 0) from event) as accepted,
        (select count(*) from delivery_done) as ended,
        (select count(*) from delivery_live) as pending,
        (select coalesce(sum(made + revived - delivered - dead - cancelled), 0) from stat_app
          where writer > 0 or minute = 0) as counted,
        (select coalesce(group_concat(no, ' '), '') from lane
          where state = 0 and ready_ms = 9007199254740991
            and exists (select 1 from delivery_live where lane = lane.no and lease is null)
            and not (ordered and exists (
              select 1 from delivery_live where lane = lane.no and lease is not null))) as asleep`;

function flawsOf(row: Record<string, SQLOutputValue>): string[] {
  const number = (name: string): number => Number(row[name]);
  const [accepted, ended, pending] = [number('accepted'), number('ended'), number('pending')];
  const flaws: string[] = [];
  if (accepted !== ended + pending) {
    flaws.push(`${accepted} deliveries were accepted, ${ended} ended and ${pending} are pending`);
  }
  if (number('counted') !== pending) {
    flaws.push(`the statistics count ${number('counted')} pending, there are ${pending}`);
  }
  if (row['asleep'] !== '') flaws.push(`lanes ${String(row['asleep'])} sleep, and some wait`);
  return flaws;
}

function bytesOf(value: SQLOutputValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : '';
}
