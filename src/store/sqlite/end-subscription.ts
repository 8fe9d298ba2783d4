// Ends a subscription: from this transaction on no publish finds its callbacks and no claim its lanes.
// The deliveries that wait in the lanes, perhaps a million, are swept later and in small steps.
import type { DatabaseSync } from 'node:sqlite';
import { prepareRaiseVersion } from './app-version.ts';

export const endSubscriptionSql = {
  end: `
    update subscription set state = 'ended', ended_ms = :nowMs, version = :version
    where no = :no`,
  endPatterns: `
    update pattern set died = :version
    where callback in (select no from callback where subscription = :no) and died is null`,
  // A lane in which nothing waits needs no sweep: what runs there ends by itself.
  endLanes: `
    update lane set state = 2, ready_ms = 9007199254740991, swept = not exists
      (select 1 from delivery_live where delivery_live.lane = lane.no and lease is null)
    where subscription = :no`,
} as const;

export interface EndingSubscription {
  no: number;
  appNo: number;
  nowMs: number;
}

/** Gives the new version of the app. */
export type EndSubscription = (subscription: EndingSubscription) => number;

export function prepareEndSubscription(db: DatabaseSync): EndSubscription {
  const raiseVersion = prepareRaiseVersion(db);
  const end = db.prepare(endSubscriptionSql.end);
  const endPatterns = db.prepare(endSubscriptionSql.endPatterns);
  const endLanes = db.prepare(endSubscriptionSql.endLanes);
  return ({ no, appNo, nowMs }) => {
    const version = raiseVersion(appNo);
    end.run({ no, nowMs, version });
    endPatterns.run({ no, version });
    endLanes.run({ no });
    return version;
  };
}
