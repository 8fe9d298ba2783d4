// Whether the user is interacting with a part of the page: hovering, focused, selecting text in it,
// or scrolled into it. A list must not move meanwhile.
import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** Height of the sticky top bar, which covers scrolled content. */
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
    // Touch has no hover: a touched element is not being pointed at.
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
