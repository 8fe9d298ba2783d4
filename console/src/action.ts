// Doing something once: a second click while the first is under way does nothing.
import { useSignal } from '@preact/signals';
import { problemOf, type ApiProblem } from './api.ts';
import { toastError } from './toasts.ts';

export type Action = {
  readonly isBusy: boolean;
  /** Why the last try failed; gone when the next one starts. */
  readonly problem: ApiProblem | undefined;
  readonly run: () => void;
  /** What the last try said no longer fits what is written. */
  readonly forget: () => void;
};

/** Failures are kept for the place that asked (`quiet`), or else told in a toast. */
export function useAction(
  act: () => Promise<void>,
  { quiet = false }: { quiet?: boolean } = {},
): Action {
  const isBusy = useSignal(false);
  const problem = useSignal<ApiProblem | undefined>(undefined);
  const forget = (): void => {
    problem.value = undefined;
  };
  const run = async (): Promise<void> => {
    if (isBusy.value) return;
    isBusy.value = true;
    problem.value = undefined;
    try {
      await act();
    } catch (error) {
      problem.value = problemOf(error);
      if (!quiet) toastError(error);
    } finally {
      isBusy.value = false;
    }
  };
  return { isBusy: isBusy.value, problem: problem.value, run: () => void run(), forget };
}
