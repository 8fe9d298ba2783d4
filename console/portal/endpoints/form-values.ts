// The values of the form of an endpoint. Pure.
import type {
  EditSubscriptionBody,
  Subscription,
} from '../../../src/client/contract/subscription.ts';

export type EventChoice = { readonly isAll: boolean; readonly chosen: readonly string[] };

export type FormValues = {
  readonly urls: readonly {
    readonly position: number;
    readonly label: string;
    readonly url: string;
  }[];
  readonly description: string;
  /** Undefined if the events cannot be chosen: each of several URLs has its own. */
  readonly events: EventChoice | undefined;
};

export function valuesOf({ callbacks, description }: Subscription): FormValues {
  const [first, ...others] = callbacks;
  const events = first?.events ?? [];
  return {
    urls: callbacks.map(({ position, label, url = '' }) => ({ position, label, url })),
    description: description ?? '',
    events:
      first === undefined || others.length > 0
        ? undefined
        : { isAll: events.includes('*'), chosen: events.filter((event) => event !== '*') },
  };
}

/** Only what differs. */
export function changesOf(values: FormValues, endpoint: Subscription): EditSubscriptionBody {
  const before = valuesOf(endpoint);
  const events =
    values.events === undefined || isSame(values.events, before.events)
      ? {}
      : { events: eventsIn(values.events) };
  const callbacks = values.urls.flatMap(({ position, url }, at) => {
    const changed = url.trim() === before.urls[at]?.url ? {} : { url: url.trim() };
    const all = { ...changed, ...events };
    return Object.keys(all).length === 0 ? [] : [{ position, ...all }];
  });
  const text = values.description.trim();
  return {
    ...(callbacks.length === 0 ? {} : { callbacks }),
    ...(text === before.description ? {} : { description: text === '' ? null : text }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

export function eventsIn({ isAll, chosen }: EventChoice): readonly string[] {
  // `*` does not match Ringback's own events, so these are kept next to it.
  return isAll ? ['*', ...chosen.filter((event) => event.startsWith('ringback.'))] : chosen;
}

export function hasNoEvent({ events }: FormValues): boolean {
  return events !== undefined && !events.isAll && events.chosen.length === 0;
}
