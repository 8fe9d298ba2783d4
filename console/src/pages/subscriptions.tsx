// The page of subscriptions. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function SubscriptionsPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Subscriptions" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
