// The table of pages. To add one, create a file in pages/ and a row here.
import type { JSX } from 'preact';
import type { IconName } from './components/icon.tsx';
import { AuditPage } from './pages/audit.tsx';
import { ContractPage } from './pages/contract.tsx';
import { CustomersPage } from './pages/customers.tsx';
import { DeliveriesPage } from './pages/deliveries.tsx';
import { EventsPage } from './pages/events.tsx';
import { KeysPage } from './pages/keys.tsx';
import { OverviewPage } from './pages/overview.tsx';
import { ReplaysPage } from './pages/replays.tsx';
import { SubscriptionsPage } from './pages/subscriptions.tsx';
import { can } from './session.ts';
import type { Scope } from './api-keys/scopes.ts';

export type PageRow = {
  readonly path: string;
  readonly title: string;
  readonly icon: IconName;
  /** `g`, then this letter opens the page. */
  readonly letter: string;
  /** Scope required to see the page; undefined for any key. */
  readonly scope: Scope | undefined;
  readonly component: () => JSX.Element;
};

export const pages: readonly PageRow[] = [
  row('/console', 'Overview', { icon: 'overview', letter: 'o', scope: 'read' }, OverviewPage),
  row(
    '/console/deliveries',
    'Deliveries',
    { icon: 'delivery', letter: 'd', scope: 'read' },
    DeliveriesPage,
  ),
  row(
    '/console/subscriptions',
    'Subscriptions',
    { icon: 'subscription', letter: 's', scope: 'read' },
    SubscriptionsPage,
  ),
  row('/console/events', 'Events', { icon: 'event', letter: 'e', scope: 'read' }, EventsPage),
  row(
    '/console/customers',
    'Customers',
    { icon: 'customer', letter: 'u', scope: 'read' },
    CustomersPage,
  ),
  row('/console/replays', 'Replays', { icon: 'replay', letter: 'r', scope: 'read' }, ReplaysPage),
  row('/console/keys', 'Keys', { icon: 'key', letter: 'k', scope: 'admin' }, KeysPage),
  row('/console/audit', 'Audit', { icon: 'audit', letter: 'a', scope: 'admin' }, AuditPage),
  row(
    '/console/contract',
    'Contract',
    { icon: 'contract', letter: 'c', scope: undefined },
    ContractPage,
  ),
];

/** The pages that the key may see. */
export function shownPages(): readonly PageRow[] {
  return pages.filter(({ scope }) => scope === undefined || can(scope));
}

function row(
  path: string,
  title: string,
  { icon, letter, scope }: Pick<PageRow, 'icon' | 'letter' | 'scope'>,
  component: PageRow['component'],
): PageRow {
  return { path, title, icon, letter, scope, component };
}
