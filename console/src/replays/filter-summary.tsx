// The selection of a replay as text.
import type { JSX } from 'preact';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { Id, UntrustedText } from '../components/untrusted-text.tsx';
import { Time } from '../components/time.tsx';
import { outcomeLabel } from '../outcome-label.ts';
import { stateLabel } from './form-values.ts';

/** On one line: `Dead deliveries of order.* about job_17 to cus_1 · HTTP 5xx`. */
export function FilterSummary({ filter }: { filter: Replay['filter'] }): JSX.Element {
  const { event, subject, customer, subscriberId } = filter;
  const result = resultLabel(filter);
  return (
    <>
      {stateLabel(filter.state)}
      {event === undefined ? null : (
        <>
          {' of '}
          <UntrustedText text={event} mono />
        </>
      )}
      {subject === undefined ? null : (
        <>
          {' about '}
          <UntrustedText text={subject} mono />
        </>
      )}
      {customer === undefined ? null : (
        <>
          {' to '}
          <UntrustedText text={customer} mono />
        </>
      )}
      {subscriberId === undefined ? null : (
        <>
          {' to '}
          <Id id={subscriberId} />
        </>
      )}
      {result === undefined ? null : ` · ${result}`}
    </>
  );
}

export function resultLabel({
  status,
  error,
}: Pick<Replay['filter'], 'status' | 'error'>): string | undefined {
  const labels = [
    status === undefined ? undefined : `HTTP ${status}`,
    error === undefined ? undefined : outcomeLabel({ error }),
  ].filter((one) => one !== undefined);
  return labels.length === 0 ? undefined : labels.join(', ');
}

export function TimeRangeText({ filter }: { filter: Replay['filter'] }): JSX.Element {
  const { from, until } = filter;
  return (
    <>
      {from === undefined ? null : (
        <>
          from <Time at={from} as="exact" />{' '}
        </>
      )}
      before <Time at={until} as="exact" />
    </>
  );
}
