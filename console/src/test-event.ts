// An event to try things out with: a name that somebody hears, and the contract's example as payload. Pure.
import type { EventType } from './events/event-types.ts';
import type { Subscription } from '../../src/client/contract/subscription.ts';

export type TestEvent = {
  readonly event: string;
  readonly payload: unknown;
  readonly contract: string | undefined;
  /** Nobody else is to get it: other subscriptions may belong to somebody's production. */
  readonly subscriberId: string | undefined;
};

/** Heard by the subscription, if there is one; else something that the contract describes. */
export function testEvent(
  types: readonly EventType[],
  subscription: Subscription | undefined,
): TestEvent {
  const callback = subscription?.callbacks.find((one) => one.inactive === undefined);
  const ofContract = types.filter((type) => fits(type.contract, subscription?.contract));
  const type =
    ofContract.find((one) => one.callback === callback?.label && one.event === callback.event) ??
    ofContract.find((one) => one.callback === callback?.label) ??
    ofContract.find((one) => isPattern(one.event));
  return {
    event: nameFor(callback?.event ?? type?.event ?? '*'),
    payload: type?.example ?? { message: 'Hello from the console' },
    contract: subscription?.contract ?? type?.contract,
    subscriberId: subscription?.id,
  };
}

/** One name that the pattern hears: `order.*` hears `order.test`. */
export function nameFor(pattern: string): string {
  if (pattern === '*' || !isPattern(pattern)) return 'test.event';
  return pattern.endsWith('.*') ? `${pattern.slice(0, -1)}test` : pattern;
}

/** Not a template, whose name is known only when somebody subscribes. */
function isPattern(event: string): boolean {
  return !event.includes('{');
}

function fits(contract: string, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === contract;
}
