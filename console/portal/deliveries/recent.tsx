// The newest deliveries of one endpoint.
import type { JSX } from 'preact';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import { get } from '../../src/api.ts';
import { Loaded } from '../../src/components/loaded.tsx';
import { Section } from '../../src/components/page.tsx';
import { Table } from '../../src/components/table.tsx';
import type { Page } from '../../src/list.ts';
import { useLoad } from '../../src/load.ts';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { href } from '../route.ts';
import { deliveryColumns, deliveryHref } from './columns.tsx';

export function RecentDeliveries({ endpointId }: { readonly endpointId: string }): JSX.Element {
  const load = useLoad(endpointId, (signal) =>
    get<Page<Delivery>>('/deliveries', { query: { subscriberId: endpointId, limit: 5 }, signal }),
  );
  usePolling(load.reload, { everyMs: 5_000 });
  const { recent, allDeliveries, noDeliveries } = t().endpoint;
  return (
    <Section
      title={recent}
      isFlush
      actions={<a href={href('deliveries', { endpoint: endpointId })}>{allDeliveries}</a>}
    >
      <Loaded load={load}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="soft none-yet">{noDeliveries}</p>
          ) : (
            <Table
              caption={recent}
              columns={deliveryColumns(items, { withEndpoint: false })}
              items={items}
              idOf={({ id }) => id}
              hrefOf={deliveryHref}
            />
          )
        }
      </Loaded>
    </Section>
  );
}
