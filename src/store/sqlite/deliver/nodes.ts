// Nodes: which are alive. SQLite has one node at a time, so leases of any other node are released,
// and the lanes of these deliveries are made ready.
import type { DatabaseSync } from 'node:sqlite';
import { laneAfterSettlement } from '../../../core/domain/lane.ts';
import { prepareLanes } from '../publish/lanes.ts';
import { integer, one } from '../../sql/row.ts';
import type { Edit } from '../transaction/edit.ts';

export const nodesSql = {
  insert: `
    insert into node (name, role, version, started_ms, seen_ms)
    values (:name, :role, :version, :nowMs, :nowMs) returning no`,
  others: 'update node set gone = 1 where no < ? and gone = 0',
  seen: 'update node set seen_ms = ? where no = ? and gone = 0 returning no',
  stop: 'update node set gone = 1 where no = ?',
  silent: 'update node set gone = 1 where gone = 0 and seen_ms < ? returning no',
  lanes: `
    select distinct lane from delivery_live
    where lease is not null and (lease >> 32) not in (select no from node where gone = 0)`,
  free: `
    update delivery_live set lease = null
    where lease is not null and (lease >> 32) not in (select no from node where gone = 0)`,
  sweepAgain: 'update lane set swept = 0 where no = ?',
} as const;

export function prepareStartNode(db: DatabaseSync): Edit<'startNode'> {
  const insert = db.prepare(nodesSql.insert);
  const others = db.prepare(nodesSql.others);
  const free = prepareFree(db);
  return ({ name, role, version, aloneHere }, { nowMs }) => {
    const node = integer(one(insert.get({ name, role, version, nowMs })), 'no');
    if (!aloneHere) return { node, freed: 0 };
    others.run(node);
    return { node, freed: free(nowMs) };
  };
}

export function prepareHeartbeat(db: DatabaseSync): Edit<'heartbeat'> {
  const seen = db.prepare(nodesSql.seen);
  return ({ node }, { nowMs }) => ({
    kind: seen.get(nowMs, node) === undefined ? 'gone' : 'alive',
  });
}

export function prepareStopNode(db: DatabaseSync): Edit<'stopNode'> {
  const stop = db.prepare(nodesSql.stop);
  return ({ node }) => {
    stop.run(node);
    return { kind: 'gone' };
  };
}

export function prepareRescue(db: DatabaseSync): Edit<'rescue'> {
  const silent = db.prepare(nodesSql.silent);
  const free = prepareFree(db);
  return ({ silentMs }, { nowMs }) => {
    const gone = silent.all(nowMs - silentMs).length;
    return { gone, freed: free(nowMs) };
  };
}

/** Releases all deliveries that are leased to nodes that are not alive. */
function prepareFree(db: DatabaseSync): (nowMs: number) => number {
  const running = db.prepare(nodesSql.lanes);
  const free = db.prepare(nodesSql.free);
  const sweepAgain = db.prepare(nodesSql.sweepAgain);
  const lanes = prepareLanes(db);
  return (nowMs) => {
    for (const row of running.all()) {
      const lane = lanes.get(integer(row, 'lane'));
      if (lane.state === 'ended') sweepAgain.run(lane.no);
      const times = laneAfterSettlement(lane, nowMs, { kind: 'released', dueMs: nowMs });
      if (times !== undefined) lanes.write(lane, times);
    }
    return Number(free.run().changes);
  };
}
