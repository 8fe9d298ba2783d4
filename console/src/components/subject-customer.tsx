// What an event, a delivery or a subscription is about (its subject), and whose it is (its customer).
import type { JSX } from 'preact';
import { searchHref } from '../path-of-id.ts';
import { withQuery } from '../api.ts';
import { Fact } from './drawer-section.tsx';
import type { Column } from './table.tsx';
import { UntrustedText } from './untrusted-text.tsx';

type Named = { readonly subject?: string | undefined; readonly customer?: string | undefined };

const titles = { subject: 'Subject', customer: 'Customer' } as const satisfies Record<
  keyof Named,
  string
>;

/** The columns of a list: each only if one of its items has a value. */
export function namedColumns<T extends Named>(items: readonly T[]): readonly Column<T>[] {
  return (['subject', 'customer'] as const)
    .filter((name) => items.some((item) => item[name] !== undefined))
    .map((name) => ({
      name,
      title: titles[name],
      isWide: true,
      cell: (item) => <NamedCell text={item[name]} />,
    }));
}

/** Of a list: a dash if there is none. */
export function NamedCell({ text }: { readonly text: string | undefined }): JSX.Element {
  if (text !== undefined) return <UntrustedText text={text} clip mono />;
  return (
    <span class="soft none">
      <span aria-hidden="true">–</span>
      <span class="off-screen">none</span>
    </span>
  );
}

/** Each with links to everything else that has it. */
export function NamedFacts({ subject, customer }: Named): JSX.Element {
  return (
    <>
      {subject === undefined ? null : <NamedFact name="subject" text={subject} />}
      {customer === undefined ? null : <NamedFact name="customer" text={customer} />}
    </>
  );
}

function NamedFact({
  name,
  text,
}: {
  readonly name: keyof Named;
  readonly text: string;
}): JSX.Element {
  return (
    <Fact name={titles[name]}>
      <UntrustedText text={text} mono />{' '}
      <span class="soft named-links">
        <a href={searchHref(text)}>everything</a>
        {pages.map(({ path, title }) => (
          <a key={path} href={withQuery(path, { [name]: text })}>
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
