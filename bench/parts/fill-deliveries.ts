// Fills a database with a long history by plain SQL: events, deliveries in every state, attempts
// and responses, of several apps and subscriptions. Its schema must be current and its tables
// empty; on PostgreSQL it creates the day partitions. For benchmarks only.
import type { DatabaseSync } from 'node:sqlite';
import type { Client } from 'pg';
import { ensurePartitions } from '../../src/store/postgres/schema/partitions.ts';
import { filledApps, filledRow, type FilledRow, type FillOptions } from './filled-rows.ts';

const never = 9_007_199_254_740_991;
const payload = Buffer.from(JSON.stringify({ message: 'x'.repeat(200) }));
const head = JSON.stringify({ method: 'post', url: 'https://receiver.example/', headers: [] });

/** Rows per transaction. */
const rowsAtOnce = 2_048;

export function fillSqlite(db: DatabaseSync, options: FillOptions): void {
  db.exec('pragma foreign_keys = off');
  for (const sql of ownersSql('x')) db.exec(sql);
  const event = db.prepare(`
    insert into event (id, app, name, slice, created_ms, deliveries, payload)
    values (?, ?, ?, ?, ?, 1, ?)`);
  const done = db.prepare(`
    insert into delivery_done
      (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
    values (?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const live = db.prepare(`
    insert into delivery_live (event, n, app, lane, callback, due_ms, tries, attempts, slice)
    values (?, 0, ?, ?, ?, ?, ?, ?, ?)`);
  const attempt = db.prepare(`
    insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head)
    values (?, 0, ?, 1, ?, 20, ?, ?, ?)`);
  for (let from = 0; from < options.events; from += rowsAtOnce) {
    db.exec('begin');
    for (const row of rowsFrom(from, options)) {
      const { id, app, name, slice, atMs, lane, attempts, code, error } = row;
      event.run(id, app, name, slice, atMs, payload);
      const state = ended[row.state];
      if (state === undefined) live.run(id, app, lane, lane, never - 1, attempts, attempts, slice);
      else done.run(id, app, lane, lane, state, attempts, code, error, slice, atMs + 30);
      if (attempts === 0) continue;
      attempt.run(id, attempts, atMs, code, error, head);
    }
    db.exec('commit');
  }
  db.exec(spansSql);
  db.exec('pragma wal_checkpoint(truncate)');
}

export async function fillPostgres(client: Client, options: FillOptions): Promise<void> {
  const fromMs = options.untilMs - options.spanMs;
  await client.query('set statement_timeout = 0');
  await ensurePartitions(client, { fromMs, toMs: options.untilMs });
  for (const sql of ownersSql('\\x00')) await client.query(sql);
  for (let from = 0; from < options.events; from += rowsAtOnce) {
    const rows = rowsFrom(from, options);
    const column = <K extends keyof FilledRow>(name: K): FilledRow[K][] =>
      rows.map((row) => row[name]);
    await client.query(boundedSearch, [
      column('id'),
      column('app'),
      column('name'),
      column('slice'),
      column('atMs'),
      column('lane'),
      rows.map(({ state }) => ended[state] ?? 0),
      column('attempts'),
      column('code'),
      column('error'),
      payload,
      head,
    ]);
  }
  const slices = Math.ceil(options.events / rowsAtOnce) + 1;
  await client.query("select setval('slice', $1)", [slices]);
  for (const table of ['app', 'subscription', 'lane', 'callback']) {
    await client.query(`select setval('${table}_no_seq', max(no)) from ${table}`);
  }
  await client.query(spansSql);
  await client.query('vacuum analyze');
}

const ended: Readonly<Partial<Record<FilledRow['state'], number>>> = {
  delivered: 1,
  dead: 2,
  cancelled: 3,
};

function rowsFrom(from: number, options: FillOptions): FilledRow[] {
  const length = Math.min(rowsAtOnce, options.events - from);
  return Array.from({ length }, (_, at) => filledRow(from + at, options));
}

const spansSql = `
  insert into slice_span (slice, first_event, last_event)
  select slice, min(id), max(id) from event group by slice`;

/** Apps, and for each callback a subscription and a lane, all with the same number. */
function ownersSql(secrets: string): string[] {
  const apps = filledApps.map(({ name }, i) => `(${i + 1}, '${idOf(i + 1)}', '${name}', 1)`);
  const owners = filledApps.flatMap(({ callbacks }, app) => Array<number>(callbacks).fill(app + 1));
  const each = (toRow: (app: number, no: number) => string): string =>
    owners.map((app, i) => `(${toRow(app, i + 1)})`).join(', ');
  const bytes = secrets === 'x' ? "x'00'" : `'${secrets}'`;
  return [
    `insert into app (no, id, name, created_ms) values ${apps.join(', ')}`,
    `insert into subscription (no, id, app, contract, operation, secrets, version, created_ms)
     values ${each((app, no) => `${no}, '${idOf(no)}', ${app}, 'Ringback', 'subscribe', ${bytes}, 1, 1`)}`,
    `insert into lane (no, app, subscription) values ${each((app, no) => `${no}, ${app}, ${no}`)}`,
    `insert into callback
       (no, app, subscription, position, label, event, definition, method, url, lane)
     values ${each((app, no) => `${no}, ${app}, ${no}, 0, 'x', '*', 'x', 'post', 'http://x/${no}', ${no}`)}`,
  ];
}

/** The id of an app or a subscription. */
export function idOf(no: number): string {
  return String(no).padStart(26, '0');
}

const boundedSearch = `
  with x as materialized (
    select * from unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[],
      $6::bigint[], $7::smallint[], $8::int[], $9::int[], $10::text[])
      as x (id, app, name, slice, at_ms, lane, state, attempts, code, error)),
  events as (
    insert into event (id, app, name, slice, created_ms, deliveries, payload)
    select id, app, name, slice, at_ms, 1, $11 from x),
  done as (
    insert into delivery_done
      (event, n, app, lane, callback, state, attempts, code, error, slice, ended_ms)
    select id, 0, app, lane, lane, state, attempts, code, error, slice, at_ms + 30 from x
    where state > 0),
  live as (
    insert into delivery_live (event, n, app, lane, callback, due_ms, tries, attempts, slice)
    select id, 0, app, lane, lane, ${never - 1}, attempts, attempts, slice from x where state = 0)
  insert into attempt (event, n, k, node, started_ms, took_ms, code, error, head)
  select id, 0, attempts, 1, at_ms, 20, code, error, $12 from x where attempts > 0`;
