// Fills every table by SQL with so many rows that a plan with a full scan is noticed.
import type { Client } from 'pg';
import { dayAt } from '../../src/store/postgres/schema/partitions.ts';

export const large = {
  apps: 500,
  lanes: 2_000,
  days: 4,
  /** Events per day, each with an ended and a pending delivery; one in 500 pending ones is running. */
  eventsPerDay: 50_000,
  keys: 20_000,
} as const;

/** Fills the days from `fromMs` on, which must have partitions; later days stay empty. */
export async function fillLarge(client: Client, fromMs: number): Promise<void> {
  const { apps, lanes, days, eventsPerDay, keys } = large;
  const steps = [
    'set statement_timeout = 0',
    `insert into app (id, name, created_ms)
     select lpad(i::text, 26, '0'), 'app ' || i, 1 from generate_series(1, ${lanes}) i`,
    `insert into key (id, app, name, scopes, hash, created_ms)
     select lpad(i::text, 8, '0'), 1 + i % ${apps}, 'key', 'read', sha256(i::text::bytea), 1
     from generate_series(1, ${lanes}) i`,
    `insert into subscription (id, app, contract, operation, secrets, version, created_ms)
     select lpad(i::text, 26, '0'), 1 + i % ${apps}, 'Ringback', 'subscribe', '\\x00', 1, 1
     from generate_series(1, ${lanes}) i`,
    `insert into lane (app, subscription, state, ready_ms, failures)
     select app, no, case no % 100 when 0 then 2 else 0 end,
       case when no % 100 > 50 then no else 9007199254740991 end, no % 3 from subscription`,
    `insert into callback
       (app, subscription, position, label, event, definition, method, url, lane)
     select app, subscription, 0, 'label', 'name', 'definition', 'post', 'http://x/', no from lane`,
    `insert into pattern (app, contract, pattern, callback, born, lane)
     select app, 'Ringback', 'name.' || no % 100, no, 1, lane from callback`,
    `insert into node (name, role, version, started_ms, seen_ms, gone)
     select 'node', 'all', '1', 1, 1, case when i > 1990 then 0 else 1 end
     from generate_series(1, 2000) i`,
    `insert into idem (app, key, print, result, created_ms)
     select 1 + i % ${apps}, sha256(i::text::bytea), sha256('x'), 'r', i
     from generate_series(1, ${keys}) i`,
    `insert into replay (id, app, wanted, rate, state, first_event, last_event, event, n, below_n,
       next_ms, created_ms, ended_ms)
     select lpad(i::text, 26, '0'), 1 + i % ${apps}, 'dead', 50,
       case i % 100 when 0 then 'running' else 'done' end, '', '', '', 0, 0, i, i,
       case i % 100 when 0 then null else i end
     from generate_series(1, ${keys}) i`,
    `insert into session (hash, kind, key, key_hash, created_ms, expires_ms)
     select sha256(i::text::bytea), 'session', 1 + i % ${lanes}, sha256('x'), 1, i + 1
     from generate_series(1, ${keys}) i`,
    `insert into inbox (id, app, name, payload, created_ms)
     select lpad(i::text, 26, '0'), 1, 'name', '\\x00', 1 from generate_series(1, 5000) i`,
    `insert into stat_app (app, minute, writer, made)
     select 1 + i % 20, 1 + i / 20, case when i > 199000 then 1 else 0 end, 1
     from generate_series(1, 200000) i`,
    `insert into stat_subscription (subscription, minute, made)
     select 1 + i % 500, 1 + i / 500, 1 from generate_series(1, 100000) i`,
  ];
  const dayMs = 24 * 60 * 60 * 1000;
  for (let day = 0; day < days; day += 1) {
    const { fromId } = dayAt(fromMs + day * dayMs);
    const id = `'${fromId.slice(0, 10)}' || lpad(i::text, 16, '0')`;
    const slice = `${day * 20 + 1} + i / 2500`;
    const [app, lane] = [`1 + i % ${apps}`, `1 + i % ${lanes}`];
    const all = `from generate_series(1, ${eventsPerDay}) i`;
    steps.push(
      `insert into event (id, app, name, slice, created_ms, deliveries, payload)
       select ${id}, ${app}, 'name.' || i % 100, ${slice}, i, 1, '\\x00' ${all}`,
      `insert into delivery_done
         (event, n, app, lane, callback, state, attempts, slice, ended_ms)
       select ${id}, 0, ${app}, ${lane}, ${lane}, case when i % 50 = 0 then 2 else 1 end, 1,
         ${slice}, i ${all}`,
      `insert into attempt (event, n, k, node, started_ms, took_ms, head)
       select ${id}, 0, 1, 1, 1, 1, '{}' ${all}`,
      `insert into delivery_live (event, n, app, lane, callback, due_ms, slice, lease)
       select ${id}, 1, ${app}, ${lane}, ${lane}, i, ${slice},
         case when i % 500 = 0 then (1991::bigint << 32) + 1 end ${all}`,
    );
  }
  steps.push(`
    insert into slice_span (slice, first_event, last_event)
    select slice, min(id), max(id) from event group by slice`);
  for (const step of steps) await client.query(step);
  await analyze(client);
}

/** Like autovacuum, analyzes tables with rows, but not empty ones. */
async function analyze(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select relname as name from pg_class
    where relnamespace = 'ringback'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0`);
  for (const { name } of rows) await client.query(`analyze ${name}`);
}
