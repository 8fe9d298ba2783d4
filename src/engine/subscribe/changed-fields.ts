// The names of the fields of a subscription that an edit changes, for the audit trail. They are those of the API.
import type { Header } from '../../core/domain/attempt.ts';
import type { Controls } from '../../core/domain/controls.ts';
import type { Subscription } from '../../core/domain/subscription.ts';

interface Changes {
  callbacks: readonly {
    position: number;
    /** As the store keeps it. */
    url: string | undefined;
    events: readonly string[] | undefined;
  }[];
  /** All of them, if any changes. */
  controls: Controls | undefined;
  /** Null: of none. */
  customer: string | null | undefined;
  /** Its own headers before, and those that replace them. */
  headers: { before: readonly Header[]; now: readonly Header[] | undefined };
}

export function changedFields(
  before: Subscription,
  { callbacks, controls = before.controls, customer, headers }: Changes,
): string[] {
  const isOther = (name: 'url' | 'events'): boolean =>
    callbacks.some((one) => {
      const now = one[name];
      return now !== undefined && !isSame(now, before.callbacks[one.position]?.[name]);
    });
  const isMoved = customer !== undefined && (customer ?? undefined) !== before.customer;
  const hasHeaders = headers.now !== undefined && !isSame(headers.now, headers.before);
  return [
    ...(isOther('url') ? ['url'] : []),
    ...(isOther('events') ? ['events'] : []),
    ...fieldNames.flatMap(([control, field]) =>
      isSame(controls[control], before.controls[control]) ? [] : [field],
    ),
    ...(hasHeaders ? ['headers'] : []),
    ...(isMoved ? ['customer'] : []),
  ];
}

/** Headers are compared by their values. */
const fieldNames: readonly (readonly [keyof Controls, string])[] = [
  ['description', 'description'],
  ['metadata', 'metadata'],
  ['filter', 'filter'],
  ['retryMs', 'retry'],
  ['timeoutMs', 'timeout'],
  ['concurrency', 'concurrency'],
  ['ratePerSecond', 'rateLimit'],
  ['signing', 'signing'],
  ['ordered', 'ordered'],
  ['expiresMs', 'expiresAt'],
];

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
