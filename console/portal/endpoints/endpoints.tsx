// The list of endpoints, each with its status, and why it fails.
import type { JSX } from 'preact';
import type { Subscription } from '../../../src/client/contract/subscription.ts';
import { LinkButton } from '../../src/components/button.tsx';
import { Empty } from '../../src/components/list-states.tsx';
import { ListTable } from '../../src/components/list-table.tsx';
import { PageHeader } from '../../src/components/page.tsx';
import type { Column } from '../../src/components/table.tsx';
import { Time } from '../../src/components/time.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { t } from '../language.ts';
import { usePolling } from '../poll.ts';
import { href } from '../route.ts';
import { canAdd } from '../session.ts';
import { EndpointBadge } from '../state-badge.tsx';
import { eventsOf, nameOf } from './endpoint-texts.ts';
import { useEndpoints } from './read-endpoints.ts';

export function EndpointsPage(): JSX.Element {
  const list = useEndpoints();
  usePolling(list.reload, { everyMs: 10_000, isOn: !list.hasMore });
  const { title, note, add, one, several, empty, emptyText } = t().endpoints;
  const addButton = (
    <LinkButton kind="primary" icon="plus" href={href('endpoints/new')}>
      {add}
    </LinkButton>
  );
  return (
    <>
      <PageHeader title={title} note={note}>
        {canAdd() ? addButton : undefined}
      </PageHeader>
      <div class="card list">
        <ListTable
          list={list}
          nouns={[one, several]}
          columns={columns()}
          hrefOf={({ id }) => href(`endpoints/${id}`)}
          empty={
            <Empty icon="subscription" title={empty}>
              {canAdd() ? (
                <>
                  <p>{emptyText}</p>
                  <p class="empty-actions">{addButton}</p>
                </>
              ) : null}
            </Empty>
          }
        />
      </div>
    </>
  );
}

function columns(): readonly Column<Subscription>[] {
  const { url, state, events } = t().endpoints;
  return [
    { name: 'url', title: url, isWide: true, isHead: true, cell: (one) => <Name endpoint={one} /> },
    { name: 'state', title: state, cell: (one) => <Status endpoint={one} /> },
    {
      name: 'events',
      title: events,
      isWide: true,
      cell: (one) => <UntrustedText text={eventsOf(one)} clip />,
    },
  ];
}

function Name({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const { id, description } = endpoint;
  return (
    <span class="endpoint-name">
      <a data-row href={href(`endpoints/${id}`)}>
        <UntrustedText text={nameOf(endpoint)} clip mono />
      </a>
      {description === undefined || description === null ? null : (
        <span class="soft">
          <UntrustedText text={description} clip />
        </span>
      )}
    </span>
  );
}

function Status({ endpoint }: { endpoint: Subscription }): JSX.Element {
  const { id, state, health } = endpoint;
  const failingSince = state === 'active' ? health?.failingSince : undefined;
  return (
    <span class="endpoint-status">
      <EndpointBadge endpoint={endpoint} />
      {failingSince === undefined ? null : (
        <span class="soft">
          {t().endpoints.since} <Time at={failingSince} as="exact" />
        </span>
      )}
      {failingSince === undefined && state !== 'disabled' ? null : (
        <a href={href(`endpoints/${id}`)}>{t().endpoints.why}</a>
      )}
    </span>
  );
}
