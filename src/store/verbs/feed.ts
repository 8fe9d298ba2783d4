// The feed of changes: rows written by many nodes, each read from its own cursor.
import { strict as assert } from 'node:assert';
import type { Row } from '../sql/row.ts';
import { integer, text } from '../sql/row.ts';
import { all, forEach } from '../sql/statement.ts';
import { deliveriesNamed as named } from './shared/delivery.ts';
import type { Edit, Read } from './shared/verb.ts';

export const feedSql = {
  append: `
    insert into change_feed (app, node, seq, at_ms, digest) values (?1, ?2, ?3, ?4, ?5)
    on conflict (app, node, seq) do nothing`,
  // Jumps from node to node by the primary key, instead of reading all rows of each.
  heads: `
    with recursive teller (node) as (
      select min(node) from change_feed where app = ?1
      union all
      select (select min(node) from change_feed where app = ?1 and node > teller.node)
      from teller where teller.node is not null)
    select node, (select max(seq) from change_feed where app = ?1 and node = teller.node) as seq
    from teller where node is not null`,
  after: `
    select node, seq, digest from change_feed where app = ?1 and node = ?2 and seq > ?3
    order by seq limit ?4 + 0`,
  forget: `
    delete from change_feed where (app, node, seq) in
      (select app, node, seq from change_feed where at_ms < ?1 order by at_ms limit ?2 + 0)
    returning seq`,
} as const;

export const watchSql = {
  watch: `
    insert into watch (app, node, until_ms) values (?1, ?2, ?3)
    on conflict (app, node) do update set until_ms = excluded.until_ms`,
  apps: 'select app from watch where until_ms > ?1',
  forget: `
    delete from watch where (app, node) in
      (select app, node from watch where until_ms < ?1 order by until_ms limit ?2 + 0)
    returning app`,
} as const;

export const appendFeed: Edit<'appendFeed'> = function* ({ node, rows }, nowMs) {
  for (const { appNo, seq, digest } of rows) {
    yield* all(feedSql.append, appNo, node, seq, nowMs, digest);
  }
  return { kind: 'appended' };
};

export const watch: Edit<'watch'> = function* ({ node, apps, untilMs }) {
  for (const appNo of apps) yield* all(watchSql.watch, appNo, node, untilMs);
  return { kind: 'watched' };
};

export const forgetFeed: Edit<'forgetFeed'> = function* ({ beforeMs, limit }) {
  assert(limit >= 1, `Cannot forget ${limit} rows: to SQLite a negative limit means no limit`);
  const gone = yield* all(feedSql.forget, beforeMs, limit);
  const over = yield* all(watchSql.forget, beforeMs, limit);
  return { deleted: Math.max(gone.length, over.length) };
};

export const feed: Read<'feed'> = function* ({ appNo, after, limit }) {
  const found = yield* all(feedSql.heads, appNo);
  const heads = new Map(found.map((row) => [integer(row, 'node'), integer(row, 'seq')]));
  const asked = after === undefined ? [] : [...heads].filter(isBeyond(after));
  const rows = yield* forEach(
    feedSql.after,
    asked.map(([node]) => [appNo, node, after?.get(node) ?? 0, limit]),
  );
  return { heads, rows: rows.map(toFeedRow) };
};

function isBeyond(after: ReadonlyMap<number, number>): (head: [number, number]) => boolean {
  return ([node, seq]) => seq > (after.get(node) ?? 0);
}

function toFeedRow(row: Row): { node: number; seq: number; digest: string } {
  return { node: integer(row, 'node'), seq: integer(row, 'seq'), digest: text(row, 'digest') };
}

export const watched: Read<'watched'> = function* ({ nowMs }) {
  const rows = yield* all(watchSql.apps, nowMs);
  return [...new Set(rows.map((row) => integer(row, 'app')))];
};

export const deliveriesNamed: Read<'deliveriesNamed'> = function* ({ appNo, names }) {
  return [...(yield* named(appNo, names)).values()];
};
