// Reads the service's record of attempts from its database after it has ended.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Attempts of one behaviour with the same outcome. */
export interface Alike {
  state: 'delivered' | 'failed' | 'cancelled';
  status: number | undefined;
  error: string | undefined;
  count: number;
  /** `took`: the duration of the attempt. `held`: until its outcome was stored, which frees the slot. */
  tookMinMs: number;
  tookMaxMs: number;
  heldMaxMs: number;
}

export type CaseRecord = readonly Alike[];

const states = { 1: 'delivered', 2: 'failed', 3: 'cancelled' } as const;

/** By event name. */
export function readRecord(dataDir: string): Map<string, CaseRecord> {
  const db = new DatabaseSync(join(dataDir, 'ringback.db'), { readOnly: true });
  try {
    const rows = db
      .prepare(
        `select event.name, d.state, a.code, a.error, count(*) as count,
           min(a.took_ms) as took_min_ms, max(a.took_ms) as took_max_ms,
           max(d.ended_ms - a.started_ms) as held_max_ms
         from event
           join delivery_done d on d.event = event.id
           join attempt a on a.event = d.event and a.n = d.n
         group by 1, 2, 3, 4`,
      )
      .all() as unknown as Row[];
    const found = new Map<string, Alike[]>();
    for (const row of rows) {
      const alike = {
        state: states[row.state],
        status: row.code ?? undefined,
        error: row.error ?? undefined,
        count: row.count,
        tookMinMs: row.took_min_ms,
        tookMaxMs: row.took_max_ms,
        heldMaxMs: row.held_max_ms,
      };
      found.set(row.name, [...(found.get(row.name) ?? []), alike]);
    }
    return found;
  } finally {
    db.close();
  }
}

interface Row {
  name: string;
  state: 1 | 2 | 3;
  code: number | null;
  error: string | null;
  count: number;
  took_min_ms: number;
  took_max_ms: number;
  held_max_ms: number;
}
