// The columns of lists of deliveries.
import type { JSX } from 'preact';
import type { Delivery } from '../../../src/client/contract/delivery.ts';
import type { Column } from '../../src/components/table.tsx';
import { Time } from '../../src/components/time.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { outcomeOf } from '../failure.ts';
import { t } from '../language.ts';
import { href } from '../route.ts';
import { DeliveryBadge } from '../state-badge.tsx';

export function deliveryHref({ id }: Pick<Delivery, 'id'>): string {
  return href(`deliveries/${id}`);
}

/** The subject only if there is one; the endpoint not in its own list. */
export function deliveryColumns(
  items: readonly Delivery[],
  { withEndpoint }: { withEndpoint: boolean },
): readonly Column<Delivery>[] {
  const say = t().deliveries;
  const columns: (Column<Delivery> | undefined)[] = [
    {
      name: 'event',
      title: say.event,
      isHead: true,
      isWide: true,
      cell: (one) => (
        <a data-row href={deliveryHref(one)}>
          <UntrustedText text={one.event} clip />
        </a>
      ),
    },
    { name: 'state', title: say.state, cell: (one) => <DeliveryBadge delivery={one} /> },
    items.some(({ subject }) => subject !== undefined)
      ? {
          name: 'subject',
          title: say.subject,
          isWide: true,
          cell: ({ subject }) => <Optional text={subject} />,
        }
      : undefined,
    withEndpoint
      ? {
          name: 'endpoint',
          title: say.endpoint,
          isWide: true,
          cell: ({ callback }) => <UntrustedText text={callback.url} clip mono />,
        }
      : undefined,
    { name: 'response', title: say.response, cell: (one) => <Optional text={outcomeOf(one)} /> },
    {
      name: 'when',
      title: say.when,
      align: 'end',
      cell: ({ createdAt }) => <Time at={createdAt} />,
    },
  ];
  return columns.filter((one) => one !== undefined);
}

/** A dash if there is none. */
export function Optional({ text }: { readonly text: string | undefined }): JSX.Element {
  if (text !== undefined) return <UntrustedText text={text} clip />;
  return (
    <span class="soft no-value">
      <span aria-hidden="true">–</span>
      <span class="off-screen">{t().none}</span>
    </span>
  );
}
