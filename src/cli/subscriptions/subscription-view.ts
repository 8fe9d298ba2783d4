// Shows subscriptions to people: a line each, or one with all its settings.
import type { Subscription } from '../../client/client.ts';
import type { Column } from '../terminal/table.ts';
import { paintState, stateColumn, type View } from '../service/view.ts';

export function subscriptionColumns({ paint, when }: View): Column<Subscription>[] {
  return [
    { title: 'ID', show: ({ id }) => id },
    stateColumn(paint),
    { title: 'EVENTS', show: heard, rank: 7, shrinksTo: 12 },
    { title: 'URL', show: firstUrl, rank: 8, shrinksTo: 16 },
    { title: 'CREATED', show: ({ createdAt }) => when(createdAt), rank: 6 },
    { title: 'DESCRIPTION', show: ({ description }) => description ?? '', rank: 5, shrinksTo: 12 },
  ];
}

/** The events of active callbacks; if none is active, of all. */
function heard({ callbacks }: Subscription): string {
  const active = callbacks.filter(({ inactive }) => inactive === undefined);
  const events = (active.length === 0 ? callbacks : active).flatMap((one) => one.events);
  return [...new Set(events)].join(', ');
}

function firstUrl({ callbacks }: Subscription): string {
  const urls = callbacks.flatMap(({ url }) => (url === undefined ? [] : [url]));
  const [first = ''] = urls;
  return urls.length > 1 ? `${first} +${urls.length - 1}` : first;
}

export function showSubscription(view: View, subscription: Subscription): string {
  const { paint, exactly } = view;
  const { health, callbacks } = subscription;
  const head = view.facts([
    ['subscription', subscription.id],
    ['state', subscription.state, (text) => paintState(paint, subscription.state, text)],
    ['description', subscription.description ?? undefined],
    ['contract', `${subscription.contract}, ${subscription.operation}`],
    ['created', exactly(subscription.createdAt)],
    ['expires', exactly(subscription.expiresAt)],
    ['ended', exactly(subscription.endedAt)],
    [
      'health',
      health === undefined ? undefined : healthText(health, view),
      (text) => paintState(paint, health?.state ?? '', text),
    ],
    ['filter', jsonText(subscription.filter)],
    ['ordered', subscription.ordered === true ? 'yes' : undefined],
    ['rate', each(subscription.rateLimit, 'per second')],
    ['concurrency', each(subscription.concurrency, 'at a time')],
    ['timeout', subscription.timeout ?? undefined],
    ['retry', retryText(subscription.retry)],
    ['signing', subscription.signing ?? undefined],
    ['headers', subscription.headerNames?.join(', ')],
    ['metadata', jsonText(subscription.metadata)],
  ]);
  const rows = view.table(callbackColumns(view), callbacks);
  const { id } = subscription;
  const next = `List its deliveries: ringback deliveries --to ${id}`;
  return `${head}\n${rows}\n${next}\n`;
}

type SubscriptionCallback = Subscription['callbacks'][number];

function callbackColumns({ paint }: View): Column<SubscriptionCallback>[] {
  return [
    { title: 'CALLBACK', show: ({ label }) => label },
    { title: 'EVENTS', show: ({ events }) => events.join(', '), rank: 8, shrinksTo: 12 },
    {
      title: 'URL',
      show: ({ method, url }) => (url === undefined ? '' : `${method} ${url}`),
      rank: 9,
      shrinksTo: 20,
    },
    {
      title: 'INACTIVE',
      show: ({ inactive }) => inactive ?? '',
      paint: (_, text) => paint('yellow', text),
      rank: 7,
      shrinksTo: 12,
    },
  ];
}

function healthText(health: NonNullable<Subscription['health']>, { when }: View): string {
  const { state, failures, failingSince, nextAttemptAt } = health;
  return [
    state,
    failures === 0 ? '' : `${failures} consecutive failures`,
    failingSince === undefined ? '' : `since ${when(failingSince)}`,
    nextAttemptAt === undefined ? '' : `next attempt ${when(nextAttemptAt)}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

function jsonText(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : JSON.stringify(value);
}

function retryText(retry: Subscription['retry']): string | undefined {
  if (retry === undefined || retry === null) return undefined;
  return retry.length === 0 ? 'none (a single attempt)' : retry.join(', ');
}

function each(value: number | null | undefined, unit: string): string | undefined {
  return value === undefined || value === null ? undefined : `${value} ${unit}`;
}
