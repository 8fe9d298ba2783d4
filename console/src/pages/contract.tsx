// The page of contract. Not there yet: the frame only.
import type { JSX } from 'preact';
import { Empty } from '../components/list-states.tsx';
import { PageHeader } from '../components/page.tsx';

export function ContractPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Contract" />
      <Empty icon="clock" title="This page is being built" />
    </>
  );
}
