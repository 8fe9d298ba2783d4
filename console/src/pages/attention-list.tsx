// Failing and disabled subscriptions, worst first, each with a sentence.
import type { JSX } from 'preact';
import { StateBadge, type StateName } from '../components/badge.tsx';
import { Empty, Skeleton } from '../components/list-states.tsx';
import { UntrustedText } from '../components/untrusted-text.tsx';
import { Section } from '../components/page.tsx';
import { Time } from '../components/time.tsx';
import { outcomeLabel } from '../outcome-label.ts';
import { plural } from '../format.ts';
import type { Load } from '../load.ts';
import type { Attention, GetStatsAnswer as Stats } from '../../../src/client/contract/service.ts';

const badges: Readonly<Record<Attention['kind'], StateName>> = {
  failing: 'failing',
  disabled: 'disabled',
};

export function AttentionList({ load }: { load: Load<Stats> }): JSX.Element | null {
  if (load.state.kind === 'failed') return null; // The statistics above show the error and the retry button.
  const items = load.value?.attention;
  return (
    <Section title="Needs attention" isFlush>
      {items === undefined ? <Skeleton rows={4} /> : null}
      {items?.length === 0 ? (
        <Empty icon="check" title="Nothing needs attention">
          <p>Failing and disabled subscriptions are listed here.</p>
        </Empty>
      ) : null}
      <ul class="rows attention">
        {items?.map((item) => (
          <li key={item.subscriberId + item.url}>
            <StateBadge state={badges[item.kind]} />
            <div>
              <a href={`/console/subscriptions?subscription=${item.subscriberId}`}>
                <UntrustedText text={item.url} clip mono />
              </a>
              <p class="soft">
                <Sentence item={item} />
              </p>
            </div>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Sentence({ item }: { item: Attention }): JSX.Element {
  const outcome = outcomeLabel(item);
  const last = outcome === undefined ? '' : `, last: ${outcome}`;
  const since = item.since === null ? null : <Time at={item.since} />;
  switch (item.kind) {
    case 'failing':
      return (
        <>
          {plural(item.failures, 'consecutive failure')}
          {last}.{since === null ? null : <> First failure {since}.</>}
        </>
      );
    case 'disabled':
      return (
        <>
          Disabled after {plural(item.failures, 'consecutive failure')}
          {last}.{since === null ? null : <> First failure {since}.</>} Its deliveries stay pending
          until it is resumed.
        </>
      );
  }
}
