// Unsubscribe: ends a subscription of the app; ending it again changes nothing.
import { strict as assert } from 'node:assert';
import { endSubscription } from './end-subscription.ts';
import { findSubscription } from './subscriptions.ts';
import type { Edit } from '../shared/verb.ts';

export const unsubscribe: Edit<'unsubscribe'> = function* (input, nowMs) {
  const found = yield* findSubscription(input);
  if (found === undefined) return { kind: 'not_found' };
  const { no, subscription } = found;
  if (subscription.state === 'ended') return { kind: 'ended', subscription };
  yield* endSubscription({ no, appNo: input.appNo, nowMs });
  const ended = yield* findSubscription(input);
  assert(ended !== undefined);
  return { kind: 'ended', subscription: ended.subscription };
};
