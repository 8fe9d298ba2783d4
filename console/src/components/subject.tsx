// The subject of an event, a delivery or a subscription: what it is about.
import type { JSX } from 'preact';
import { withQuery } from '../api.ts';
import { Fact } from './drawer-section.tsx';
import type { Column } from './table.tsx';
import { UntrustedText } from './untrusted-text.tsx';

type WithSubject = { readonly subject?: string | undefined };

/** The column of a list, if any of its items has a subject. */
export function subjectColumn<T extends WithSubject>(items: readonly T[]): readonly Column<T>[] {
  if (items.every(({ subject }) => subject === undefined)) return [];
  return [{ name: 'subject', title: 'Subject', isWide: true, cell: subjectCell }];
}

function subjectCell({ subject }: WithSubject): JSX.Element {
  if (subject !== undefined) return <UntrustedText text={subject} clip mono />;
  return (
    <span class="soft none">
      <span aria-hidden="true">–</span>
      <span class="off-screen">none</span>
    </span>
  );
}

/** With links to everything else about it. */
export function SubjectFact({ subject }: { readonly subject: string }): JSX.Element {
  return (
    <Fact name="Subject">
      <UntrustedText text={subject} mono />{' '}
      <span class="soft subject-links">
        {pages.map(({ path, title }) => (
          <a key={path} href={withQuery(path, { subject })}>
            {title}
          </a>
        ))}
      </span>
    </Fact>
  );
}

const pages = [
  { path: '/console/subscriptions', title: 'subscriptions' },
  { path: '/console/events', title: 'events' },
  { path: '/console/deliveries', title: 'deliveries' },
];
