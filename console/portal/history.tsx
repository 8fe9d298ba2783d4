// The audit trail as the customer sees it: what was changed, when and by whom.
import type { JSX } from 'preact';
import type { AuditEntry } from '../../src/client/contract/access.ts';
import type { Subscription } from '../../src/client/contract/subscription.ts';
import { get } from '../src/api.ts';
import { Empty } from '../src/components/list-states.tsx';
import { ListTable } from '../src/components/list-table.tsx';
import { PageHeader } from '../src/components/page.tsx';
import type { Column } from '../src/components/table.tsx';
import { Time } from '../src/components/time.tsx';
import { UntrustedText } from '../src/components/untrusted-text.tsx';
import { limits } from '../src/limits.ts';
import { useListAt, type Page } from '../src/list.ts';
import { useLoad } from '../src/load.ts';
import { Optional } from './deliveries/columns.tsx';
import { nameOf } from './endpoints/endpoint-texts.ts';
import { t } from './language.ts';
import { href } from './route.ts';

export function HistoryPage(): JSX.Element {
  const list = useListAt<AuditEntry>('/audit', { limit: limits.pageItems });
  // Removed endpoints too: their names are still clearer than their IDs.
  const endpoints = useLoad('names', (signal) =>
    get<Page<Subscription>>('/subscriptions', { query: { limit: 100 }, signal }),
  );
  const { title, note, one, several, empty } = t().history;
  return (
    <>
      <PageHeader title={title} note={note} />
      <div class="card list">
        <ListTable
          list={list}
          nouns={[one, several]}
          columns={columns(endpoints.value?.items ?? [])}
          empty={<Empty icon="clock" title={empty} />}
        />
      </div>
    </>
  );
}

function columns(endpoints: readonly Subscription[]): readonly Column<AuditEntry>[] {
  const { action, object, by, when, actions } = t().history;
  const texts: Readonly<Record<string, string>> = actions;
  return [
    {
      name: 'action',
      title: action,
      isHead: true,
      // Without a text: an action that only a newer service knows.
      cell: (entry) => texts[entry.action] ?? entry.action,
    },
    {
      name: 'object',
      title: object,
      isWide: true,
      cell: (entry) => <ObjectCell entry={entry} endpoints={endpoints} />,
    },
    { name: 'by', title: by, cell: (entry) => <Optional text={actorOf(entry)} /> },
    { name: 'when', title: when, align: 'end', cell: ({ at }) => <Time at={at} as="exact" /> },
  ];
}

/** Of the objects that have a page. */
const sections: Readonly<Record<string, string>> = {
  subscription: 'endpoints',
  delivery: 'deliveries',
};

function ObjectCell({
  entry: { object },
  endpoints,
}: {
  entry: AuditEntry;
  endpoints: readonly Subscription[];
}): JSX.Element {
  if (object === undefined) return <Optional text={undefined} />;
  const { kind, id } = object;
  const endpoint = endpoints.find((one) => one.id === id);
  const text = <UntrustedText text={endpoint === undefined ? id : nameOf(endpoint)} clip mono />;
  const section = sections[kind];
  return section === undefined ? text : <a href={href(`${section}/${id}`)}>{text}</a>;
}

/** Undefined for a caller without a key. A key has its ID here only if it is the customer's own. */
function actorOf({ actor: { kind, key = '' } }: AuditEntry): string | undefined {
  if (kind === 'anonymous') return undefined;
  const { portal, apiKey, us } = t().history;
  if (kind === 'key') return `${apiKey} ${key}`;
  return kind === 'portal' ? portal : us;
}
