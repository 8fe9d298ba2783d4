// Creates a data folder as of the second migration, with rows of every kind, to test interrupted upgrades.
import { DatabaseSync } from 'node:sqlite';
import { databaseIn, makeFolder, migrationsDir } from '../../../src/store/open/open.ts';
import { printResult } from '../../../src/store/verbs/shared/idempotency.ts';
import { readMigrations } from '../../../src/store/sql/migration-rules.ts';
import { digest } from '../../store/subject.ts';
import { newId } from '../../store/open-memory.ts';
import type { Line } from './history.ts';
import { nowMs } from './paths.ts';

const tag = 'old';

/** Returns the history of what the old version acknowledged. */
export function makeOldFolder(dataDir: string): Line[] {
  makeFolder(dataDir);
  const db = new DatabaseSync(databaseIn(dataDir));
  try {
    db.exec(`pragma journal_mode = wal; create table migration (
      number integer primary key, name text not null, applied_ms integer not null) strict`);
    for (const { number, name, sql } of readMigrations(migrationsDir).slice(0, 2)) {
      db.exec(sql);
      db.prepare('insert into migration values (?, ?, 1)').run(number, name);
    }
    const [app, subscription] = [newId(), newId()];
    const events = Array.from({ length: 4 }, newId);
    insertOwner(db, { app, subscription });
    for (const [i, id] of events.entries()) insertEvent(db, id, i);
    const accepted = events.map((id) => ({ id, deliveries: 1 }));
    db.prepare('insert into idem values (1, ?, ?, ?, ?)').run(
      digest(`key ${tag}`),
      digest(`print ${tag} ${events.length}`),
      printResult(accepted),
      nowMs,
    );
    return [
      { say: 'ack app', appNo: 1 },
      { say: 'ack subscribe', id: subscription },
      { say: 'try publish', tag, size: events.length, to: undefined },
      { say: 'ack publish', tag, events: accepted },
      ...endsOf(events),
    ];
  } finally {
    db.close();
  }
}

/** Of the four, the first is pending, the second in flight, the third delivered, the fourth dead. */
function endsOf([, running = '', delivered = '', dead = '']: readonly string[]): Line[] {
  return [
    { say: 'leased', event: running, n: 0 },
    { say: 'received', event: delivered, n: 0 },
    { say: 'ack settle', event: delivered, n: 0, outcome: 'delivered' },
    { say: 'ack settle', event: dead, n: 0, outcome: 'dead' },
  ];
}

function insertOwner(db: DatabaseSync, ids: { app: string; subscription: string }): void {
  db.prepare("insert into app (no, id, name, created_ms) values (1, ?, 'old', 1)").run(ids.app);
  db.prepare(
    `insert into subscription (no, id, app, contract, operation, secrets, version, created_ms)
     values (1, ?, 1, 'Ringback', 'subscribe', x'00', 1, 1)`,
  ).run(ids.subscription);
  db.exec(`
    insert into lane (no, app, subscription, ready_ms) values (1, 1, 1, ${nowMs});
    insert into callback (no, app, subscription, position, label, event, definition, method, url, lane)
      values (1, 1, 1, 0, 'myEvent', '*', 'subscribe/myEvent/0', 'post', 'https://r.example/', 1);
    insert into pattern (app, contract, pattern, callback, born, lane)
      values (1, 'Ringback', '*', 1, 1, 1)`);
}

function insertEvent(db: DatabaseSync, id: string, i: number): void {
  db.prepare(
    `insert into event (id, app, name, slice, created_ms, deliveries, payload)
     values (?, 1, ?, 1, ${nowMs}, 1, x'31')`,
  ).run(id, `${tag}.${i}`);
  if (i < 2) {
    db.prepare(
      `insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
       values (?, 0, 1, 1, 1, ${nowMs}, 1, ?)`,
    ).run(id, i === 0 ? null : 7);
    return;
  }
  db.prepare(
    `insert into delivery_done (event, n, app, lane, callback, state, attempts, code, slice, ended_ms)
     values (?, 0, 1, 1, 1, ?, 1, ?, 1, ${nowMs})`,
  ).run(id, i - 1, i === 2 ? 204 : 500);
  db.prepare(
    `insert into attempt (event, n, k, node, started_ms, took_ms, code) values (?, 0, 1, 1, 1, 1, ?)`,
  ).run(id, i === 2 ? 204 : 500);
}
