// How a subscription ended, and whether it can be changed. Pure.
import type { Subscription } from '../../../src/client/contract/subscription.ts';

/** Whether nothing about it can be changed: it has ended, or must be confirmed first. */
export function isFixed({ state }: Pick<Subscription, 'state'>): boolean {
  return state === 'ended' || state === 'unconfirmed';
}

const texts = {
  unsubscribed: 'A request ended it.',
  expired: 'It has expired.',
  gone: 'Its receiver unsubscribed in the response to a callback.',
  final: 'It ended with its final callback.',
  replaced: 'A later subscription of the same resource replaced it.',
  unconfirmed: 'It was not confirmed in time.',
  refused: 'The API refused the request that it comes from.',
} as const satisfies Record<NonNullable<Subscription['endReason']>, string>;

/** As a sentence. Subscriptions that ended before reasons were kept have none. */
export function endText(reason: Subscription['endReason']): string {
  return reason === undefined ? 'It has ended.' : texts[reason];
}
