// Runs an action once: a second click while the first call is in flight does nothing.
import { useSignal } from '@preact/signals';
import { problemOf, type ApiProblem } from './api.ts';
import { toastError } from './toasts.ts';

export type Action = {
  readonly isBusy: boolean;
  /** Why the last call failed. Cleared when the next call starts. */
  readonly problem: ApiProblem | undefined;
  readonly run: () => void;
  /** Clears the problem, for example when the user edits the form. */
  readonly forget: () => void;
};

/** Failures are shown in a toast, or with `quiet` only kept for the component that asked. */
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
