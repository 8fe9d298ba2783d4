// Reading one thing from the service for a component: loading, failed with a retry, or there.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isAborted, problemOf, type ApiProblem } from './api.ts';

export type Loaded<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem }
  | { readonly kind: 'ready'; readonly value: T };

export type Load<T> = {
  readonly state: Loaded<T>;
  /** The value, also an older one while a newer is read. */
  readonly value: T | undefined;
  readonly isLoading: boolean;
  /** Why what is shown could not be read again. It stays, and may be old. */
  readonly staleProblem: ApiProblem | undefined;
  /** Reads again; what is shown stays until the answer is there. */
  readonly reload: () => void;
  /** Changes what is shown, for news that came another way. */
  readonly change: (next: (value: T) => T) => void;
};

/** Reads at first and whenever the key changes. A reading that is overtaken is given up. */
export function useLoad<T>(key: string, read: (signal: AbortSignal) => Promise<T>): Load<T> {
  const state = useSignal<Loaded<T>>({ kind: 'loading' });
  const isLoading = useSignal(true);
  const staleProblem = useSignal<ApiProblem | undefined>(undefined);
  const shownKey = useRef<string | undefined>(undefined);
  const wanted = useRef({ key, read });
  wanted.current = { key, read };
  const abort = useRef<AbortController | undefined>(undefined);

  const start = useRef(async (): Promise<void> => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    isLoading.value = true;
    const { key: asked, read: readIt } = wanted.current;
    try {
      const value = await readIt(mine.signal);
      if (mine.signal.aborted) return;
      state.value = { kind: 'ready', value };
      shownKey.current = asked;
      staleProblem.value = undefined;
    } catch (error) {
      if (mine.signal.aborted || isAborted(error)) return;
      const problem = problemOf(error);
      if (shownKey.current === asked) staleProblem.value = problem;
      else state.value = { kind: 'failed', problem };
    }
    if (abort.current === mine) isLoading.value = false;
  }).current;

  useEffect(() => {
    void start();
    return () => abort.current?.abort();
  }, [key]);

  const now = state.value;
  return {
    state: now,
    value: now.kind === 'ready' ? now.value : undefined,
    isLoading: isLoading.value,
    staleProblem: staleProblem.value,
    reload: () => void start(),
    change: (next) => {
      const { value } = state;
      if (value.kind === 'ready') state.value = { kind: 'ready', value: next(value.value) };
    },
  };
}
