// The page of keys. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function KeysPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Keys" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
