// "12 new ▲": what came while somebody was reading, and the way to it.
import type { JSX } from 'preact';
import { Button } from '../components/button.tsx';
import { count } from '../format.ts';
import type { Waiting } from './live-list.ts';

export function NewRows({
  waiting,
  onShow,
}: {
  readonly waiting: Waiting;
  readonly onShow: () => void;
}): JSX.Element {
  const words = wordsFor(waiting);
  return (
    <div role="status" class="new-rows">
      {words === undefined ? null : (
        <Button kind="primary" size="small" onClick={onShow}>
          {words}
          <span aria-hidden="true"> ▲</span>
        </Button>
      )}
    </div>
  );
}

function wordsFor({ fresh, isMore }: Waiting): string | undefined {
  if (fresh.size > 0) return `${count(fresh.size)}${isMore ? '+' : ''} new`;
  return isMore ? 'Show the newest' : undefined;
}
