// The overview.
import type { JSX } from 'preact';
import { PageHeader } from '../components/page.tsx';

export function OverviewPage(): JSX.Element {
  return <PageHeader title="Overview" />;
}
