// All verbs of the port, each prepared on a connection, and the way from a call to its verb.
import type { DatabaseSync } from 'node:sqlite';
import type { EditCall, ReadCall } from '../call.ts';
import type { EditOutput, EditVerb, ReadOutput, ReadVerb } from '../store.ts';
import { prepareAttempts } from './attempts.ts';
import { prepareDeliveries } from './deliveries.ts';
import { prepareDelivery } from './delivery.ts';
import { prepareEvent, prepareEvents } from './events.ts';
import { preparePublish } from './publish.ts';
import { prepareRetryDelivery } from './retry-delivery.ts';
import {
  prepareHeartbeat,
  prepareNodes,
  prepareRescue,
  prepareStartNode,
  prepareStopNode,
} from './nodes.ts';
import { prepareRetain } from './retain.ts';
import { prepareSweep } from './sweep.ts';
import { prepareTally } from './tally.ts';
import { prepareTargets } from './targets.ts';
import { prepareApp, prepareApps, prepareCreateApp } from './apps.ts';
import { prepareEditSubscription } from './edit-subscription.ts';
import { prepareForget } from './forget.ts';
import { prepareHealth } from './health.ts';
import {
  prepareCreateKey,
  prepareKey,
  prepareKeys,
  prepareRevokeKey,
  prepareRotateKey,
  prepareTouchKeys,
} from './keys.ts';
import { prepareKeepSetting } from './settings.ts';
import { prepareSubscribe } from './subscribe.ts';
import { prepareSubscription, prepareSubscriptions } from './subscriptions.ts';
import { prepareUnsubscribe } from './unsubscribe.ts';
import type { Edit, EditContext, Read } from './verb.ts';

export type EditTable = { [V in EditVerb]: Edit<V> };
export type ReadTable = { [V in ReadVerb]: Read<V> };

export function prepareEdits(db: DatabaseSync): EditTable {
  return {
    createApp: prepareCreateApp(db),
    createKey: prepareCreateKey(db),
    rotateKey: prepareRotateKey(db),
    revokeKey: prepareRevokeKey(db),
    touchKeys: prepareTouchKeys(db),
    subscribe: prepareSubscribe(db),
    unsubscribe: prepareUnsubscribe(db),
    editSubscription: prepareEditSubscription(db),
    keepSetting: prepareKeepSetting(db),
    forget: prepareForget(db),
    publish: preparePublish(db),
    startNode: prepareStartNode(db),
    heartbeat: prepareHeartbeat(db),
    stopNode: prepareStopNode(db),
    rescue: prepareRescue(db),
    retain: prepareRetain(db),
    // Nobody else can write into this database, so nothing ever waits in its inbox.
    takeInbox: () => ({ entries: [] }),
    rejectInbox: () => ({ kind: 'taken' }),
    retryDelivery: prepareRetryDelivery(db),
    sweep: prepareSweep(db),
  };
}

export function prepareReads(db: DatabaseSync): ReadTable {
  return {
    key: prepareKey(db),
    keys: prepareKeys(db),
    app: prepareApp(db),
    apps: prepareApps(db),
    subscription: prepareSubscription(db),
    subscriptions: prepareSubscriptions(db),
    health: prepareHealth(db),
    targets: prepareTargets(db),
    event: prepareEvent(db),
    events: prepareEvents(db),
    delivery: prepareDelivery(db),
    attempts: prepareAttempts(db),
    deliveries: prepareDeliveries(db),
    tally: prepareTally(db),
    nodes: prepareNodes(db),
  };
}

export function applyEdit<V extends EditVerb>(
  edits: EditTable,
  call: EditCall<V>,
  context: EditContext,
): EditOutput<V> {
  return edits[call.verb](call.input, context);
}

export function applyRead<V extends ReadVerb>(reads: ReadTable, call: ReadCall<V>): ReadOutput<V> {
  return reads[call.verb](call.input);
}
