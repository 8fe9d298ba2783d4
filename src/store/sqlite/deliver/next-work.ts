// What to do next: when the next lane is ready, and whether a large fan-out is in progress.
import type { DatabaseSync } from 'node:sqlite';
import type { Lane } from '../../../core/domain/lane.ts';
import { limits } from '../../../core/limits/limits.ts';
import type { Row } from '../../sql/row.ts';
import { integer, maybe } from '../../sql/row.ts';
import type { OfferSlots } from '../../rules/offer-slots.ts';
import type { StalledFanOuts } from '../../rules/fan-outs.ts';

export const nextWorkSql = {
  ready: `
    select no, app, concurrency, ready_ms from lane where ready_ms < 9007199254740991
    order by ready_ms, no limit ? + 0`,
  nextApp: `
    select app from lane where app > ? and ready_ms < 9007199254740991 order by app limit 1`,
  readyOfApp: `
    select no, app, concurrency, ready_ms from lane
    where app = ? and ready_ms < 9007199254740991 order by ready_ms, no limit ? + 0`,
  one: `
    select no, app, concurrency, ready_ms from lane where no = ? and ready_ms < 9007199254740991`,
  fanOut: 'select event from fanout order by event limit 1',
  otherFanOut: `
    select event from fanout where event > ? and event not in (select value from json_each(?))
    order by event limit 1`,
} as const;

export interface FindNextWork {
  /**
   * Ignores full lanes: a slot that becomes free triggers another claim. Undefined: no lane will
   * become ready.
   */
  readyMs(slots: OfferSlots): number | undefined;
  isFanningOut(): boolean;
}

export function prepareNextWork(db: DatabaseSync, stalled: StalledFanOuts): FindNextWork {
  const ready = db.prepare(nextWorkSql.ready);
  const readyMsOfApps = prepareReadyOfApps(db);
  const fanOut = db.prepare(nextWorkSql.fanOut);
  const otherFanOut = db.prepare(nextWorkSql.otherFanOut);
  return {
    readyMs: (slots) => {
      const most = slots.hasFullApp() ? limits.claimLanesBesideFull : slots.fullMax() + 1;
      let seen = 0;
      for (const row of ready.iterate(most)) {
        if (!slots.isFull(toCapped(row))) return integer(row, 'ready_ms');
        seen += 1;
      }
      return seen < most ? undefined : readyMsOfApps(slots);
    },
    isFanningOut: () =>
      (stalled.isEmpty() ? fanOut.get() : otherFanOut.get(stalled.upTo(), stalled.list())) !==
      undefined,
  };
}

/**
 * Used when the first ready lanes belong to apps that are full: app by app, skipping all their
 * lanes.
 */
function prepareReadyOfApps(db: DatabaseSync): (slots: OfferSlots) => number | undefined {
  const nextApp = db.prepare(nextWorkSql.nextApp);
  const readyOfApp = db.prepare(nextWorkSql.readyOfApp);
  const one = db.prepare(nextWorkSql.one);
  return (slots) => {
    let earliestMs: number | undefined;
    const see = (rows: Iterable<Row>): void => {
      for (const row of rows) {
        if (slots.isFull(toCapped(row))) continue;
        earliestMs = Math.min(earliestMs ?? Infinity, integer(row, 'ready_ms'));
        return;
      }
    };
    const { whole, unproven, proven } = slots.fullApps();
    const passedOver = new Set([...whole, ...unproven]);
    for (const no of proven) see(one.all(no));
    let app = 0;
    for (let apps = 0; apps < limits.nextWorkAppsMax; apps += 1) {
      const row = nextApp.get(app);
      if (row === undefined) break;
      app = integer(row, 'app');
      if (!passedOver.has(app)) see(readyOfApp.iterate(app, slots.fullMax() + 1));
    }
    return earliestMs;
  };
}

function toCapped(row: Row): Pick<Lane, 'no' | 'appNo' | 'concurrency'> {
  return {
    no: integer(row, 'no'),
    appNo: integer(row, 'app'),
    concurrency: maybe(integer, row, 'concurrency'),
  };
}
