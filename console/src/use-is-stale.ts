// Whether what a list shows was read for another choice than the one that is made now.
import { useRef } from 'preact/hooks';

export function useIsStale(key: string, { isLoading }: { readonly isLoading: boolean }): boolean {
  const shown = useRef(key);
  if (!isLoading) shown.current = key;
  return shown.current !== key;
}
