// What a replay sends again, in words.
import type { JSX } from 'preact';
import { Id, Outside } from '../components/outside.tsx';
import { Time } from '../components/time.tsx';
import { outcomeWords } from '../failure-words.ts';
import type { ReplayFilter } from '../shapes.ts';
import { stateSentence } from './wish.ts';

/** On one line: `Dead deliveries of order.* · HTTP 5xx`. */
export function FilterWords({ filter }: { filter: ReplayFilter }): JSX.Element {
  const { event, subscriberId } = filter;
  const result = resultWords(filter);
  return (
    <>
      {stateSentence(filter.state)}
      {event === undefined ? null : (
        <>
          {' of '}
          <Outside text={event} mono />
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

export function resultWords({ status, error }: ReplayFilter): string | undefined {
  const words = [
    status === undefined ? undefined : `HTTP ${status}`,
    error === undefined ? undefined : outcomeWords({ error }),
  ].filter((one) => one !== undefined);
  return words.length === 0 ? undefined : words.join(', ');
}

export function RangeWords({ filter }: { filter: ReplayFilter }): JSX.Element {
  const { from, until } = filter;
  return (
    <>
      {from === undefined ? null : (
        <>
          from <Time at={from} as="exact" />{' '}
        </>
      )}
      {until === undefined ? null : (
        <>
          before <Time at={until} as="exact" />
        </>
      )}
    </>
  );
}
