// Loads one resource for a component: loading, failed with a retry, or ready.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isAborted, problemOf, type ApiProblem } from './api.ts';

export type Loaded<T> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly problem: ApiProblem }
  | { readonly kind: 'ready'; readonly value: T };

export type Load<T> = {
  readonly state: Loaded<T>;
  /** The value; an older one while a reload is in flight. */
  readonly value: T | undefined;
  readonly isLoading: boolean;
  /** Why the last reload failed. The old value stays on screen and may be outdated. */
  readonly staleProblem: ApiProblem | undefined;
  /** Loads again. The current value stays until the response arrives. */
  readonly reload: () => void;
  /** Changes the value locally, for updates from the stream. */
  readonly change: (next: (value: T) => T) => void;
};

/** Loads initially and whenever the key changes. A superseded request is aborted. */
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
