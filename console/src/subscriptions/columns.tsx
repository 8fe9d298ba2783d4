// The columns of the subscriptions table.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { StateBadge } from '../components/badge.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Sparkline } from '../components/sparkline.tsx';
import { namedColumns } from '../components/subject-customer.tsx';
import type { Column } from '../components/table.tsx';
import { compactCount, count, duration, percent } from '../format.ts';
import { hrefWith, route } from '../router.ts';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { eventSummary } from './event-summary.ts';
import type { Figures } from './figures.ts';

export function subscriptionHref({ id }: Subscription): string {
  const page = '/console/subscriptions';
  if (route.value.path !== page) return withQuery(page, { subscription: id });
  return hrefWith({ subscription: id });
}

export function subscriptionColumns(
  figures: ReadonlyMap<string, Figures>,
  items: readonly Subscription[],
): readonly Column<Subscription>[] {
  const of = ({ id }: Subscription): Figures | undefined => figures.get(id);
  return [
    { name: 'url', title: 'URL', isWide: true, isHead: true, cell: urlCell },
    {
      name: 'events',
      title: 'Events',
      isWide: true,
      cell: ({ callbacks }) => <UntrustedText text={eventSummary(callbacks)} clip />,
    },
    ...namedColumns(items),
    { name: 'state', title: 'State', cell: (one) => <StateBadge state={shownState(one)} /> },
    { name: 'spark', title: 'Last 24 h', cell: (one) => <Spark figures={of(one)} /> },
    {
      name: 'success',
      title: 'Success',
      align: 'end',
      cell: (one) => figure(of(one)?.totals.successRate, percent),
    },
    {
      name: 'p95',
      title: 'p95',
      align: 'end',
      cell: (one) => figure(of(one)?.totals.p95Ms, duration),
    },
    { name: 'pending', title: 'Pending', align: 'end', cell: (one) => pending(of(one)) },
  ];
}

/** An active subscription without an active callback is shown as inactive. */
function shownState({ state, callbacks }: Subscription): Subscription['state'] | 'inactive' {
  const isInactive = callbacks.every(({ inactive }) => inactive !== undefined);
  return state === 'active' && isInactive ? 'inactive' : state;
}

function urlCell(subscription: Subscription): JSX.Element {
  const { callbacks, id } = subscription;
  const urls = [...new Set(callbacks.flatMap(({ url }) => (url === undefined ? [] : [url])))];
  return (
    <span class="subscription-url">
      <a href={subscriptionHref(subscription)} data-row>
        <UntrustedText text={urls[0] ?? `${id} (no active callback)`} clip mono />
      </a>
      {urls.length > 1 ? <span class="soft">+{urls.length - 1}</span> : null}
    </span>
  );
}

function Spark({ figures }: { figures: Figures | undefined }): JSX.Element {
  if (figures === undefined) return <span class="soft">–</span>;
  const { delivered, failed, totals } = figures;
  const failures = totals.retried + totals.dead;
  return (
    <Sparkline
      good={delivered}
      bad={failed}
      label={`${count(totals.delivered)} delivered, ${count(failures)} failed attempts`}
    />
  );
}

function pending(figures: Figures | undefined): JSX.Element {
  return figure(figures?.pending, (size) =>
    figures?.pendingIsCapped === true ? `${compactCount(size)}+` : compactCount(size),
  );
}

/** An unknown value and no value look the same. */
function figure(value: number | null | undefined, words: (value: number) => string): JSX.Element {
  return value === undefined || value === null ? (
    <span class="soft">–</span>
  ) : (
    <span>{words(value)}</span>
  );
}
