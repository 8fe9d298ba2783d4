// Whether a list still shows the result of a previous filter.
import { useRef } from 'preact/hooks';

export function useIsStale(key: string, { isLoading }: { readonly isLoading: boolean }): boolean {
  const shown = useRef(key);
  if (!isLoading) shown.current = key;
  return shown.current !== key;
}
