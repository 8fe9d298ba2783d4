// The columns of the audit trail.
import type { JSX } from 'preact';
import { NamedCell, namedColumns } from '../components/subject-customer.tsx';
import type { Column } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { pathOfId } from '../path-of-id.ts';
import { hrefWith } from '../router.ts';
import type { AuditEntry } from '../../../src/client/contract/access.ts';
import { actionText } from './action-text.ts';

/** The object of an entry; without a page of its own, everything that happened to it, or was done by its actor. */
export function entryHref({ object, actor: { key } }: AuditEntry): string {
  const page = object === undefined ? undefined : pathOfId(object.id);
  return page ?? hrefWith(object === undefined ? { key } : { object: object.id });
}

export function auditColumns(items: readonly AuditEntry[]): readonly Column<AuditEntry>[] {
  return [
    {
      name: 'action',
      title: 'Action',
      isHead: true,
      cell: (entry) => (
        <a href={entryHref(entry)} data-row>
          {actionText(entry.action)}
        </a>
      ),
    },
    { name: 'object', title: 'Object', cell: ObjectCell },
    ...namedColumns(items),
    { name: 'by', title: 'By', cell: ActorCell },
    {
      name: 'address',
      title: 'Address',
      cell: ({ actor: { address } }) => <NamedCell text={address} />,
    },
    { name: 'details', title: 'Details', isWide: true, cell: DetailsCell },
    { name: 'age', title: 'When', align: 'end', cell: ({ at }) => <Time at={at} /> },
  ];
}

function ObjectCell({ object }: AuditEntry): JSX.Element {
  if (object === undefined || object.kind === 'event_type') return <NamedCell text={object?.id} />;
  return <Id id={object.id} />;
}

const actors: Readonly<Record<AuditEntry['actor']['kind'], string>> = {
  key: 'Key',
  session: 'Console',
  portal: 'Portal',
  anonymous: 'Without a key',
  cli: 'Command line',
  service: 'Ringback',
};

function ActorCell({ actor: { kind, key } }: AuditEntry): JSX.Element {
  return (
    <span>
      {actors[kind]}
      {key === undefined ? null : (
        <>
          {' '}
          <a href={hrefWith({ key })}>
            <Id id={key} />
          </a>
        </>
      )}
    </span>
  );
}

function DetailsCell({ details }: AuditEntry): JSX.Element {
  const text = Object.entries(details)
    .map(([name, value]) => `${name}: ${[value].flat().join(', ')}`)
    .join('; ');
  return text === '' ? <NamedCell text={undefined} /> : <UntrustedText text={text} clip />;
}
