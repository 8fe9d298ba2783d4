// One replay: progress, filter, and cancellation.
import type { JSX } from 'preact';
import { get, withQuery } from '../api.ts';
import { clock } from '../clock.ts';
import { StateBadge } from '../components/badge.tsx';
import { LinkButton } from '../components/button.tsx';
import { Drawer } from '../components/dialog.tsx';
import { IdFact } from '../components/id-fact.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { Fact, Facts, DrawerSection } from '../components/drawer-section.tsx';
import { NamedFacts } from '../components/subject-customer.tsx';
import { Progress } from '../components/progress.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { Time } from '../components/time.tsx';
import { count, duration, percent } from '../format.ts';
import { useLoad } from '../load.ts';
import { can } from '../session.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { useFrames, usePolling } from '../stream.ts';
import { CancelButton } from './cancel-button.tsx';
import { TimeRangeText, resultLabel } from './filter-summary.tsx';
import { newer } from './live-replays.ts';
import { timeLeft, ratePerSecond, rateText } from './estimate.ts';
import { stateLabel, paramsFor } from './form-values.ts';

export function ReplayDrawer({
  id,
  onChange,
  onClose,
}: {
  readonly id: string;
  readonly onChange: (changed: Replay) => void;
  readonly onClose: () => void;
}): JSX.Element {
  const load = useLoad(id, (signal) =>
    get<Replay>(`/replays/${encodeURIComponent(id)}`, { signal }),
  );
  useFrames(({ replays, isReset }) => {
    if (isReset) return load.reload();
    load.change((shown) =>
      newer(
        shown,
        replays.find((one) => one.id === id),
      ),
    );
  });
  usePolling(load.reload);
  const change = (changed: Replay): void => {
    load.change(() => changed);
    onChange(changed);
  };
  return (
    <Drawer title="Replay" onClose={onClose}>
      <Loaded load={load}>{(replay) => <Shown replay={replay} onChange={change} />}</Loaded>
    </Drawer>
  );
}

function Shown({
  replay,
  onChange,
}: {
  replay: Replay;
  onChange: (changed: Replay) => void;
}): JSX.Element {
  const { id, state, createdAt, endedAt, filter } = replay;
  return (
    <>
      <Facts>
        <Fact name="State">
          <span role="status">
            <StateBadge state={state} />
          </span>
        </Fact>
        <IdFact id={id} />
        <Fact name="Started">
          <Time at={createdAt} />
        </Fact>
        {endedAt === undefined ? null : (
          <Fact name={state === 'cancelled' ? 'Cancelled' : 'Done'}>
            <Time at={endedAt} />, after{' '}
            {duration(Math.max(Date.parse(endedAt) - Date.parse(createdAt), 0))}
          </Fact>
        )}
      </Facts>
      <ProgressSection replay={replay} />
      {can('retry') ? (
        <div class="cluster">
          {state === 'running' ? (
            <CancelButton replay={replay} onChange={onChange} />
          ) : (
            <LinkButton
              icon="replay"
              href={withQuery('/console/replays', paramsFor(filter, replay.ratePerSecond))}
            >
              New replay like this
            </LinkButton>
          )}
        </div>
      ) : null}
      <FilterSection replay={replay} />
    </>
  );
}

function ProgressSection({ replay }: { replay: Replay }): JSX.Element {
  const { state, progress, matched, replayed, skipped } = replay;
  const rate = ratePerSecond(replay, clock.value);
  const left = timeLeft(replay, clock.value);
  const pace = [rate === undefined ? undefined : rateText(rate), left];
  return (
    <DrawerSection title="Progress">
      <Progress value={progress} label="Replay" tone={state === 'cancelled' ? 'quiet' : 'accent'} />
      <p class="replay-line">
        <span>{percent(progress)} of the time range</span>
        <span class="soft">{pace.filter((one) => one !== undefined).join(', ')}</span>
      </p>
      <Stats>
        <Stat name="Matched" value={count(matched)} />
        <Stat name="Replayed" value={count(replayed)} />
        <Stat
          name="Skipped"
          value={count(skipped)}
          note={skipped === 0 ? undefined : 'already pending, or the subscription ended'}
        />
      </Stats>
    </DrawerSection>
  );
}

function FilterSection({ replay }: { replay: Replay }): JSX.Element {
  const { filter, ratePerSecond: limit } = replay;
  const { event, subject, customer, subscriberId, from, until } = filter;
  const result = resultLabel(filter);
  const seen = { event, subject, customer, subscriberId, from, until };
  return (
    <DrawerSection
      title="Selection"
      actions={
        <LinkButton size="small" href={withQuery('/console/deliveries', seen)}>
          View deliveries
        </LinkButton>
      }
    >
      <Facts>
        <Fact name="Deliveries">{stateLabel(filter.state)}</Fact>
        <Fact name="Events">
          {event === undefined ? 'All' : <UntrustedText text={event} mono />}, published{' '}
          <TimeRangeText filter={filter} />
        </Fact>
        <NamedFacts subject={subject} customer={customer} />
        <Fact name="Subscription">
          {subscriberId === undefined ? (
            'All'
          ) : (
            <a href={withQuery('/console/subscriptions', { subscription: subscriberId })}>
              <Id id={subscriberId} />
            </a>
          )}
        </Fact>
        {result === undefined ? null : <Fact name="Result">{result}</Fact>}
        <Fact name="Rate limit">{limit} per second</Fact>
      </Facts>
    </DrawerSection>
  );
}
