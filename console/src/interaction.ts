// Whether somebody is reading a part of the page right now: points at it, has the focus or a selection in
// it, or has scrolled into it. A list must not move under their eyes.
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The bar at the top covers so much of a page that is scrolled. */
const barPx = 56;

export function useIsInteracting(part: { current: HTMLElement | null }): ReadonlySignal<boolean> {
  const isPointedAt = useSignal(false);
  const hasFocus = useSignal(false);
  const hasSelection = useSignal(false);
  const isScrolled = useSignal(false);
  useEffect(() => {
    const element = part.current;
    if (element === null) return undefined;
    const until = new AbortController();
    const options = { signal: until.signal, passive: true };
    // A finger leaves no pointer behind: what was touched is not being pointed at.
    element.addEventListener(
      'pointerenter',
      ({ pointerType }) => (isPointedAt.value = pointerType === 'mouse'),
      options,
    );
    element.addEventListener('pointerleave', () => (isPointedAt.value = false), options);
    element.addEventListener('focusin', () => (hasFocus.value = true), options);
    element.addEventListener('focusout', () => (hasFocus.value = false), options);
    document.addEventListener(
      'selectionchange',
      () => (hasSelection.value = isSelectedIn(element)),
      options,
    );
    document.addEventListener(
      'scroll',
      () => (isScrolled.value = element.getBoundingClientRect().top < barPx),
      options,
    );
    return () => until.abort();
  }, []);
  return useComputed(
    () => isPointedAt.value || hasFocus.value || hasSelection.value || isScrolled.value,
  );
}

function isSelectedIn(element: Element): boolean {
  const selection = getSelection();
  return selection?.isCollapsed === false && element.contains(selection.anchorNode);
}
