// What came while somebody was reading a list: counted meanwhile, and shown when they are done or ask for
// it. A list that nobody is reading is read again soon after something changed.
import { useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { limits } from './limits.ts';
import { useThrottled } from './throttle.ts';

export type NewRows = {
  /** So many things are new and not shown yet. */
  readonly count: number;
  /** There may be more of them. */
  readonly isMore?: boolean;
  readonly show: () => void;
};

export type ListUpdates = NewRows & {
  /** Something may have changed, and so many things are new. */
  readonly note: (newCount: number) => void;
};

export function useListUpdates(
  isInteracting: ReadonlySignal<boolean>,
  show: () => void,
): ListUpdates {
  const count = useSignal(0);
  const isDue = useSignal(false);
  const showNow = (): void => {
    count.value = 0;
    isDue.value = false;
    show();
  };
  const showUnlessRead = useThrottled(() => {
    if (isDue.peek() && !isInteracting.peek()) showNow();
  }, limits.refreshMs);
  // Whoever stops reading gets the news at once.
  useSignalEffect(() => {
    if (!isInteracting.value && isDue.value) showUnlessRead();
  });
  return {
    count: count.value,
    note: (newCount) => {
      count.value += newCount;
      isDue.value = true;
      showUnlessRead();
    },
    show: showNow,
  };
}
