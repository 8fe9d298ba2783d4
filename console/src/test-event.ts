// A test event: a name that the subscription matches, with the example payload of the contract.
// Pure.
import type { EventType } from './events/event-types.ts';
import type { Subscription } from '../../src/client/contract/subscription.ts';

export type TestEvent = {
  readonly event: string;
  readonly payload: unknown;
  readonly contract: string | undefined;
  /** Only this subscription: others may be in production use. */
  readonly subscriberId: string | undefined;
};

/** Matches the subscription, if there is one; otherwise an event that the contract describes. */
export function testEvent(
  types: readonly EventType[],
  subscription: Subscription | undefined,
): TestEvent {
  const callback = subscription?.callbacks.find((one) => one.inactive === undefined);
  const ofContract = types.filter((type) => fits(type.contract, subscription?.contract));
  const type =
    types.find((one) => one.source !== 'callback' && one.event === callback?.event) ??
    ofContract.find((one) => one.callback === callback?.label && one.event === callback.event) ??
    ofContract.find((one) => one.callback === callback?.label) ??
    ofContract.find((one) => isNameOrPattern(one.event));
  return {
    event: nameFor(callback?.event ?? type?.event ?? '*'),
    payload: type?.example ?? { message: 'Hello from the console' },
    contract: subscription?.contract ?? type?.contract,
    subscriberId: subscription?.id,
  };
}

/** A name that the pattern matches: `order.test` for `order.*`. */
export function nameFor(pattern: string): string {
  if (pattern === '*' || !isNameOrPattern(pattern)) return 'test.event';
  return pattern.endsWith('.*') ? `${pattern.slice(0, -1)}test` : pattern;
}

/** False for a template, whose event name is known only after subscribing. */
function isNameOrPattern(event: string): boolean {
  return !event.includes('{');
}

function fits(contract: string, wanted: string | undefined): boolean {
  return wanted === undefined || wanted === contract;
}
