// The database of a simulation, with triggers that log its changes, and queries on it.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { migratedMemory } from '../../store/migrated-memory.ts';
import type { DeliveryRow, EventRow, LogRow, ReplayRow } from '../invariants/history.ts';

const logSql = `
  create table sim_log (no integer primary key, at_ms real, what text, event text, n integer, a integer,
    b integer);
  create trigger sim_made after insert on delivery_live begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'made', new.event, new.n, new.due_ms, new.lane);
  end;
  create trigger sim_claimed after update of lease on delivery_live
  when old.lease is null and new.lease is not null
    and (select interval_ms from lane where no = new.lane) is not null begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'claimed', new.event, new.n, sim_written_ms(), new.lane);
  end;
  create trigger sim_ended after insert on delivery_done begin
    insert into sim_log (at_ms, what, event, n, a, b)
    values (sim_ms(), 'ended', new.event, new.n, new.state, new.ended_ms);
  end;
  create trigger sim_fan_out after insert on fanout begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'fan-out', new.event, 0, 0, 0);
  end;
  create trigger sim_fanned after delete on fanout begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'fanned', old.event, 0, 0, 0);
  end;
  create trigger sim_replay after insert on replay begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'replay', new.id, 0, 0, 0);
  end;
  -- A step begins with an update that changes nothing.
  create trigger sim_step after update of n on replay
  when (new.event, new.n, new.matched, new.state) is (old.event, old.n, old.matched, old.state) begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'step', new.id, 0, 0, 0);
  end;
  create trigger sim_stepped after update of matched on replay begin
    insert into sim_log (at_ms, what, event, n, a, b) values (sim_ms(), 'stepped', new.id, 0, 0, 0);
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

export interface DatabaseClocks {
  /** The clock that no node can see. */
  nowMs: () => number;
  /** The time that the current transaction uses. */
  writtenMs: () => number;
}

export function openDatabase({ nowMs, writtenMs }: DatabaseClocks): DatabaseSync {
  const db = migratedMemory();
  db.function('sim_ms', () => nowMs());
  db.function('sim_written_ms', () => writtenMs());
  db.exec('pragma trusted_schema = on'); // The triggers call functions for the time.
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

export function readReplays(db: DatabaseSync): ReplayRow[] {
  return db
    .prepare('select * from replay order by no')
    .all()
    .map((row) => ({
      id: String(row['id']),
      wanted: oneOf(['ended', 'delivered', 'dead', 'cancelled'] as const, row['wanted']),
      state: oneOf(['running', 'done', 'cancelled'] as const, row['state']),
      event: row['name'] === null ? undefined : String(row['name']),
      subscriberId: row['subscription'] === null ? undefined : `sub_${String(row['subscription'])}`,
      ratePerSecond: Number(row['rate']),
      replayed: Number(row['replayed']),
      createdMs: Number(row['created_ms']),
    }));
}

function oneOf<T extends string>(list: readonly T[], value: SQLOutputValue | undefined): T {
  const found = list.find((one) => one === value);
  if (found === undefined) throw new Error(`Cannot read "${String(value)}"`);
  return found;
}

/** Prepared queries that run often. */
export interface Looks {
  countPending: () => number;
  /** Checks what must hold at every moment. */
  snapshotFlaws: () => string[];
}

export function prepareLooks(db: DatabaseSync): Looks {
  const pending = db.prepare(
    `select (select count(*) from delivery_live) + (select count(*) from fanout)
      + (select count(*) from replay where state = 'running') as count`,
  );
  const snapshot = db.prepare(snapshotSql);
  return {
    countPending: () => Number(pending.get()?.['count']),
    snapshotFlaws: () => flawsOf(snapshot.get() ?? {}),
  };
}

const snapshotSql = `select
        (select coalesce(sum(deliveries), 0) from event)
          + (select coalesce(sum(made), 0) from fanout) as accepted,
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
  if (row['asleep'] !== '')
    flaws.push(`lanes ${String(row['asleep'])} sleep, but have pending deliveries`);
  return flaws;
}

function bytesOf(value: SQLOutputValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : '';
}
