// What sending needs to know of callbacks. A callback that never had a target has no lane either, and
// is as good as unknown.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../core/limits.ts';
import type { Target } from '../delivery-verbs.ts';
import type { Row } from './row.ts';
import { bytes, integer, text } from './row.ts';
import type { Read } from './verb.ts';

export const targetsSql = {
  one: `
    select callback.no, callback.lane, subscription.version, subscription.state, subscription.id, callback.app,
      app.id as app_id, contract, operation, definition, method, url, secrets
    from callback
      join subscription on subscription.no = callback.subscription
      join app on app.no = callback.app
    where callback.no = ? and callback.lane is not null`,
} as const;

export function prepareTargets(db: DatabaseSync): Read<'targets'> {
  const find = db.prepare(targetsSql.one);
  return ({ callbacks }) => {
    assert(callbacks.length <= limits.targetCacheEntriesMax, 'Cannot read so many targets at once');
    return callbacks.flatMap((callback) => {
      const row = find.get(callback);
      return row === undefined ? [] : [toTarget(row)];
    });
  };
}

function toTarget(row: Row): Target {
  return {
    callback: integer(row, 'no'),
    lane: integer(row, 'lane'),
    version: integer(row, 'version'),
    // A paused one is active too: its deliveries wait, they are not cancelled.
    isActive: text(row, 'state') !== 'ended',
    subscription: text(row, 'id'),
    appNo: integer(row, 'app'),
    appId: text(row, 'app_id'),
    contract: text(row, 'contract'),
    operation: text(row, 'operation'),
    definition: text(row, 'definition'),
    method: text(row, 'method'),
    url: text(row, 'url'),
    secrets: bytes(row, 'secrets'),
  };
}
