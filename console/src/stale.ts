// Whether what a list shows was read for another choice than the one that is made now.
import { useRef } from 'preact/hooks';

export function useIsStale(key: string, { isReading }: { readonly isReading: boolean }): boolean {
  const shown = useRef(key);
  if (!isReading) shown.current = key;
  return shown.current !== key;
}
