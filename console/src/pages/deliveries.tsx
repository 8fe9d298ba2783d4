// The page of deliveries. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function DeliveriesPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Deliveries" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
