// Customers, by name: how many subscriptions each has, and whether its receivers work.
import type { JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { Badge, StateBadge } from '../components/badge.tsx';
import { Empty } from '../components/list-states.tsx';
import { ListTable } from '../components/list-table.tsx';
import { PageHeader, Section } from '../components/page.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { compactCount } from '../format.ts';
import { limits } from '../limits.ts';
import { useList, type List, type Page } from '../list.ts';
import { can } from '../session.ts';
import { usePolling } from '../stream.ts';
import { PortalLink } from './portal-link.tsx';
import type { CustomerSummary } from '../../../src/client/contract/subscription.ts';

type Customer = CustomerSummary & { readonly id: string };

export function CustomersPage(): JSX.Element {
  const list = useCustomers();
  usePolling(list.reload);
  return (
    <>
      <PageHeader
        title="Customers"
        note="Each with its subscriptions and the health of their receivers"
      />
      <Section title="All customers" isFlush>
        <ListTable
          list={list}
          nouns={['customer', 'customers']}
          order="by name"
          columns={can('admin') ? [...columns, portal] : columns}
          hrefOf={subscriptionsHref}
          selectedId={undefined}
          empty={
            <Empty icon="customer" title="No customers yet">
              <p>
                Name a customer when you subscribe. An event that names this customer then reaches
                only these subscriptions.
              </p>
            </Empty>
          }
        />
      </Section>
    </>
  );
}

function useCustomers(): List<Customer> {
  return useList<Customer>('customers', async (cursor, signal) => {
    const query = { cursor, limit: limits.pageItems };
    const options = { query, ...(signal ? { signal } : {}) };
    const page = await get<Page<CustomerSummary>>('/customers', options);
    return { ...page, items: page.items.map((one) => ({ ...one, id: one.customer })) };
  });
}

function subscriptionsHref({ customer }: Customer): string {
  return withQuery('/console/subscriptions', { customer });
}

const columns: readonly Column<Customer>[] = [
  {
    name: 'customer',
    title: 'Customer',
    isWide: true,
    isHead: true,
    cell: (one) => (
      <a class="clip" href={subscriptionsHref(one)} data-row>
        <UntrustedText text={one.customer} clip mono />
      </a>
    ),
  },
  { name: 'health', title: 'Receivers', cell: Health },
  { name: 'since', title: 'Failing since', align: 'end', cell: FailingSince },
  count('active', 'Active'),
  count('paused', 'Paused'),
  count('disabled', 'Disabled'),
  {
    name: 'deliveries',
    title: 'Deliveries',
    cell: ({ customer }) => <a href={withQuery('/console/deliveries', { customer })}>View</a>,
  },
];

const portal: Column<Customer> = {
  name: 'portal',
  title: 'Portal',
  align: 'end',
  cell: ({ customer }) => <PortalLink customer={customer} />,
};

function Health({ health, subscriptions }: Customer): JSX.Element | null {
  if (subscriptions.disabled > 0) return <StateBadge state="disabled" />;
  if (health.state !== 'ok') return <StateBadge state="failing" />;
  return subscriptions.active === 0 ? null : <Badge tone="good" icon="check" text="Working" />;
}

function FailingSince({ health: { failingSince } }: Customer): JSX.Element | null {
  return failingSince === undefined ? null : <Time at={failingSince} />;
}

function count(state: keyof CustomerSummary['subscriptions'], title: string): Column<Customer> {
  return {
    name: state,
    title,
    align: 'end',
    cell: ({ subscriptions, subscriptionsAreCapped }) =>
      `${compactCount(subscriptions[state])}${subscriptionsAreCapped ? '+' : ''}`,
  };
}
