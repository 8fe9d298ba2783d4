// Limits how often a function runs: at most once per interval, and once more after the last call.
// The stream may deliver four frames a second.
import { useEffect, useRef } from 'preact/hooks';

export function useThrottled(act: () => void, everyMs: number): () => void {
  const newest = useRef(act);
  newest.current = act;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const lastMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => () => clearTimeout(timer.current), []);
  return () => {
    if (timer.current !== undefined) return;
    const waitMs = Math.max(0, lastMs.current + everyMs - performance.now());
    timer.current = setTimeout(() => {
      timer.current = undefined;
      lastMs.current = performance.now();
      newest.current();
    }, waitMs);
  };
}
