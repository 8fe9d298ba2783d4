// Unsubscribe: ends a subscription of the app; ending it again changes nothing.
import type { DatabaseSync } from 'node:sqlite';
import { prepareEndSubscription } from './end-subscription.ts';
import { prepareFindSubscription } from './subscriptions.ts';
import type { Edit } from './verb.ts';

export function prepareUnsubscribe(db: DatabaseSync): Edit<'unsubscribe'> {
  const find = prepareFindSubscription(db);
  const end = prepareEndSubscription(db);
  return ({ appNo, id }, { nowMs }) => {
    const found = find({ appNo, id });
    if (found === undefined) return { kind: 'not_found' };
    const { no, subscription } = found;
    if (subscription.state === 'ended') return { kind: 'ended', subscription };
    const version = end({ no, appNo, nowMs });
    return {
      kind: 'ended',
      subscription: { ...subscription, state: 'ended', endedMs: nowMs, version },
    };
  };
}
