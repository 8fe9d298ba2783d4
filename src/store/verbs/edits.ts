// The edits that run alike on both databases, by name.
import type { EditVerb } from '../store.ts';
import { createApp } from './apps.ts';
import { editSubscription } from './edit-subscription.ts';
import { forget } from './forget.ts';
import { createKey, revokeKey, rotateKey, touchKeys } from './keys.ts';
import { retryDelivery } from './retry-delivery.ts';
import { keepSetting } from './settings.ts';
import { subscribe } from './subscribe.ts';
import { unsubscribe } from './unsubscribe.ts';
import type { Edit } from './verb.ts';

export const sharedEdits = {
  createApp,
  createKey,
  rotateKey,
  revokeKey,
  touchKeys,
  subscribe,
  unsubscribe,
  editSubscription,
  keepSetting,
  forget,
  retryDelivery,
} as const satisfies { [V in EditVerb]?: Edit<V> };

export type SharedEdit = keyof typeof sharedEdits;
