// What lies ahead: when the next lane is ready, and whether a large fan-out is under way.
import type { DatabaseSync } from 'node:sqlite';
import type { Row } from '../row.ts';
import { integer, maybe } from '../row.ts';
import type { Slots } from '../slots.ts';
import type { Aside } from '../aside.ts';

export const outlookSql = {
  ready: `
    select no, concurrency, ready_ms from lane where ready_ms < 9007199254740991
    order by ready_ms, no limit ? + 0`,
  fanOut: 'select event from fanout order by event limit 1',
  otherFanOut: `
    select event from fanout where event > ? and event not in (select value from json_each(?))
    order by event limit 1`,
} as const;

export interface LooksAhead {
  /** Full lanes do not count: whoever frees a slot asks again. Undefined: none is ever ready. */
  readyMs(slots: Slots): number | undefined;
  isFanningOut(): boolean;
}

export function prepareOutlook(db: DatabaseSync, aside: Aside): LooksAhead {
  const ready = db.prepare(outlookSql.ready);
  const fanOut = db.prepare(outlookSql.fanOut);
  const otherFanOut = db.prepare(outlookSql.otherFanOut);
  return {
    readyMs: (slots) => {
      const rows = ready.iterate(slots.fullMax() + 1);
      const row = rows.find((one) => !slots.isFull(toCapped(one)));
      return row === undefined ? undefined : integer(row, 'ready_ms');
    },
    isFanningOut: () =>
      (aside.isEmpty() ? fanOut.get() : otherFanOut.get(aside.upTo(), aside.list())) !== undefined,
  };
}

function toCapped(row: Row): { no: number; concurrency: number | undefined } {
  return { no: integer(row, 'no'), concurrency: maybe(integer, row, 'concurrency') };
}
