// The progress of a replay: bar, counts and remaining time.
import type { JSX } from 'preact';
import { clock } from '../clock.ts';
import { Progress } from '../components/progress.tsx';
import { count, percent, plural } from '../format.ts';
import type { Replay } from '../../../src/client/contract/delivery.ts';
import { timeLeft } from './estimate.ts';

export function ReplayProgress({ replay }: { replay: Replay }): JSX.Element {
  const { state, progress, replayed, skipped } = replay;
  const left = state === 'running' ? timeLeft(replay, clock.value) : undefined;
  const counts = [
    `${count(replayed)} replayed`,
    ...(skipped === 0 ? [] : [`${count(skipped)} skipped`]),
    ...(left === undefined ? [] : [left]),
  ];
  return (
    <div class="replay-progress">
      <Progress
        value={progress}
        label={`Replay of ${plural(replay.matched, 'delivery', 'deliveries')} so far`}
        tone={state === 'cancelled' ? 'quiet' : 'accent'}
      />
      <span class="replay-percent">{percent(progress)}</span>
      <span class="soft replay-counts">{counts.join(' · ')}</span>
    </div>
  );
}
