// The width of an element in pixels, for crisp drawings.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

export function useWidth(element: { current: Element | null }): number {
  const width = useSignal(0);
  useEffect(() => {
    if (element.current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      width.value = Math.round(entry?.contentRect.width ?? 0);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width.value;
}
