// The latest deliveries, live.
import type { JSX } from 'preact';
import { shownState, StateBadge } from '../components/badge.tsx';
import { Empty, Failed, Skeleton } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';
import { Time } from '../components/time.tsx';
import { outcomeLabel } from '../outcome-label.ts';
import type { Load } from '../load.ts';
import type { Delivery } from '../../../src/client/contract/delivery.ts';

export function LatestDeliveries({ load }: { load: Load<readonly Delivery[]> }): JSX.Element {
  const all = (
    <a class="section-link" href="/console/deliveries">
      View all
    </a>
  );
  return (
    <Section title="Latest deliveries" actions={all} isFlush>
      <Content load={load} />
    </Section>
  );
}

function Content({ load }: { load: Load<readonly Delivery[]> }): JSX.Element {
  const { state } = load;
  if (state.kind === 'loading') return <Skeleton rows={6} />;
  if (state.kind === 'failed') return <Failed problem={state.problem} onRetry={load.reload} />;
  if (state.value.length === 0) {
    return (
      <Empty icon="delivery" title="No deliveries yet">
        <p>New deliveries appear here automatically.</p>
      </Empty>
    );
  }
  return (
    <ul class="rows latest">
      {state.value.map((delivery) => (
        <li key={delivery.id}>
          <span class="latest-state">
            <StateBadge state={shownState(delivery)} />
          </span>
          <a href={`/console/deliveries?delivery=${delivery.id}`}>
            <UntrustedText text={delivery.event} clip />
          </a>
          <span class="soft latest-outcome">{outcomeLabel(delivery)}</span>
          <span class="soft latest-age">
            <Time at={delivery.createdAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}
