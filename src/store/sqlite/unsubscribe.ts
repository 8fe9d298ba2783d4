// Unsubscribe: from this transaction on no publish finds the callbacks and no claim their lanes. The
// deliveries that wait in the lanes, perhaps a million, are swept later and in small steps.
import type { DatabaseSync } from 'node:sqlite';
import { prepareRaiseVersion } from './app-version.ts';
import { prepareFindSubscription } from './subscriptions.ts';
import type { Edit } from './verb.ts';

export const unsubscribeSql = {
  end: `
    update subscription set state = 'ended', ended_ms = :nowMs, version = :version
    where no = :no`,
  endPatterns: `
    update pattern set died = :version
    where callback in (select no from callback where subscription = :no) and died is null`,
  endLanes: `
    update lane set state = 2, ready_ms = 9007199254740991 where subscription = :no`,
} as const;

export function prepareUnsubscribe(db: DatabaseSync): Edit<'unsubscribe'> {
  const find = prepareFindSubscription(db);
  const raiseVersion = prepareRaiseVersion(db);
  const end = db.prepare(unsubscribeSql.end);
  const endPatterns = db.prepare(unsubscribeSql.endPatterns);
  const endLanes = db.prepare(unsubscribeSql.endLanes);

  return ({ appNo, id }, { nowMs }) => {
    const found = find({ appNo, id });
    if (found === undefined) return { kind: 'not_found' };
    const { no, subscription } = found;
    if (subscription.state === 'ended') return { kind: 'ended', subscription };
    const version = raiseVersion(appNo);
    end.run({ no, nowMs, version });
    endPatterns.run({ no, version });
    endLanes.run({ no });
    return {
      kind: 'ended',
      subscription: { ...subscription, state: 'ended', endedMs: nowMs, version },
    };
  };
}
