// Holds back updates while the user interacts with a list: they are counted, and applied when the
// user stops or asks for them. An idle list is reloaded soon after a change.
import { useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals';
import { limits } from './limits.ts';
import { useThrottled } from './throttle.ts';

export type NewRows = {
  /** Number of new items that are not shown yet. */
  readonly count: number;
  /** There may be more than `count`. */
  readonly isMore?: boolean;
  readonly show: () => void;
};

export type ListUpdates = NewRows & {
  /** Reports a change with this many new items. */
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
  const showIfIdle = useThrottled(() => {
    if (isDue.peek() && !isInteracting.peek()) showNow();
  }, limits.refreshMs);
  // Apply updates as soon as the user stops interacting.
  useSignalEffect(() => {
    if (!isInteracting.value && isDue.value) showIfIdle();
  });
  return {
    count: count.value,
    note: (newCount) => {
      count.value += newCount;
      isDue.value = true;
      showIfIdle();
    },
    show: showNow,
  };
}
