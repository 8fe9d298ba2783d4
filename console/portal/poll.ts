// Reloads what may change, while the page is visible.
import { useEffect, useRef } from 'preact/hooks';

export function usePolling(
  reload: () => void,
  { everyMs, isOn = true }: { everyMs: number; isOn?: boolean },
): void {
  const newest = useRef(reload);
  newest.current = reload;
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) newest.current();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, isOn]);
}
