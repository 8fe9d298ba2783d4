// Edits of a subscription: pause and resume, new targets, new secrets; all of one edit or nothing.
import { strict as assert } from 'node:assert';
import type { DatabaseSync } from 'node:sqlite';
import type { EditInput } from '../store.ts';
import { prepareRaiseVersion } from './app-version.ts';
import { prepareListen } from './listen.ts';
import { integer, maybe, text } from './row.ts';
import type { Found } from './subscriptions.ts';
import { prepareFindSubscription } from './subscriptions.ts';
import type { Edit } from './verb.ts';

export const editSubscriptionSql = {
  edit: `
    update subscription set version = :version, state = :state, secrets = :secrets
    where no = :no`,
  hold: `
    update lane set state = 1, ready_ms = 9007199254740991
    where subscription = :no and state = 0`,
  // Something may have come in while it was held, so a claim must look as soon as the gate allows.
  resume: `
    update lane set state = 0, ready_ms = max(:nowMs, gate_ms)
    where subscription = :no and state = 1`,
  // Whoever holds a delivery of the lane learns from it that there is something new.
  renew: 'update lane set version = :version where subscription = :no',
  callback: 'select no, event, lane from callback where subscription = ? and position = ?',
  target: 'update callback set url = :url, inactive = null, lane = :lane where no = :callback',
} as const;

export function prepareEditSubscription(db: DatabaseSync): Edit<'editSubscription'> {
  const find = prepareFindSubscription(db);
  const raiseVersion = prepareRaiseVersion(db);
  const edit = db.prepare(editSubscriptionSql.edit);
  const hold = db.prepare(editSubscriptionSql.hold);
  const resume = db.prepare(editSubscriptionSql.resume);
  const renew = db.prepare(editSubscriptionSql.renew);
  const setTargets = prepareSetTargets(db);

  return (input, { nowMs }) => {
    const found = find(input);
    if (found === undefined) return { kind: 'not_found' };
    const { no, subscription } = found;
    if (subscription.state === 'ended') return { kind: 'ended' };
    if (subscription.version !== input.version) return { kind: 'stale' };

    const version = raiseVersion(input.appNo);
    const state = input.state ?? subscription.state;
    edit.run({ no, version, state, secrets: input.secrets ?? subscription.secrets });
    if (state === 'active') resume.run({ no, nowMs });
    else hold.run({ no });
    renew.run({ no, version });
    setTargets(input.urls, { no, subscription: { ...subscription, state, version } });

    const edited = find(input);
    assert(edited !== undefined);
    return { kind: 'edited', subscription: edited.subscription };
  };
}

type Urls = EditInput<'editSubscription'>['urls'];

/** A target for a callback that had none also makes it listen, from this version on. */
function prepareSetTargets(db: DatabaseSync): (urls: Urls, found: Found) => void {
  const callbackAt = db.prepare(editSubscriptionSql.callback);
  const setTarget = db.prepare(editSubscriptionSql.target);
  const listen = prepareListen(db);

  return (urls, { no, subscription: { id, appNo, contract, state, version } }) => {
    for (const { position, url } of urls) {
      const row = callbackAt.get(no, position);
      assert(row !== undefined, `Cannot edit callback ${position} of "${id}": there is none`);
      const callback = integer(row, 'no');
      const lane = maybe(integer, row, 'lane');
      if (lane !== undefined) {
        setTarget.run({ callback, url, lane });
        continue;
      }
      const laneState = state === 'active' ? 'open' : 'held';
      const added = listen.addLane({ appNo, subscription: no, state: laneState, version });
      setTarget.run({ callback, url, lane: added });
      const pattern = text(row, 'event');
      listen.addPattern({ appNo, contract, pattern, callback, lane: added, born: version });
    }
  };
}
