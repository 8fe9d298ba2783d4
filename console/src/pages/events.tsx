// The page of events. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function EventsPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Events" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
