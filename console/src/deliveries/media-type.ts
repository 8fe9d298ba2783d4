// The media type of a callback body, from its contract. Pure.
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { EventType } from '../events/event-types.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';

/** Undefined: no body. JSON if the contract no longer has the callback. */
export function mediaTypeOf(
  { callback }: Delivery,
  { subscription, types }: { subscription: Subscription | undefined; types: readonly EventType[] },
): string | undefined {
  const declared = types.filter(
    (type) => type.contract === subscription?.contract && type.callback === callback.label,
  );
  if (declared.length === 0) return 'application/json';
  return declared.find(({ mediaType }) => mediaType !== undefined)?.mediaType;
}
