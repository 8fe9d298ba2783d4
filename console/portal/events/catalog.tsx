// The catalogue of events with their schemas and examples.
import type { JSX } from 'preact';
import { Badge } from '../../src/components/badge.tsx';
import { Empty } from '../../src/components/list-states.tsx';
import { Loaded } from '../../src/components/loaded.tsx';
import { PageHeader } from '../../src/components/page.tsx';
import { UntrustedText } from '../../src/components/untrusted-text.tsx';
import { t } from '../language.ts';
import { useEventTypes, type EventType } from './read-types.ts';
import { TypeDetails } from './type-details.tsx';

export function CatalogPage(): JSX.Element {
  const load = useEventTypes();
  const { title, note, empty, emptyText } = t().catalog;
  return (
    <>
      <PageHeader title={title} note={note} />
      <div class="card">
        <Loaded load={load}>
          {(types) =>
            types.length === 0 ? (
              <Empty icon="event" title={empty}>
                <p>{emptyText}</p>
              </Empty>
            ) : (
              <ul class="catalog">
                {types.map((type) => (
                  <Entry key={type.event} type={type} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </div>
    </>
  );
}

function Entry({ type }: { type: EventType }): JSX.Element {
  const { event, description, state } = type;
  return (
    <li>
      <h2 class="cluster">
        <UntrustedText text={event} mono />
        {state === 'deprecated' ? <Badge tone="warn" text={t().picker.deprecated} /> : null}
      </h2>
      {description === undefined ? null : (
        <p class="soft">
          <UntrustedText text={description} />
        </p>
      )}
      <TypeDetails type={type} />
    </li>
  );
}
