// The edits that are the same on both databases, by name.
import type { EditOutput, EditVerb } from '../port/store.ts';
import type { EditCall } from '../port/transport-protocol.ts';
import type { Script } from '../sql/statement.ts';
import type { Fact } from '../statistics/transaction-facts.ts';
import { createApp, editApp } from './accounts/apps.ts';
import { deleteEventType, putEventType } from './accounts/event-types.ts';
import { createKey, revokeKey, rotateKey, touchKeys } from './accounts/keys.ts';
import {
  createSession,
  endSession,
  forgetSessions,
  prolongSession,
  takeTicket,
} from './accounts/sessions.ts';
import { keepSetting } from './accounts/settings.ts';
import { retryDelivery } from './deliveries/retry-delivery.ts';
import { forgetAudit, recordAudit } from './audit.ts';
import { appendFeed, forgetFeed, watch } from './feed.ts';
import { forget, forgetPatterns } from './forget.ts';
import { advanceReplay, cancelReplay, createReplay, forgetReplays } from './replays/replays.ts';
import type { Edit } from './shared/verb.ts';
import { confirmSubscription } from './subscriptions/confirm-subscription.ts';
import { disableFailing } from './subscriptions/failing-receivers.ts';
import { editSubscription } from './subscriptions/edit-subscription.ts';
import { unsubscribe, expireSubscription } from './subscriptions/end-subscription.ts';
import { clearResource, subscribe } from './subscriptions/subscribe.ts';

const shared = {
  createApp,
  editApp,
  createKey,
  rotateKey,
  revokeKey,
  touchKeys,
  putEventType,
  deleteEventType,
  subscribe,
  clearResource,
  confirmSubscription,
  unsubscribe,
  editSubscription,
  expireSubscription,
  disableFailing,
  keepSetting,
  forget,
  forgetPatterns,
  retryDelivery,
  createSession,
  takeTicket,
  prolongSession,
  endSession,
  forgetSessions,
  appendFeed,
  watch,
  forgetFeed,
  createReplay,
  cancelReplay,
  advanceReplay,
  forgetReplays,
  recordAudit,
  forgetAudit,
} as const satisfies { [V in EditVerb]?: Edit<V> };

export type SharedEdit = keyof typeof shared;

export function isShared(call: EditCall): call is EditCall<SharedEdit> {
  return Object.hasOwn(shared, call.verb);
}

const edits: { [V in SharedEdit]: Edit<V> } = shared;

export function editScript<V extends SharedEdit>(
  call: EditCall<V>,
  nowMs: number,
  facts: Fact[],
): Script<EditOutput<V>> {
  return edits[call.verb](call.input, nowMs, facts);
}
