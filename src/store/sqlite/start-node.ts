// A new incarnation of a node. On SQLite there is one node at a time, so whatever an older one held is
// free again, and the lanes of these deliveries are woken.
import type { DatabaseSync } from 'node:sqlite';
import { settled } from '../../core/lane.ts';
import { prepareLanes } from './lanes.ts';
import { integer, one } from './row.ts';
import type { Edit } from './verb.ts';

export const startNodeSql = {
  insert: `
    insert into node (name, role, version, started_ms, seen_ms)
    values (:name, :role, :version, :nowMs, :nowMs) returning no`,
  others: 'update node set gone = 1 where no < ? and gone = 0',
  lanes: 'select distinct lane from delivery_live where lease is not null',
  free: 'update delivery_live set lease = null where lease is not null',
  sweepAgain: 'update lane set swept = 0 where no = ?',
} as const;

export function prepareStartNode(db: DatabaseSync): Edit<'startNode'> {
  const insert = db.prepare(startNodeSql.insert);
  const others = db.prepare(startNodeSql.others);
  const free = prepareFree(db);
  return ({ name, role, version, aloneHere }, { nowMs }) => {
    const node = integer(one(insert.get({ name, role, version, nowMs })), 'no');
    if (!aloneHere) return { node, freed: 0 };
    others.run(node);
    return { node, freed: free(nowMs) };
  };
}

function prepareFree(db: DatabaseSync): (nowMs: number) => number {
  const running = db.prepare(startNodeSql.lanes);
  const free = db.prepare(startNodeSql.free);
  const sweepAgain = db.prepare(startNodeSql.sweepAgain);
  const lanes = prepareLanes(db);
  return (nowMs) => {
    for (const row of running.all()) {
      const lane = lanes.get(integer(row, 'lane'));
      if (lane.state === 'ended') sweepAgain.run(lane.no);
      const times = settled(lane, nowMs, { kind: 'released', dueMs: nowMs });
      if (times !== undefined) lanes.write(lane, times);
    }
    return Number(free.run().changes);
  };
}
