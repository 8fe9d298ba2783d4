// The page of replays. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function ReplaysPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Replays" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
