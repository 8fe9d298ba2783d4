// What sending needs to know about callbacks. A callback that never had a target has no lane
// either, and counts as unknown.
import { strict as assert } from 'node:assert';
import { limits } from '../../../core/limits/limits.ts';
import type { Target } from '../../port/delivery-verbs.ts';
import type { Row } from '../../sql/row.ts';
import { ownBytes, integer, maybe, text, toControls } from '../../sql/row.ts';
import { forEach } from '../../sql/statement.ts';
import type { Read } from '../shared/verb.ts';

export const targetsSql = {
  one: `
    select callback.no, callback.lane, subscription.version, subscription.state, subscription.id, callback.app,
      app.id as app_id, contract, operation, definition, method, url, secrets,
      subscription.settings, subscription.filter, subscription.ordered, subscription.expires_ms,
      subscription.headers
    from callback
      join subscription on subscription.no = callback.subscription
      join app on app.no = callback.app
    where callback.no = ?1 and callback.lane is not null`,
} as const;

export const targets: Read<'targets'> = function* ({ callbacks }) {
  assert(callbacks.length <= limits.targetCacheEntriesMax, 'Cannot read so many targets at once');
  const rows = yield* forEach(
    targetsSql.one,
    callbacks.map((callback) => [callback]),
  );
  return rows.map(toTarget);
};

function toTarget(row: Row): Target {
  return {
    callback: integer(row, 'no'),
    lane: integer(row, 'lane'),
    version: integer(row, 'version'),
    // A paused one is active too: its deliveries stay pending and are not cancelled.
    isActive: text(row, 'state') !== 'ended',
    subscription: text(row, 'id'),
    appNo: integer(row, 'app'),
    appId: text(row, 'app_id'),
    contract: text(row, 'contract'),
    operation: text(row, 'operation'),
    definition: text(row, 'definition'),
    method: text(row, 'method'),
    url: text(row, 'url'),
    secrets: ownBytes(row, 'secrets'),
    controls: toControls(row),
    headers: maybe(ownBytes, row, 'headers'),
  };
}
