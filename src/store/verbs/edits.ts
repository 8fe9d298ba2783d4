// The edits that are the same on both databases, by name.
import type { EditCall } from '../call.ts';
import type { Fact } from '../counting.ts';
import type { Script } from '../statement.ts';
import type { EditOutput, EditVerb } from '../store.ts';
import { advanceReplay } from './advance-replay.ts';
import { createApp, editApp } from './apps.ts';
import { disableFailing } from './disable-failing.ts';
import { editSubscription } from './edit-subscription.ts';
import { expireSubscription } from './expire-subscription.ts';
import { appendFeed, forgetFeed, watch } from './feed.ts';
import { forget, forgetPatterns } from './forget.ts';
import { createKey, revokeKey, rotateKey, touchKeys } from './keys.ts';
import { cancelReplay, createReplay, forgetReplays } from './replays.ts';
import { retryDelivery } from './retry-delivery.ts';
import {
  createSession,
  endSession,
  forgetSessions,
  prolongSession,
  takeTicket,
} from './sessions.ts';
import { keepSetting } from './settings.ts';
import { subscribe } from './subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';
import type { Edit } from './verb.ts';

const shared = {
  createApp,
  editApp,
  createKey,
  rotateKey,
  revokeKey,
  touchKeys,
  subscribe,
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
